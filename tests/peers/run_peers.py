"""Real bots, unmodified, on the arena: `python -m tests.peers.run_peers CHECKOUT [--games N] [--python PATH]`.

CHECKOUT is a git checkout of lichess-bot or BotLi; it is copied, given a configuration that points at the arena, and
run with Stockfish against the rival. Whatever it tries to reach beyond loopback is refused and counted. The outcome
replaces that bot's part of RESULTS.md beside this file.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

import yaml

from bridge.arena import Account, Arena, RequestLine
from tests.peers.launch import commit_of, install, refused, start, stop
from tests.peers.peers import TOKEN, peer_of
from tests.peers.results import Run, write_results
from tests.peers.rival import PLANS, Rival, until_online

HERE = Path(__file__).parent


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
            process = await start(interpreter, peer.command, copy, work)
            try:
                ids = await _play(arena, games)
            except Exception:
                sys.stderr.write((work / "output").read_text(errors="replace")[-4000:])
                raise
            finally:
                await stop(process)
            commit = await asyncio.to_thread(commit_of, checkout)
            return Run(peer.name, commit, [arena.games[game_id] for game_id in ids], log, refused(work))


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
