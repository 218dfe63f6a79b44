"""Engines and servers of public bug reports, byte by byte (numbers as in scenarios.toml)."""

import asyncio
import contextlib
import json
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.engines.answer import engine_board
from bridge.engines.process import ProcessEngine
from bridge.errors import RecordError
from bridge.interfaces import GameOpened, GameState, Limit
from bridge.platforms.lichess.platform import Lichess
from bridge.platforms.lichess.timings import Timings
from bridge.rules.events import Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup

LIMIT = Limit(5_000, 5_000, 0, 0, 5_000)


def game(*moves: str, fen: str | None = None, chess960: bool = False) -> Ledger:
    ledger = Ledger(Setup("g", named("anchor"), "think", 0, start_fen=fen, chess960=chess960))
    for uci in moves:
        ledger.apply(Moved(uci, 0))
    return ledger


async def answer(folder: Path, program: str, *ledgers: Ledger) -> list[str]:
    """What a program plays in one position after the other; it is started once."""
    file = folder / "engine"
    file.write_text(f"#!{sys.executable} -S\n{textwrap.dedent(program)}")
    file.chmod(0o755)
    engine = ProcessEngine(str(file))
    await engine.start()
    try:
        return [(await engine.think(ledger, LIMIT)).uci for ledger in ledgers]
    finally:
        await engine.close()


async def test_blanks_where_none_belong(tmp_path: Path) -> None:
    """100"""
    program = r"""
        import sys
        def say(text): sys.stdout.write(text); sys.stdout.flush()
        for line in sys.stdin:
            word = line.split()[0]
            if word == "uci": say("\tid   name  X\r\n uciok \r\n")
            elif word == "isready": say("readyok  \n")
            elif word == "go": say("info   depth 3   pv   e2e4\nbestmove   e2e4   \n\n")
            elif word == "quit": break
    """
    assert await answer(tmp_path, program, game(), game()) == ["e2e4", "e2e4"]


async def test_a_new_game_is_announced_between_two_questions_whether_it_is_ready(tmp_path: Path) -> None:
    """102: one exits when the game comes before the first question, and hears nothing for a while after it."""
    program = """
        import os, sys, time
        ready, heard = False, []
        def say(text): print(text, flush=True)
        while True:
            line = sys.stdin.readline()
            word = line.split()[0]
            heard.append(word)
            if word == "uci": say("uciok")
            elif word == "isready":
                ready = True
                say("readyok")
            elif word == "ucinewgame":
                if not ready: sys.exit(3)
                time.sleep(0.5)
                heard.append(sys.stdin.readline().split()[0])
                if heard[-1] != "isready": sys.exit(4)
                say("readyok")
            elif word == "go": say("bestmove e2e4")
            elif word == "quit": break
    """
    assert await answer(tmp_path, program, game()) == ["e2e4"]


async def test_a_promotion_in_capitals_with_an_odd_move_to_ponder(tmp_path: Path) -> None:
    """56"""
    program = """
        import sys
        def say(text): print(text, flush=True)
        for line in sys.stdin:
            word = line.split()[0]
            if word == "uci": say("uciok")
            elif word == "isready": say("readyok")
            elif word == "go": say("bestmove e7e8Q ponder G7F7")
            elif word == "quit": break
    """
    assert await answer(tmp_path, program, game(fen="8/4P1k1/8/8/8/8/6K1/8 w - - 0 1")) == ["e7e8q"]


