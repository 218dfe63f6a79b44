"""A position with both clocks, which moves are made on and taken back: what every search of ours stands on.

The rules are `rules/`; only the layers' order at a flag (R1) is told again here, since a search needs no ledger.
"""

import math
from dataclasses import dataclass

import chess

from bridge.engines.evaluation import evaluate
from bridge.rules.dials import Dials
from bridge.rules.effects import Effects, dearest_toll_ms, push
from bridge.rules.endings import Outcome, board_ending, can_win_on_time
from bridge.rules.position import Key, position_key

_TIME_CP = 150
"""What it is worth to have e times the other's time."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a side is expected to think: `most_ms`, or one part in `share` of its clock if that is less."""

    most_ms: int = 0
    share: int = 25

    def think_ms(self, clock_ms: int) -> int:
        """The next thinking time of a side with that clock."""
        return min(self.most_ms, max(0, clock_ms // self.share))

    def scaled(self, factor: float) -> "Pace":
        """Slower (above 1) or faster thinking."""
        return Pace(round(self.most_ms * factor), max(1, round(self.share / factor)) if factor else self.share)


AT_ONCE = Pace()
"""Moves without thinking."""


class Line:
    """`board` is changed in place. The root's own thinking is taken off the clocks before; `paces` (by colour) are
    charged from the second ply on. `nodes` counts every move made."""

    def __init__(
        self,
        board: chess.Board,
        white_ms: int,
        black_ms: int,
        dials: Dials,
        paces: tuple[Pace, Pace] = (AT_ONCE, AT_ONCE),
    ) -> None:
        self.board = board
        self.clock_ms = [black_ms, white_ms]
        self.dials = dials
        self.prices = dials.prices
        self.paces = paces
        self.nodes = 0
        self._seen = _reversible_positions(board)
        self._made: list[tuple[Key, Effects, int]] = []

    def push(self, move: chess.Move) -> Outcome | None:
        """Make a move; the outcome if the game ends by it, or by the thinking before it (rules §1)."""
        mover = self.board.turn
        think_ms = self.paces[mover].think_ms(self.clock_ms[mover]) if self._made else 0
        # A flag that falls before the move is judged on the board as it was.
        fallen = self._won_on_time(not mover) if 0 < self.clock_ms[mover] <= think_ms else None
        effects, key, mate = push(self.board, move, self.prices, self._seen)
        self.nodes += 1
        occurrences = self._seen[key] = self._seen.get(key, 0) + 1
        self._made.append((key, effects, think_ms))
        before_ms = self.clock_ms[not mover]
        self.clock_ms[mover] += effects.mover_ms + self.prices.increment_ms - think_ms
        self.clock_ms[not mover] += effects.opponent_ms
        if fallen is not None:
            return fallen
        ending = board_ending(
            self.board, occurrences, mate, self.dials.dead_position, had_moves=True if effects.chip_ms else None
        )
        return ending or self._flag(mover, before_ms - effects.loss_ms)

    def pop(self) -> None:
        """Take the last move back."""
        key, effects, think_ms = self._made.pop()
        self.board.pop()
        mover = self.board.turn
        self.clock_ms[mover] -= effects.mover_ms + self.prices.increment_ms - think_ms
        self.clock_ms[not mover] -= effects.opponent_ms
        self._seen[key] -= 1
        if not self._seen[key]:
            del self._seen[key]

    @property
    def height(self) -> int:
        """How many moves are made on the root."""
        return len(self._made)

    @property
    def repeats(self) -> bool:
        """Whether the last move brought back an earlier position."""
        return self._seen[self._made[-1][0]] > 1

    @property
    def last_effects(self) -> Effects:
        """What the last move did to the clocks."""
        return self._made[-1][1]

    def dearest_toll_ms(self, side: chess.Color) -> int:
        """The most a move of the side's pieces costs, castling and fees apart."""
        return dearest_toll_ms(self.board, side, self.prices)

    def dearest_loss_ms(self, side: chess.Color) -> int:
        """The most the side can lose by one capture of its men."""
        own = self.board.occupied_co[side]
        loss_ms = self.prices.loss_ms
        men = [loss_ms[piece] for piece in range(1, 6) if self.board.pieces_mask(piece, side) & own]
        return max(men, default=0)

    def _flag(self, mover: chess.Color, opponent_after_capture_ms: int) -> Outcome | None:
        own = self.clock_ms[mover] <= 0
        captured = opponent_after_capture_ms <= 0
        if not (own or captured or self.clock_ms[not mover] <= 0):
            return None
        both = own and (captured or self.clock_ms[not mover] <= 0)
        if both and self.dials.double_flag == "draw":
            return Outcome("double_flag")
        falls = mover if own and not (captured and self.dials.double_flag == "stack") else not mover
        return self._won_on_time(not falls)

    def _won_on_time(self, winner: chess.Color) -> Outcome:
        return Outcome("flag", winner) if can_win_on_time(self.board, winner) else Outcome("flag_insufficient_material")

    def score_cp(self) -> float:
        """The position for the side to move: the board, and the clocks by their ratio."""
        turn = self.board.turn
        own_ms, other_ms = max(1, self.clock_ms[turn]), max(1, self.clock_ms[not turn])
        return evaluate(self.board) + _TIME_CP * (math.log(own_ms) - math.log(other_ms))


def _reversible_positions(board: chess.Board) -> dict[Key, int]:
    past = board.copy(stack=board.halfmove_clock)
    seen = {position_key(past): 1}
    while past.move_stack:
        past.pop()
        key = position_key(past)
        seen[key] = seen.get(key, 0) + 1
    return seen
