"""Draws by repetition, worth nothing to the wrapped engine: whoever has the better clock avoids them."""

import math

from bridge.engines.line import Line
from bridge.engines.view import Found, spelled

_E_TIMES_CP = 300
"""What it is worth to have e times the other's time, in centipawns, when a game that could be drawn goes on."""
_LEAD = 1.25


def ahead(line: Line) -> bool:
    """Whether a game that goes on favours the side to move by its clock, and a repetition is near enough to matter."""
    me = line.board.turn
    return line.board.halfmove_clock >= 4 and line.clock_ms[me] >= _LEAD * line.clock_ms[not me]


def repeats(line: Line, found: Found) -> bool:
    """Whether the search's move brings back an earlier position."""
    move = spelled(line.board, found.uci)
    if move is None:
        return False
    line.push(move)
    again = line.repeats
    line.pop()
    return again


def better_than_drawn(line: Line, found: Found) -> bool:
    """Whether going on with the search's move is worth more than a draw, both clocks considered."""
    me = line.board.turn
    lead = math.log(max(1, line.clock_ms[me])) - math.log(max(1, line.clock_ms[not me]))
    return (found.score_cp or 0) + _E_TIMES_CP * lead > 0