async def test_what_was_thought_ahead_is_used_after_a_hit_and_thrown_away_otherwise(tmp_path: Path) -> None:
    """106: the opponent plays the move that was foreseen, then another one, then takes one back."""
    log = tmp_path / "log"
    program = f"""
        import sys
        def say(text): print(text, flush=True)
        for line in sys.stdin:
            with open({str(log)!r}, "a") as log: log.write(line)
            word, moves = line.split()[0], line.split()[3:] if line.startswith("position") else []
            if word == "uci":
                say("option name Ponder type check default false")
                say("uciok")
            elif word == "isready": say("readyok")
            elif word == "position": at = len(moves)
            elif word == "go" and "ponder" not in line:
                say({{0: "bestmove e2e4 ponder e7e5", 4: "bestmove f1c4 ponder g8f6"}}.get(at, "bestmove b1c3"))
            elif word == "ponderhit": say("bestmove g1f3 ponder b8c6")
            elif word == "stop": say("bestmove h2h4 ponder h7h5")
            elif word == "quit": break
    """
    file = tmp_path / "engine"
    file.write_text(f"#!{sys.executable} -S\n{textwrap.dedent(program)}")
    file.chmod(0o755)
    engine = ProcessEngine(str(file), ponder=True)
    plain = replace(LIMIT, plain=True)
    await engine.start()
    try:
        start = await engine.think(game(), plain)
        hit = await engine.think(game("e2e4", "e7e5"), plain)
        miss = await engine.think(game("e2e4", "e7e5", "g1f3", "d7d6"), plain)
        # Our f1c4 and their d7d6 are taken back while the answer to g8f6 is searched; another move is played.
        taken_back = await engine.think(game("e2e4", "e7e5", "g1f3", "g8f6"), plain)
    finally:
        await engine.close()
    assert [choice.uci for choice in (start, hit, miss, taken_back)] == ["e2e4", "g1f3", "f1c4", "f1c4"]
    said = [line for line in log.read_text().splitlines() if line.split()[0] in ("position", "go", "ponderhit", "stop")]
    heard = [" ".join(line.split()[:2]) if line.startswith("go ponder") else line.split()[0] for line in said]
    search, ahead = ["position", "go"], ["position", "go ponder"]
    assert heard[:13] == [*search, *ahead, "ponderhit", *ahead, "stop", *search, *ahead, "stop"]
    positions = [line.removeprefix("position startpos moves ") for line in said if line.startswith("position")]
    assert positions[1:6] == [
        "e2e4 e7e5",
        "e2e4 e7e5 g1f3 b8c6",
        "e2e4 e7e5 g1f3 d7d6",
        "e2e4 e7e5 g1f3 d7d6 f1c4 g8f6",
        "e2e4 e7e5 g1f3 g8f6",
    ]


async def test_a_reader_is_not_lost_on_very_long_lines(tmp_path: Path) -> None:
    """108"""
    program = """
        import sys
        def say(text): print(text, flush=True)
        for line in sys.stdin:
            word = line.split()[0]
            if word == "uci": say("uciok")
            elif word == "isready": say("readyok")
            elif word == "go":
                for _ in range(50): sys.stderr.write("x" * 1_000_000)
                say("info string " + "x" * 300_000)
                say("info depth 30 pv" + " g1f3 g8f6 f3g1 f6g8" * 5_000)
                say("bestmove e2e4")
            elif word == "quit": break
    """
    assert await answer(tmp_path, program, game(), game()) == ["e2e4", "e2e4"]


def test_castling_from_a_set_position_reaches_an_engine_as_it_knows_it() -> None:
    """50"""
    ledger = game("e1h1", "e8a8", fen="r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert [move.uci() for move in engine_board(ledger).move_stack] == ["e1g1", "e8c8"]
    assert ledger.board.fen() == "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2"


def test_with_two_rooks_on_a_side_only_the_one_with_the_right_castles() -> None:
    """54"""
    fen = "4k3/8/8/8/8/8/8/2K3RR w G - 0 1"
    assert game("c1g1", fen=fen, chess960=True).board.board_fen() == "4k3/8/8/8/8/8/8/5RKR"
    with pytest.raises(RecordError):
        game("c1h1", fen=fen, chess960=True)


FULL = {"type": "gameFull", "id": "g1", "white": {"id": "kiri"}, "black": {"id": "quill"}}


def state(moves: str, **more: object) -> dict[str, object]:
    return {"type": "gameState", "moves": moves, "wtime": 60_000, "btime": 60_000, "status": "started", **more}


async def test_an_answer_in_the_middle_of_a_chunked_stream() -> None:
    """45: a proxy writes its own 502 where a chunk is due."""
    asked = 0
    served: asyncio.Queue[None] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        await reader.readuntil(b"\r\n\r\n")
        asked += 1
        lines: list[dict[str, Any]] = [{**FULL, "state": state("e2e4")}, state("e2e4 e7e5")]
        if asked > 1:
            lines = [{**FULL, "state": state("e2e4 e7e5")}, state("e2e4 e7e5 g1f3", status="resign")]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
        for line in lines:
            data = json.dumps(line).encode() + b"\n"
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        if asked == 1:
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>")
        await reader.read()  # until the other side has gone
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        await served.put(None)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    platform = Lichess(f"http://127.0.0.1:{port}", "tokenKiri", timings=Timings(reopen_s=0.02))
    try:
        async with asyncio.timeout(5):
            messages = [message async for message in platform.game("g1")]
            await platform.close()
            for _ in range(asked):
                await served.get()
    finally:
        await platform.close()
        server.close()
    told = [len(message.snapshot.moves) for message in messages if isinstance(message, GameOpened | GameState)]
    assert told == [1, 2, 2, 3]
    assert asked == 2
