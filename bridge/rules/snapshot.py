"""What a platform says about a game, before anything is concluded from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import chess

from bridge.rules.pools import Ruleset

RUNNING = frozenset({"created", "started"})
"""Lichess statuses of a game that goes on; any other one is an end (Lichess API, statuses)."""

RECORD_END = "recordEnd"
"""Our own status: the record stops here and says nothing of the platform's result."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The platform's clock, as announced."""

    initial_ms: int
    increment_ms: int

    def start_ms(self, free_first_moves: bool) -> int:
        """What a clock shows at the start: Lichess gives 0+N games their increment, three seconds at least."""
        if self.initial_ms == 0 and free_first_moves:
            return max(self.increment_ms, 3000)
        return self.initial_ms

    def berserk_ms(self, free_first_moves: bool) -> int:
        """What a clock shows after berserk: half the limit goes, nothing where the limit is below 40 increments."""
        start_ms = self.start_ms(free_first_moves)
        return start_ms if self.initial_ms < 40 * self.increment_ms else start_ms - self.initial_ms // 2


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something that should not be, and does not stop the verdict. `ply` counts platform plies, 0 before the first."""

    kind: str
    ply: int
    note: str


@dataclass(frozen=True, slots=True)
class Setup:
    """What is settled about a game before its first move.

    `source` is one of rules §6: think, clocks, clk, export, stream, spectator, none; `precision_ms` the error of one
    of its readings (None: no clocks). `free_first_moves`: the platform's clock does not run, and pays no increment,
    for the first move of each side, nor for a move that ends the game (Lichess, R2 and rules §6).
    """

    game_id: str
    rules: Ruleset
    source: str
    precision_ms: int | None
    start_fen: str | None = None
    chess960: bool = False
    time_control: TimeControl | None = None
    free_first_moves: bool = False
    white: str = ""
    black: str = ""
    site: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a game now, in full: `diff` finds what is new in it.

    `moves`: UCI, all of them. `white_ms`, `black_ms`: the platform's clocks now; the side to move's may be running.
    `clocks_ms`: the mover's clock after each ply, where the source keeps them (None: unknown); `think_ms`: the time of
    each move itself; beside `clocks_ms` only where the clocks would tell another one. `final_think_ms`: what the side
    to move had thought when the game ended. `at_ms`: when the snapshot was read, on any steady clock; lets a gift be
    told from a clock that runs. `told_ms`: what the platform says in words that each side was given since its last
    ply, by colour. `spent_ms`: what a record tells of time spent on moves that were taken back (R5): by the plies that
    stood then, by colour.
    """

    moves: Sequence[str]
    status: str = "started"
    winner: chess.Color | None = None
    white_ms: int | None = None
    black_ms: int | None = None
    clocks_ms: Sequence[int | None] | None = None
    think_ms: Sequence[int | None] | None = None
    final_think_ms: int | None = None
    at_ms: int | None = None
    berserk: frozenset[chess.Color] = frozenset()
    notes: Sequence[Anomaly] = field(default=())
    told_ms: Sequence[int] = (0, 0)
    spent_ms: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def clock_ms(self, side: chess.Color) -> int | None:
        """The platform's clock of one side now."""
        return self.white_ms if side else self.black_ms
