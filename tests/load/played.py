"""Many games at once, played by one daemon: `python -m tests.load.played [--games 200] [--minutes 10] [--every 2]`.

The daemon is the real command with its journal on disk and an engine that answers at once; the arena with the
opponents, and a bare aiohttp client that plays on the same arena for comparison, are processes of their own.
"""

import argparse
import asyncio
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.load.arena_process import ArenaProcess
from tests.load.echo import run_echo
from tests.load.measured import MeasuredDaemon, Sample, drift, machine, percentile, table, usage
from tests.load.rivals import BRIDGE, ECHO, TOKENS, Counts, Pace, Played, Report, run_arena

SETTLED_S = 60
MOST_DRIFT, MOST_CPU_MS, MOST_RATIO = 0.05, 1.0, 10.0
_JUDGED_WITHIN_S = 60
_LOST = frozenset({"aborted", "outoftime", "timeout", "noStart", "started"})


@dataclass(frozen=True, slots=True)
class Moment:
    """How far the arena, the daemon and the bare client were."""

    counts: dict[str, Counts]
    daemon: Sample
    echo: Sample


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. `cpu_ms` a ply of either side; `low` and `high`: how far memory went from its level."""

    games: int
    lost: tuple[str, ...]
    plies: int
    late: int
    cpu_ms: float
    echo_cpu_ms: float
    memory_mib: float
    low: float
    high: float
    p99_ms: float
    echo_p99_ms: float
    medians_ms: tuple[float, float]
    exit_status: int

    @property
    def ratio(self) -> float:
        return self.p99_ms / self.echo_p99_ms if self.echo_p99_ms else 0.0

    def show(self) -> str:
        """As a table, with the bounds."""
        ours, theirs = self.medians_ms
        return table(
            [
                ("measure", "value", "bound"),
                ("games played", f"{self.games}", ""),
                ("games lost", f"{len(self.lost)} {' '.join(self.lost[:5])}".strip(), "0"),
                ("plies of either side", f"{self.plies}, {self.late} late", ""),
                (
                    "processor time a ply",
                    f"{self.cpu_ms:.2f} ms, bare {self.echo_cpu_ms:.2f} ms",
                    f"{MOST_CPU_MS:.0f} ms",
                ),
                ("memory", f"{self.memory_mib:.0f} MiB, {self.low:+.1%} to {self.high:+.1%}", f"±{MOST_DRIFT:.0%}"),
                ("line to move, median", f"{ours:.2f} ms, bare {theirs:.2f} ms", ""),
                (
                    "line to move, p99",
                    f"{self.p99_ms:.1f} ms, bare {self.echo_p99_ms:.1f} ms: {self.ratio:.1f} times",
                    f"{MOST_RATIO:.0f} times",
                ),
                ("exit status", f"{self.exit_status}", "0"),
            ]
        )

    def broken(self, *, cpu_ms: float = MOST_CPU_MS, ratio: float = MOST_RATIO, drift: float = MOST_DRIFT) -> list[str]:
        """The bounds that do not hold."""
        checks = {
            f"{len(self.lost)} games lost": bool(self.lost),
            f"{self.cpu_ms:.2f} ms a ply": self.cpu_ms > cpu_ms,
            f"p99 is {self.ratio:.1f} times the bare client's": self.ratio > ratio,
            f"memory went {self.low:+.1%} to {self.high:+.1%}": max(-self.low, self.high) > drift,
            f"exit status {self.exit_status}": self.exit_status != 0,
        }
        return [text for text, broken in checks.items() if broken]


def config(url: str) -> dict[str, object]:
    """The daemon's: everything that is usual is on."""
    play = {"engine": "instant", "pool": "eclipse", "concurrency": 200}
    return {
        "accounts": [{"platform": "lichess", "url": url, "token": TOKENS[BRIDGE], "play": play}],
        "engines": {"instant": {"kind": "random", "seed": 3}},
    }


