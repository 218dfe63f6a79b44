"""What a second is worth in centipawns, and what a move or a line does to both clocks in these terms.

Fitted on plain Stockfish self-play (result against board score and the logarithm of the clocks' ratio): a second weighs
more the fewer are left, most where captures burn, least where they are large. `weight` scales all of it: fitted values
tell what leads go with, not what a second that is saved brings.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import chess

from bridge.engines.line import Line
from bridge.rules.dials import Dials

_SQUASH_CP = 400
_BURN = (2094.0, -0.81, 25.0)
_STEAL = (518.0, -0.95, 2.0)
_BOUNTY = (467.0, -0.95, 1.0)
"""By economy: points at C1, the exponent of C, and the seconds that are added to a clock."""
_LONGEST = 6


def squashed(score_cp: float) -> float:
    """Centipawns as they matter: near zero as they are, far away less and less."""
    return _SQUASH_CP * math.asinh(score_cp / _SQUASH_CP)


@dataclass(frozen=True, slots=True)
class Scale:
    """points = weight · [ln(own + offset) − ln(other + offset)], clocks in milliseconds."""

    weight: float
    offset_ms: float

    @classmethod
    def of(cls, dials: Dials, weight: float) -> "Scale":
        """The scale of an economy."""
        burns, gains = dials.loss > dials.gain, dials.gain > dials.loss
        at_c1, exponent, offset_s = _BURN if burns else _BOUNTY if gains else _STEAL
        size = float(max(dials.gain, dials.loss) * dials.capture_multiplier) or 1.0
        return cls(weight * at_c1 * math.pow(size, exponent), offset_s * 1000)

    def points(self, own_ms: int, other_ms: int) -> float:
        """What this pair of clocks is worth to the side with `own_ms`."""
        own, other = max(1, own_ms) + self.offset_ms, max(1, other_ms) + self.offset_ms
        return self.weight * (math.log(own) - math.log(other))


def move_points(line: Line, scale: Scale, moves: Sequence[chess.Move]) -> dict[chess.Move, float]:
    """Each move's own effect on both clocks, in points of the side to move. Moves that end the game are left out."""
    me = line.board.turn
    found = {}
    for move in moves:
        if line.push(move) is None:
            found[move] = scale.points(line.clock_ms[me], line.clock_ms[not me])
        line.pop()
    return found


def line_points(line: Line, scale: Scale, moves: Sequence[chess.Move]) -> float:
    """The clocks after a line of play: two plies at least, and on while it takes or checks."""
    me = line.board.turn
    height = line.height
    for ply, move in enumerate(moves[:_LONGEST]):
        if not line.board.is_legal(move) or (ply >= 2 and not line.board.is_capture(move)):
            break
        if line.push(move) is not None:
            break
    points = scale.points(line.clock_ms[me], line.clock_ms[not me])
    while line.height > height:
        line.pop()
    return points
