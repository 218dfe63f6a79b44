"""Real bots, unmodified, on the arena: `python -m tests.peers.run_peers CHECKOUT [--games N] [--python PATH]`.

CHECKOUT is a git checkout of lichess-bot or BotLi; it is copied, given a configuration that points at the arena, and
run with Stockfish against the rival. Whatever it tries to reach beyond loopback is refused and counted. The outcome
replaces that bot's part of RESULTS.md beside this file.
"""

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import yaml

from bridge.arena import Account, Arena, RequestLine
from tests.peers.peers import TOKEN, Peer, peer_of
from tests.peers.results import Run, write_results
from tests.peers.rival import PLANS, Rival, until_online

HERE = Path(__file__).parent


def install(peer: Peer, python: str | None, work: Path) -> str:
    """The interpreter to run the peer with: the given one, or that of a new environment."""
    if python is not None:
        return python
    subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    subprocess.run([work / "venv/bin/python", "-m", "pip", "install", "--quiet", *peer.requirements], check=True)
    return str(work / "venv/bin/python")


async def run(checkout: Path, games: int, python: str | None) -> Run:
    """Play `games` games to their ends; the peer is ended afterwards, whatever happened."""
    log: list[RequestLine] = []
    accounts = [Account("Peer", TOKEN, title="BOT"), Account("Rival", "lip_Rival", title="BOT")]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        async with Arena(accounts, request_log=log) as arena:
            peer = peer_of(checkout, arena.url)
            copy = Path(shutil.copytree(checkout, work / "peer"))
            (copy / "config.yml").write_text(yaml.safe_dump(peer.config))
            interpreter = await asyncio.to_thread(install, peer, python, work)
            process = await _start(interpreter, peer, copy, work)
            try:
                ids = await _play(arena, games)
            except Exception:
                sys.stderr.write((work / "output").read_text(errors="replace")[-4000:])
                raise
            finally:
                await _stop(process)
            refusals = work / "refusals"
            refused = Counter(refusals.read_text().splitlines()) if refusals.exists() else Counter()
            commit = await asyncio.to_thread(_commit, checkout)
            return Run(peer.name, commit, [arena.games[game_id] for game_id in ids], log, refused)


def _commit(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%H %cs"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


async def _start(interpreter: str, peer: Peer, copy: Path, work: Path) -> asyncio.subprocess.Process:
    """In a process group of its own, with nothing but loopback to connect to."""
    environment = {"PYTHONPATH": str(HERE / "loopback_only"), "PEER_REFUSALS": str(work / "refusals")}
    with (work / "output").open("wb") as output:
        return await asyncio.create_subprocess_exec(
            interpreter,
            *peer.command,
            cwd=copy,
            env={**os.environ, **environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


async def _play(arena: Arena, games: int) -> list[str]:
    await until_online(arena, "peer", 60)
    rival = Rival(arena, "lip_Rival", "Peer")
    ids: list[str] = []
    try:
        for number in range(games):
            async with asyncio.timeout(600):
                ids.append(await rival.play(PLANS[number % len(PLANS)]))
            game = arena.games[ids[-1]]
            sys.stderr.write(f"game {number + 1}: {game.id} {game.status.key} after {game.plies} plies\n")
            await asyncio.sleep(2)
    finally:
        await rival.close()
    return ids


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Its whole process group, which this script has made: first asked, then killed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):  # the next signal is stronger
            await asyncio.wait_for(process.wait(), 5)
    await process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--games", type=int, default=len(PLANS))
    parser.add_argument("--python", help="an interpreter that has the bot's requirements; else one is made")
    arguments = parser.parse_args()
    outcome = asyncio.run(run(arguments.checkout.resolve(), arguments.games, arguments.python))
    write_results(HERE / "RESULTS.md", outcome)
    sys.stderr.write(f"{outcome.peer}: {len(outcome.games)} games, see RESULTS.md\n")


if __name__ == "__main__":
    main()
