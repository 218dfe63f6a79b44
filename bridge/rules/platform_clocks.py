"""The platform's two clocks, folded from the events that speak of them.

`diff` compares a new reading with these, on a copy; the ledger keeps them. Indexed by colour.
"""

from collections.abc import Collection

import chess

from bridge.rules.events import Berserked, Event, Moved, Resynced, TakenBack, TimeGiven

SOURCE_ERROR_MS = 40
"""A difference of at most this is rounding, not time given (R4)."""


class PlatformClocks:
    """What each clock would read had its side thought no further, so that errors do not add up (rules §6).

    `left_ms`: that value; None without a clock. `ahead_ms`: how far the last reading stood above it, a rounding that
    is taken off the next thinking time (R4). `given_ms`: gifts since the side's last ply, which a takeback can lose.
    `berserk`: who gave up the increment (R3). `started`: the clocks run
    (R2). `turn_began_ms`: when the line with the last ply was read, where it says so.
    """

    __slots__ = ("ahead_ms", "berserk", "given_ms", "left_ms", "started", "turn_began_ms")

    def __init__(self, start_ms: int | None, *, started: bool) -> None:
        self.left_ms = [start_ms, start_ms]
        self.ahead_ms = [0, 0]
        self.given_ms = [0, 0]
        self.berserk: Collection[chess.Color] = ()
        self.started = started
        self.turn_began_ms: int | None = None

    def copy(self) -> "PlatformClocks":
        """An independent copy."""
        other = PlatformClocks.__new__(PlatformClocks)
        other.left_ms = self.left_ms[:]
        other.ahead_ms = self.ahead_ms[:]
        other.given_ms = self.given_ms[:]
        other.berserk = self.berserk
        other.started = self.started
        other.turn_began_ms = self.turn_began_ms
        return other

    def moved(self, side: chess.Color, ply: int, event: Moved) -> None:
        """Take in a ply."""
        left = self.left_ms[side]
        if left is not None:
            left += event.credited_ms - (event.think_ms or 0)
            self.left_ms[side] = left
            if event.reading_ms is not None:
                self.ahead_ms[side] = event.reading_ms - left
        self.given_ms[side] = 0
        self.started = self.started or ply >= 2 or bool(event.think_ms or event.credited_ms)
        self.turn_began_ms = event.at_ms

    def apply(self, event: Event) -> None:
        """Take in an event that is no ply; those that say nothing of the clocks change nothing."""
        match event:
            case TakenBack():
                self.left_ms = [event.black_ms, event.white_ms]
                self.ahead_ms = [0, 0]
                self.given_ms = [0, 0]
                self.turn_began_ms = event.at_ms
            case TimeGiven():
                left = self.left_ms[event.side]
                if left is not None:
                    self.left_ms[event.side] = left + event.given_ms
                    self.given_ms[event.side] += event.given_ms
            case Resynced():
                self._read(event.side, event.reading_ms)
            case Berserked():
                self.berserk = (*self.berserk, event.side)
                if event.reading_ms is not None:
                    self._read(event.side, event.reading_ms)

    def _read(self, side: chess.Color, reading_ms: int) -> None:
        self.left_ms[side] = reading_ms
        self.ahead_ms[side] = 0
