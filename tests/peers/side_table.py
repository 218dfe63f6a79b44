"""The comparison as one table: what each program lost, how late it was, and what it cost."""

import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.peers.contenders import CONCURRENCY, Contender
from tests.peers.scenarios import Scenario
from tests.peers.table_rival import Played, Turn

_LATE_MS = 1000
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Measured:
    """One program in one scenario. `requests` by the status they were answered with, 0: by none."""

    program: str
    scenario: Scenario
    games: list[Played]
    requests: Counter[int]
    peak_bytes: int
    used_ms: float
    refused: Counter[str]
    left: int = 0
    """Processes that were still there when it had been ended."""

    @property
    def turns(self) -> list[Turn]:
        return [turn for game in self.games for turn in game.turns]

    @property
    def lost(self) -> list[str]:
        """How each lost game was lost."""
        begun = {True: "unfinished", False: "never begun"}
        return [begun[game.moved] if game.lost == "unfinished" else game.lost for game in self.games if game.lost]

    @property
    def late(self) -> int:
        """Moves more than a second after their line; the struck ones, a second after the fault itself is over.

        First moves of games are left out: no clock runs yet, and engines are being started.
        """
        return sum(1 for turn in self.turns if not turn.first and self._late(turn))

    def _late(self, turn: Turn) -> bool:
        allowed_ms = 1000 * self.scenario.allowed_s if turn.struck else 0
        return turn.took_ms is None or turn.took_ms > _LATE_MS + allowed_ms

    @property
    def moves(self) -> int:
        return sum(turn.done_ms is not None for turn in self.turns)

    @property
    def after_fault(self) -> str:
        """The longest wait for the first move after a fault, in seconds; a dash where nothing struck a single move."""
        struck = [turn.took_ms for turn in self.turns if turn.struck]
        if None in struck or any(game.lost and not game.moved for game in self.games):
            return "never"
        return f"{max(took for took in struck if took is not None) / 1000:.2f}" if struck else "–"

    @property
    def median_ms(self) -> int:
        took = sorted(turn.took_ms for turn in self.turns if turn.took_ms is not None and not turn.first)
        return took[len(took) // 2] if took else 0

    def line(self) -> str:
        """One row of the table."""
        lost = Counter(self.lost)
        how = ", ".join(f"{cause} {count}×" if count > 1 else cause for cause, count in sorted(lost.items()))
        answers = ", ".join(f"{count}× {status}" for status, count in sorted(self.requests.items()) if status != 200)
        left = f"{self.left} left running" if self.left else ""
        cost = f"{self.used_ms / self.moves:.1f}" if self.moves else "–"
        return (
            f"| {self.scenario.name} | {self.program} | {len(self.lost)} of {len(self.games)} | {self.late} | "
            f"{sum(self.requests.values())} | {self.after_fault} | {self.median_ms} | "
            f"{self.peak_bytes / _MIB:.0f} | {cost} | {'; '.join(part for part in (how, answers, left) if part)} |"
        )


_HEADING = (
    "| scenario | program | games lost | moves late | requests | first move after the fault, s | median move, ms "
    "| resident, MiB | processor, ms a move | what happened |"
)


def side_by_side_part(rows: Sequence[Measured], contenders: Sequence[Contender]) -> str:
    """The part of RESULTS.md, without its heading."""
    refused = sum((row.refused for row in rows), Counter[str]())
    places = ", ".join(f"`{place}` {count}×" for place, count in refused.items()) or "nothing"
    by_scenario = sorted(rows, key=lambda row: [each.scenario for each in rows].index(row.scenario))
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} processors, "
        f"load {os.getloadavg()[2]:.1f}. Written by `python -m tests.peers.side_by_side CHECKOUT…`.",
        "",
        *(f"- {contender.name}: commit {contender.commit}" for contender in contenders),
        "",
        *_EXPLANATION.format(concurrency=CONCURRENCY).splitlines(),
        "",
        f"Refused beyond loopback: {places}.",
        "",
        "| program | games | games lost | moves late | requests | resident at most, MiB | processor, ms a move |",
        "|---|---|---|---|---|---|---|",
        *(_total(contender.name, [row for row in rows if row.program == contender.name]) for contender in contenders),
        "",
        _HEADING,
        "|---|---|---|---|---|---|---|---|---|---|",
        *(row.line() for row in by_scenario),
        "",
    ]
    return "\n".join(lines)


def _total(program: str, rows: Sequence[Measured]) -> str:
    games, lost, late = (sum(counts) for counts in zip(*_counts(rows), strict=True))
    moves = max(1, sum(row.moves for row in rows))
    return (
        f"| {program} | {games} | {lost} | {late} | {sum(sum(row.requests.values()) for row in rows)} | "
        f"{max(row.peak_bytes for row in rows) / _MIB:.0f} | {sum(row.used_ms for row in rows) / moves:.1f} |"
    )


def _counts(rows: Sequence[Measured]) -> list[tuple[int, int, int]]:
    return [(len(row.games), len(row.lost), row.late) for row in rows]


_EXPLANATION = """\
Every scenario: a fresh process, {concurrency} slots, standard chess at 30+1, a scripted engine that answers at once,
a rival that answers after 0.15 s. Faults strike just before a move of the rival's, so that the program misses its
line. Lost: the flag fell, it resigned or aborted, did not take the game up while its challenge lived (20 s), or never
began or finished it within a minute. Late: more than a second after the line; the move that a fault strikes, more
than a second after the fault itself was over (a silent stream counts as 16 s, a 429 without a figure as a minute, a
hanging engine as a third of the clock); first moves are left out, no clock runs yet. First move after the fault: the
longest of the scenario's games, from the rival's move on, for a game offered after the fault from its offer on.
Median move: from the line to the move, of those that count. Resident memory and user and system time are those of all
its processes without engines; memory is the sum of resident sizes at its peak, time counts from the first offer on.
Requests: answered ones, start-up left out. Left running: processes still there when the program had been ended.
"""
