"""What probably comes: the reply that a search expects, played out with both clocks."""

from bridge.engines.line import Line
from bridge.engines.view import Found, spelled


def reply_flags(line: Line, found: Found) -> bool:
    """Whether the reply that the search expects flags the side to move."""
    me, height = line.board.turn, line.height
    try:
        for ply, uci in enumerate(found.pv[:2]):
            move = spelled(line.board, uci)
            if move is None:
                return False
            outcome = line.push(move)
            if outcome is not None:
                return ply == 1 and outcome.winner == (not me)
        return False
    finally:
        while line.height > height:
            line.pop()
