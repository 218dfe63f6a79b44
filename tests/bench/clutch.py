"""Compare settings where it matters: games taken up when a clock has run low, with the clocks they had.

    python tests/bench/clutch.py GAMES.jsonl ENGINE OUT.json [POOL,POOL] [SEEDS] [SHARE]

GAMES is a results file of `match` whose first games give the beginnings. From the ply at which a clock is first below
SHARE of the base both colours are played out against plain Stockfish. For choosing between settings, never for claims.
"""

import json
import statistics
import sys
from pathlib import Path

from bridge.lab.entry import Entry
from bridge.lab.game import Terms, play
from bridge.lab.pgn import replayed
from bridge.lab.results import GameLine, read_results
from bridge.lab.timing import Noise
from bridge.rules.pools import named


def beginning(game: GameLine, share: float) -> list[tuple[str, int]]:
    """The plies before a clock is low."""
    verdict = replayed(game)
    low_ms = verdict.setup.rules.dials.prices.base_ms * share
    begun = []
    for row in verdict.rows:
        begun.append((row.uci or "", row.think_ms or 0))
        if min(row.white_ms, row.black_ms) < low_ms:
            return begun
    return []


def main(source: str, engine: str, out: str, pools: str, seeds: int, share: float) -> None:
    """Play and print; OUT keeps each beginning's score."""
    own, plain = Entry.parse(engine).build(), Entry.parse("stockfish").build()
    own.start()
    plain.start()
    scores: dict[str, float] = {}
    for line in read_results(Path(source))[1]:
        begun = beginning(line.games[0], share)
        if line.pool not in pools.split(",") or not begun:
            continue
        terms = Terms(named(line.pool), nodes=4000)
        for seed in range(seeds):
            noise = Noise.of(1000 + seed, line.pair)
            points = 0.0
            for white in (True, False):
                sides = (own, plain) if white else (plain, own)
                outcome = play(*sides, terms, noise, line.opening, "x", played_ms=begun).outcome
                points += 0.5 if outcome.winner is None else float(outcome.winner == white)
            scores[f"{line.pool}/{line.pair}/{seed}"] = points / 2
            Path(out).write_text(json.dumps(scores))
    own.close()
    plain.close()
    for pool in pools.split(","):
        got = [score for name, score in scores.items() if name.startswith(pool)]
        if got:
            print(pool, len(got), f"{statistics.mean(got):.3f} ± {1.96 * statistics.pstdev(got) / len(got) ** 0.5:.3f}")


if __name__ == "__main__":
    given = [*sys.argv[1:], *["ratchet", "1", "0.4"][len(sys.argv) - 4 :]]
    main(given[0], given[1], given[2], given[3], int(given[4]), float(given[5]))
