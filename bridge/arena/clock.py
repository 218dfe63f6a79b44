"""The platform's clock: an immutable value in centiseconds, the time of day passed in (Lichess API §2.2).

Nothing here knows of plies: the game starts the clock once both sides have moved, or earlier when told to.
"""

from dataclasses import dataclass, replace
from typing import Self

import chess

from bridge.arena.control import TimeControl

_GRACE_CS = 200


def centis(ms: int) -> int:
    """Milliseconds as whole centiseconds, halves up."""
    return (ms + 5) // 10


def _lag_gain_cs(control: TimeControl) -> int:
    return min(100, (control.estimate_s * 40) // 100 + 15)


@dataclass(frozen=True, slots=True)
class Hand:
    """One side's hand of the clock; `quota_cs` is the network lag that may still be given back to it."""

    remaining_cs: int
    increment_cs: int
    quota_cs: int


@dataclass(frozen=True, slots=True)
class Clock:
    """Both hands and, while it runs, the moment since when the side to move is thinking."""

    control: TimeControl
    white: Hand
    black: Hand
    turn: chess.Color
    since_ms: int | None = None

    @classmethod
    def set_to(cls, control: TimeControl, turn: chess.Color) -> Self:
        """Not running; 0+N games start with N seconds, at least 3."""
        limit_cs = 100 * (control.limit_s or max(control.increment_s, 3))
        hand = Hand(limit_cs, 100 * control.increment_s, 3 * _lag_gain_cs(control))
        return cls(control, hand, hand, turn)

    @property
    def running(self) -> bool:
        return self.since_ms is not None

    def hand(self, color: chess.Color) -> Hand:
        return self.white if color else self.black

    def _with(self, color: chess.Color, hand: Hand) -> Self:
        return replace(self, white=hand) if color else replace(self, black=hand)

    def pending_cs(self, color: chess.Color, now_ms: int) -> int:
        """What `color` has used of its turn so far."""
        return centis(max(0, now_ms - self.since_ms)) if self.since_ms is not None and color == self.turn else 0

    def remaining_cs(self, color: chess.Color, now_ms: int) -> int:
        """As shown: live for the side to move, never below zero."""
        return max(0, self.hand(color).remaining_cs - self.pending_cs(color, now_ms))

    def start(self, now_ms: int) -> Self:
        return self if self.running else replace(self, since_ms=now_ms)

    def charge_cs(self, now_ms: int, lag_cs: int = 0) -> int:
        """What a move made now costs its side, once its network lag is given back within the quota."""
        return max(0, self.pending_cs(self.turn, now_ms) - min(lag_cs, self.hand(self.turn).quota_cs))

    def too_late(self, now_ms: int, lag_cs: int = 0) -> bool:
        """A move that arrives now finds its side's time used up."""
        return self.running and self.charge_cs(now_ms, lag_cs) >= self.hand(self.turn).remaining_cs

    def flagged(self, now_ms: int) -> bool:
        """Others may flag the side to move: its quota of lag, at most two seconds, is grace."""
        hand = self.hand(self.turn)
        return self.pending_cs(self.turn, now_ms) - min(hand.quota_cs, _GRACE_CS) > hand.remaining_cs

    def move(self, now_ms: int, *, ends_game: bool = False, lag_cs: int = 0) -> Self:
        """The side to move has moved: charged and, if the game goes on, credited. A stopped clock only turns."""
        mover, hand = self.turn, self.hand(self.turn)
        turned = replace(self, turn=not mover)
        if not self.running:
            return turned
        left_cs = max(0, hand.remaining_cs - self.charge_cs(now_ms, lag_cs))
        if ends_game:
            return replace(turned._with(mover, replace(hand, remaining_cs=left_cs)), since_ms=None)
        gain_cs = _lag_gain_cs(self.control)
        quota_cs = min(7 * gain_cs, hand.quota_cs + gain_cs - min(lag_cs, hand.quota_cs))
        moved = replace(hand, remaining_cs=left_cs + hand.increment_cs, quota_cs=quota_cs)
        return replace(turned._with(mover, moved), since_ms=now_ms)

    def read(self, color: chess.Color, cs: int) -> Self:
        """The same clock with `color`'s hand at a recorded value."""
        return self._with(color, replace(self.hand(color), remaining_cs=cs))

    def give(self, color: chess.Color, cs: int) -> Self:
        return self.read(color, self.hand(color).remaining_cs + cs)

    def berserk(self, color: chess.Color) -> Self:
        """Half of the limit gone (nothing of it where 40 increments outweigh it), and no increments any more."""
        hand, control = self.hand(color), self.control
        cut_cs = 0 if control.limit_s < 40 * control.increment_s else 50 * control.limit_s
        return self._with(color, replace(hand, remaining_cs=hand.remaining_cs - cut_cs, increment_cs=0))

    def take_back(self, now_ms: int, restored_cs: int) -> Self:
        """One ply undone: the side that was thinking gets `restored_cs`, the other keeps its clock and is on move."""
        restored = self.read(self.turn, restored_cs)
        return replace(restored, turn=not self.turn, since_ms=now_ms if self.running else None)

    def stop(self, now_ms: int) -> Self:
        """For good; what the side to move has used of its turn is charged."""
        shown_cs = self.remaining_cs(self.turn, now_ms)
        return replace(self.read(self.turn, shown_cs), since_ms=None)
