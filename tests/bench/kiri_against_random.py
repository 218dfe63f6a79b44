"""How surely the built-in engine beats moves by lot, over the board and with the clocks.

    python tests/bench/kiri_against_random.py [GAMES] [POOL]

`board` plays under clocks so long that only mate wins; a pool's name plays that pool. No test runs it: a minute or two.
"""

import asyncio
import sys
import time
from collections import Counter

import chess

from bridge.engines.builtin import BuiltinEngine
from bridge.engines.random_engine import RandomEngine
from bridge.interfaces import Engine, Limit
from bridge.rules.events import Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named, parse_dials
from bridge.rules.snapshot import Setup


async def play(white: Engine, black: Engine, pool: str) -> Ledger:
    """One game to its KiriChess end; thinking is charged as it was spent."""
    rules = parse_dials({"pool": "anchor", "base_s": 10**6}) if pool == "board" else named(pool)
    ledger = Ledger(Setup("bench", rules, "think", 0))
    while ledger.outcome is None:
        engine = white if ledger.turn else black
        began = time.monotonic_ns()
        choice = await engine.think(ledger, Limit(max(1, ledger.white_ms), max(1, ledger.black_ms), 0, 0, 5_000))
        ledger.apply(Moved(choice.uci, (time.monotonic_ns() - began) // 1_000_000))
    return ledger


async def main(games: int, pool: str) -> None:
    ends: Counter[str] = Counter()
    wins, spent, moves = 0, 0, 0
    for number in range(games):
        kiri, lot = BuiltinEngine(number), RandomEngine(number)
        await kiri.start()
        side = chess.COLORS[number % 2]
        ledger = await play(kiri if side else lot, lot if side else kiri, pool)
        await kiri.close()
        assert ledger.outcome is not None
        wins += ledger.outcome.winner == side
        ends[f"{ledger.outcome.reason} {'won' if ledger.outcome.winner == side else 'not won'}"] += 1
        spent += sum(row.think_ms or 0 for row in ledger.rows if row.side == side)
        moves += sum(1 for row in ledger.rows if row.side == side)
    sys.stdout.write(
        f"{pool}: {wins} of {games} won, {spent / moves:.0f} ms a move, {moves / games:.0f} moves a game\n"
    )
    sys.stdout.writelines(f"  {end}: {count}\n" for end, count in ends.most_common())


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 40, sys.argv[2] if len(sys.argv) > 2 else "board"))
