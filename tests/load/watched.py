"""A round of many games, watched by one daemon: `python -m tests.load.watched [--games 1000] [--minutes 10]`.

The daemon is the real command with its journal on disk; it has the games' ids and no token. The arena is a process of
its own and holds it to what Lichess lets a stranger do: eight spectators' streams, 500 ids a call, 20 games a second.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.load.arena_process import ArenaProcess
from tests.load.league import Report, Round, run_league
from tests.load.measured import MeasuredDaemon, drift, machine, table

SETTLED_S = 60
MOST_DRIFT, MOST_MIB = 0.05, 250
_DONE_WITHIN_S = 120


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to; `low` and `high`: how far memory went from its level after the first minute."""

    games: int
    lost: tuple[str, ...]
    plies: int
    live: int
    requests: dict[str, int]
    refused: int
    cpu_s: float
    most_mib: float
    memory_mib: float
    low: float
    high: float
    exit_status: int

    def show(self) -> str:
        """As a table, with the bounds."""
        rows = [
            ("measure", "value", "bound"),
            ("games watched", f"{self.games}, {self.live} of them live", ""),
            ("games without their final verdict", f"{len(self.lost)} {' '.join(self.lost[:5])}".strip(), "0"),
            ("plies judged", f"{self.plies}", ""),
            ("processor time", f"{self.cpu_s:.1f} s, {1000 * self.cpu_s / max(1, self.plies):.2f} ms a ply", ""),
            ("resident memory, most", f"{self.most_mib:.0f} MiB", f"{MOST_MIB} MiB"),
            ("memory", f"{self.memory_mib:.0f} MiB, {self.low:+.1%} to {self.high:+.1%}", f"±{MOST_DRIFT:.0%}"),
            ("exit status", f"{self.exit_status}", "0"),
        ]
        rows += [(f"requests {kind}", f"{count}", "") for kind, count in sorted(self.requests.items())]
        return table([*rows, ("requests refused", f"{self.refused}", "0")])

    def broken(self, *, drift: float = MOST_DRIFT) -> list[str]:
        """The bounds that do not hold."""
        checks = {
            f"{len(self.lost)} games lost": bool(self.lost),
            f"{self.most_mib:.0f} MiB": self.most_mib > MOST_MIB,
            f"memory went {self.low:+.1%} to {self.high:+.1%}": max(-self.low, self.high) > drift,
            f"{self.refused} requests refused": self.refused > 0,
            f"exit status {self.exit_status}": self.exit_status != 0,
        }
        return [text for text, broken in checks.items() if broken]


async def run(folder: Path, plan: Round) -> Outcome:
    """Watch the round, and count what became of it."""
    arena = ArenaProcess(run_league, plan)
    try:
        account = {"platform": "lichess", "url": await arena.ask("address", str)}
        watch = {"games": plan.ids(), "pool": "mainspring"}
        daemon = MeasuredDaemon(folder, {"accounts": [account], "watch": [watch]})
        await daemon.start()
        sampling = asyncio.create_task(daemon.watch(0.5))
        await arena.ask("open", type(None))
        await arena.ask("end", type(None))
        # With its last verdict the daemon has nothing left to do.
        await asyncio.wait({sampling}, timeout=_DONE_WITHIN_S)
        status = await daemon.stop()
        report = await arena.ask("report", Report)
    finally:
        arena.close()
    return _outcome(daemon, plan, report, status)


def _outcome(daemon: MeasuredDaemon, plan: Round, report: Report, status: int) -> Outcome:
    level, low, high = drift(daemon.samples, min(SETTLED_S, plan.seconds / 2))
    started = "SELECT count(*) FROM event WHERE type = 'kirichess.game.started' AND data LIKE '%\"spectator\"%'"
    return Outcome(
        games=len(report.games),
        lost=tuple(_lost(daemon, report)),
        plies=sum(daemon.plies().values()),
        live=int(str(daemon.rows(started)[0][0])),
        requests=report.requests,
        refused=report.refused,
        cpu_s=daemon.samples[-1].cpu_s,
        most_mib=max(sample.resident_mib for sample in daemon.samples),
        memory_mib=level,
        low=low,
        high=high,
        exit_status=status,
    )


def _lost(daemon: MeasuredDaemon, report: Report) -> Iterator[str]:
    """Games without a final verdict, or whose verdict is not of all their plies."""
    query = """
        SELECT subject, json_extract(data, '$.verdict.platform_plies') FROM event WHERE type = 'kirichess.verdict.final'
    """
    judged = {str(game): int(str(plies)) for game, plies in daemon.rows(query)}
    for game_id, (plies, status) in report.games.items():
        # The plies of an aborted game are nowhere to be had.
        if judged.get(game_id) != plies and not (status == "aborted" and game_id in judged):
            yield f"{game_id}:{status}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=5.0, help="seconds that a ply takes")
    parser.add_argument("--slack", type=float, default=1.0, help="so many times the bounds, on a slow or busy machine")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(run(Path(folder), Round(given.games, 60 * given.minutes, given.every)))
    print(outcome.show())
    print(machine())
    slack: float = given.slack
    broken = outcome.broken(drift=MOST_DRIFT * slack)
    print("every bound holds" if not broken else f"broken: {'; '.join(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
