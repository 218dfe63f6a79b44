"""Other bots' files: imported, examined, and played with through a whole game."""

import asyncio
import json
import os
import random
import re
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import chess
import pytest

from bridge.arena import Arena

Command = Callable[..., Awaitable[tuple[int, str, str]]]

ENGINE = """#!{python}
import chess

board = chess.Board()
while words := input().split():
    if words[0] == "position":
        board = chess.Board()
        for uci in words[words.index("moves") + 1 :] if "moves" in words else ():
            board.push_uci(uci)
    elif words[0] == "go":
        moves = [move.uci() for move in board.legal_moves]
        mates = [uci for uci in moves if chess.Board(board.fen()).san(chess.Move.from_uci(uci)).endswith("#")]
        print("bestmove", next(iter(mates), "e7e5" if "e7e5" in moves else moves[0]), flush=True)
    elif words[0] == "quit":
        break
    elif words[0] == "uci":
        for name in ("Threads", "Move Overhead"):
            print(f"option name {{name}} type spin default 1 min 0 max 9999")
        print("uciok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
"""
"""Mates where it can."""

IMITATIONS = {
    "lichess-bot": """
token: "xxxxxxxx"                # the account's
url: "https://lichess.org/"
engine:
  dir: "./engines/"              # where the program lies
  name: "engine_name"
  protocol: "uci"
  ponder: true
  polyglot:
    enabled: false
    book:
      standard:
        - engines/openings.bin
    normalization: "none"
  uci_options:
    Move Overhead: 100
    Threads: 2
  silence_stderr: false
move_overhead: 1500
challenge:
  concurrency: 2
  accept_bot: true
  max_base: 1800
  variants: [standard, atomic]
  time_controls: [bullet, blitz, rapid]
  modes: [casual, rated]
greeting:
  hello: "Hello {opponent}"
matchmaking:
  allow_matchmaking: false
  challenge_variant: "random"
""",
    "BotLi": """
token: "XXXXXXXX"                # the account's
engines:
  standard:
    dir: "./engines"
    name: "engine_executable"
    ponder: true
    uci_options:
      Threads: 2
    limits:
syzygy:
  standard:
    enabled: false
    paths: ["/path/to/tables"]
    instant_play: true
challenge:
  concurrency: 1
  human: {variants: [standard], time_controls: [bullet, blitz], modes: [casual, rated]}
  bot: {variants: [standard], time_controls: [bullet, blitz], modes: [casual, rated]}
matchmaking:
  delay: 480
  types:
    blitz: {tc: 3+1}
messages:
  greeting: "Hello {opponent}, this is {engine}"
books:
  DefaultBook: "/path/to/DefaultBook.bin"
""",
}


def filled_in(text: str, url: str, engine: Path) -> str:
    """What a user has to write into the file that the other bot is shipped with."""
    if 'https://lichess.org/"' in text:
        text = text.replace('https://lichess.org/"', f'{url}"', 1)
    else:
        text = f'url: "{url}"\n{text}'
    for name in ("engine_name", "engine_executable"):
        text = text.replace(f'"{name}"', f'"{engine.name}"', 1)
    for folder in ("./engines/", "./engines"):
        text = text.replace(f'dir: "{folder}"', f'dir: "{engine.parent}"', 1)
    return text