async def run(folder: Path, *, games: int, seconds: float, every_s: float, echo_games: int) -> Outcome:
    """Play, and count what became of it."""
    arena = ArenaProcess(run_arena, Pace({BRIDGE: games, ECHO: echo_games}, every_s))
    url = await arena.ask("address", str)
    echo = multiprocessing.get_context("spawn").Process(target=run_echo, args=(url, TOKENS[ECHO]), daemon=True)
    echo.start()
    daemon = MeasuredDaemon(folder, config(url))

    async def now() -> Moment:
        return Moment(await arena.ask("counts", dict), daemon.sample(), usage(echo.pid or 0))

    try:
        await daemon.start()
        await daemon.until_event("account.online")
        await arena.ask("open", type(None))
        sampling = asyncio.create_task(daemon.watch())
        before = await now()
        await asyncio.sleep(seconds)
        after = await now()
        report = await arena.ask("end", Report)
        await _all_judged(daemon, report)
        sampling.cancel()
        status = await daemon.stop()
    finally:
        echo.terminate()
        arena.close()
    return _outcome(daemon, report, before, after, status)


async def _all_judged(daemon: MeasuredDaemon, report: Report) -> None:
    ours = {game.id for game in report.games if game.account == BRIDGE}
    for _ in range(_JUDGED_WITHIN_S):
        if ours <= daemon.judged() or not daemon.is_running:
            return
        await asyncio.sleep(1)


def _outcome(daemon: MeasuredDaemon, report: Report, before: Moment, after: Moment, status: int) -> Outcome:
    ours = [game for game in report.games if game.account == BRIDGE]
    counts, echo = report.counts[BRIDGE], report.counts[ECHO]
    during = [sample for sample in daemon.samples if before.daemon.at_s <= sample.at_s <= after.daemon.at_s]
    level, low, high = drift(during, min(SETTLED_S, (after.daemon.at_s - before.daemon.at_s) / 2))
    plies = {account: after.counts[account].plies - before.counts[account].plies for account in after.counts}
    return Outcome(
        games=len(ours),
        lost=tuple(_lost(daemon, ours)),
        plies=plies[BRIDGE],
        late=after.counts[BRIDGE].late,
        cpu_ms=1000 * (after.daemon.cpu_s - before.daemon.cpu_s) / max(1, plies[BRIDGE]),
        echo_cpu_ms=1000 * (after.echo.cpu_s - before.echo.cpu_s) / max(1, plies[ECHO]),
        memory_mib=level,
        low=low,
        high=high,
        p99_ms=percentile(counts.latencies_ms, 0.99),
        echo_p99_ms=percentile(echo.latencies_ms, 0.99),
        medians_ms=(percentile(counts.latencies_ms, 0.5), percentile(echo.latencies_ms, 0.5)),
        exit_status=status,
    )


def _lost(daemon: MeasuredDaemon, games: Sequence[Played]) -> Iterator[str]:
    """Games without a final verdict, that were not played to an end, or of which plies are missing in the journal."""
    judged, stored = daemon.judged(), daemon.plies()
    for game in games:
        # Where the run's own end came before the second ply, the arena takes a resignation for an abort.
        given_up = game.status in _LOST and game.plies > 1
        if game.id not in judged or given_up or stored.get(game.id, 0) != game.plies:
            yield f"{game.id}:{game.status}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between an opponent's moves")
    parser.add_argument("--echo-games", type=int, default=20, help="games of the bare client")
    parser.add_argument("--slack", type=float, default=1.0, help="so many times the bounds, on a slow or busy machine")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(
            run(
                Path(folder),
                games=given.games,
                seconds=60 * given.minutes,
                every_s=given.every,
                echo_games=given.echo_games,
            )
        )
    print(outcome.show())
    print(machine())
    slack: float = given.slack
    broken = outcome.broken(cpu_ms=MOST_CPU_MS * slack, ratio=MOST_RATIO * slack, drift=MOST_DRIFT * slack)
    print("every bound holds" if not broken else f"broken: {'; '.join(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
