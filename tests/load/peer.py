"""lichess-bot, counted as our daemon is: `python -m tests.load.peer CHECKOUT[=PYTHON] [--games 8] [--minutes 2]`.

The same opponents on the same arena, as many games as it plays at once by its own choice of processes; its engine
answers at once and is left out. The figure to compare is `played`'s on the same machine, quiet, at the same pace.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.load.arena_process import ArenaProcess
from tests.load.measured import machine
from tests.load.rivals import BRIDGE, TOKENS, Pace, Report, run_arena
from tests.peers.contenders import ENGINE, Contender, make_engine, their_bot
from tests.peers.launch import start, stop
from tests.peers.process_tree import ProcessTree

_READY_S, _WARM_S = 15, 20


async def run(peer: Contender, folder: Path, *, games: int, seconds: float, every_s: float) -> str:
    """Play; what a ply of either side took."""
    arena = ArenaProcess(run_arena, Pace({BRIDGE: games}, every_s))
    url = await arena.ask("address", str)
    engine = make_engine(folder / "engine", (), {})

    def adapt(config: dict[str, Any]) -> dict[str, Any]:
        challenge = {**config["challenge"], "concurrency": games}
        return {**config, "token": TOKENS[BRIDGE], "challenge": challenge}

    copy = peer.settle_in(folder / "copy", url, engine, adapt)
    process = await start(peer.interpreter, peer.command(), copy, folder)
    tree = ProcessTree(process.pid, ENGINE)
    watching = asyncio.create_task(tree.watch())
    try:
        await asyncio.sleep(_READY_S)
        await arena.ask("open", type(None))
        await asyncio.sleep(_WARM_S)
        plies, used_ms = (await arena.ask("counts", dict))[BRIDGE].plies, tree.used_ms
        await asyncio.sleep(seconds)
        plies, used_ms = (await arena.ask("counts", dict))[BRIDGE].plies - plies, tree.used_ms - used_ms
        report = await arena.ask("end", Report)
    finally:
        watching.cancel()
        await stop(process)
        arena.close()
    late = report.counts[BRIDGE].late
    return f"{peer.name}: {games} games at once, {plies} plies, {late} late, {used_ms / max(1, plies):.2f} ms a ply"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", metavar="CHECKOUT[=PYTHON]")
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between an opponent's moves")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        peer = their_bot(given.peer, folder)
        print(asyncio.run(run(peer, folder, games=given.games, seconds=60 * given.minutes, every_s=given.every)))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
