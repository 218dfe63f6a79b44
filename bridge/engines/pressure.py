"""Chances to flag that are no proofs: what the opponent will probably do, by the engine's own expected line.

Few players look for flags, and engines that know no clocks never do. So a line after whose expected reply we can flag
is worth more than its centipawns, and one after whose expected reply we are flagged is worth less.
"""

import math

import chess

from bridge.engines.flag_search import flagging_moves
from bridge.engines.line import Line
from bridge.engines.view import Found

_SQUASH_CP = 400


def squashed(score_cp: float) -> float:
    """Centipawns as they matter: near zero as they are, far away less and less."""
    return _SQUASH_CP * math.asinh(score_cp / _SQUASH_CP)


def worth(found: Found, flags: bool, chance: float, win_points: int, stale_cp: float = 0) -> float:
    """A search's move in points: what the board says, or a won game as far as the expected reply lets us flag."""
    board = squashed((found.score_cp or 0) - stale_cp)
    return chance * win_points + (1 - chance) * board if flags else board


def reply_lets_flag(line: Line, found: Found) -> bool:
    """Whether after the move and the reply that the search expects the side to move can flag the other at once."""
    return _after(line, found.pv[:2], flagged=False)


def reply_flags(line: Line, found: Found) -> bool:
    """Whether the reply that the search expects flags the side to move."""
    return _after(line, found.pv[:2], flagged=True)


def _after(line: Line, pv: tuple[str, ...], *, flagged: bool) -> bool:
    me, height = line.board.turn, line.height
    try:
        for ply, uci in enumerate(pv):
            move = spelled(line.board, uci)
            if move is None:
                return False
            outcome = line.push(move)
            if outcome is not None:
                return ply == 1 and outcome.winner == ((not me) if flagged else me)
        return len(pv) == 2 and not flagged and any(True for _ in flagging_moves(line))
    finally:
        while line.height > height:
            line.pop()


def spelled(board: chess.Board, uci: str) -> chess.Move | None:
    """A line's move on our boards, where castling is king takes rook."""
    move = chess.Move.from_uci(uci)
    if board.is_legal(move):
        return move
    return next((c for c in board.generate_castling_moves() if board.uci(c, chess960=False) == uci), None)