@pytest.mark.parametrize("peer", IMITATIONS)
async def test_a_file_like_theirs_plays(
    arena: Arena, run_command: Command, tmp_path: Path, peer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "bot" / "engines" / "fish"
    engine.parent.mkdir(parents=True)
    engine.write_text(ENGINE.format(python=sys.executable))
    engine.chmod(0o755)
    theirs = tmp_path / "bot" / "config.yml"
    theirs.write_text(filled_in(IMITATIONS[peer], arena.url, Path("engines/fish")))
    monkeypatch.setenv("LICHESS_TOKEN", "tokenKiri")
    said = await imported_and_played(arena, run_command, theirs, tmp_path / "ours.yml", rated=False)
    assert "Hello Fish" in said["chat"]
    assert "# the account's" in (tmp_path / "ours.yml").read_text()
    assert "final verdict: 0-1 · checkmate" in said["output"]


@pytest.mark.parametrize("peer", ["lichess-bot", "BotLi"])
async def test_the_file_that_they_are_shipped_with_plays(
    arena: Arena, run_command: Command, tmp_path: Path, peer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    peers, engine = os.environ.get("KIRICHESS_PEERS"), shutil.which("stockfish", path="/usr/games:/usr/bin")
    if not peers or engine is None:
        pytest.skip("KIRICHESS_PEERS names no folder with lichess-bot and BotLi, or there is no stockfish")
    theirs = tmp_path / "bot.yml"
    shipped = (Path(peers) / peer / "config.yml.default").read_text("utf-8")
    theirs.write_text(filled_in(shipped, arena.url, Path(engine)))
    monkeypatch.setenv("LICHESS_TOKEN", "tokenKiri")
    said = await imported_and_played(arena, run_command, theirs, tmp_path / "ours.yml", rated=peer == "BotLi")
    assert ("add casual" in said["notes"]) == (peer == "BotLi"), "as shipped it takes no game that would be KiriChess"
    assert re.search(r"final verdict: (1-0|0-1|1/2-1/2) ", said["output"]), "by mate, or by a flag on a busy machine"


async def imported_and_played(
    arena: Arena, run_command: Command, theirs: Path, ours: Path, *, rated: bool
) -> dict[str, str]:
    status, _, notes = await run_command("config", "import", str(theirs), "-o", str(ours))
    assert status == 0, notes
    assert "this engine is not there" not in notes
    status, found, _ = await run_command("doctor", "-c", str(ours))
    assert status == 0, found
    async with running(ours) as process:
        async with asyncio.timeout(60):
            while "kiri" not in arena.hall.audience.events:
                await asyncio.sleep(0.1)
        chat = await play(arena.url, "tokenFish", "Kiri", rated=rated)
        output = await until(process, "final verdict")
    return {"notes": notes, "chat": chat, "output": output}


@asynccontextmanager
async def running(config: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    arguments = ("-m", "bridge.cli.main", "run", "-c", str(config))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        await process.communicate()


async def until(process: asyncio.subprocess.Process, words: str) -> str:
    assert process.stdout is not None
    seen = ""
    async with asyncio.timeout(60):
        while words not in seen:
            line = await process.stdout.readline()
            assert line, f"it ended without {words!r}: {seen}"
            seen += line.decode()
    return seen


async def play(url: str, token: str, peer: str, *, rated: bool) -> str:
    """Challenge, blunder into a mate as soon as may be; gives what was said in chat."""
    lot, said = random.Random(1), ""
    headers, patience = {"Authorization": f"Bearer {token}"}, aiohttp.ClientTimeout(total=600)
    form = {"clock.limit": "240", "clock.increment": "0", "color": "white", "rated": str(rated).lower()}
    async with aiohttp.ClientSession(url, headers=headers, timeout=patience) as session:
        async with session.post(f"/api/challenge/{peer}", data={**form, "keepAliveStream": "true"}) as response:
            lines = [json.loads(line) async for line in response.content if line.strip()]
        assert lines[-1].get("done") == "accepted", lines
        game = lines[0]["id"]
        async with session.get(f"/api/bot/game/stream/{game}") as response:
            async for raw in response.content:
                line = json.loads(raw) if raw.strip() else {}
                said += f"{line.get('text', '')}\n"
                state = line.get("state", line)
                if state.get("type") != "gameState":
                    continue
                if state["status"] != "started":
                    break
                await answer(session, game, state["moves"].split(), lot)
    return said


async def answer(session: aiohttp.ClientSession, game: str, moves: list[str], lot: random.Random) -> None:
    board = chess.Board()
    for uci in moves:
        board.push_uci(uci)
    if board.turn == chess.BLACK:
        return
    legal = [move.uci() for move in board.legal_moves]
    planned = [uci for uci in ("f2f3", "g2g4") if uci in legal]
    async with session.post(f"/api/bot/game/{game}/move/{next(iter(planned), lot.choice(legal))}") as response:
        response.raise_for_status()
