"""Threats to flag: what the opponent will probably not prevent, because few look for it.

A forced flag is rare; a threat of one is not. Its worth is the chance that it stands after the reply, which the
engine's own line foretells.
"""

import math
from collections.abc import Iterable

import chess

from bridge.engines.flag_search import flagging_moves
from bridge.engines.line import Line
from bridge.engines.view import Found

_SQUASH_CP = 400
STANDS = 0.75
"""The chance that a threat is there still, when it survives the reply that the engine expects."""
PARRIED = 0.2
UNKNOWN = 0.5


def squashed(score_cp: float) -> float:
    """Centipawns as they matter: even positions linear, won ones less and less."""
    return _SQUASH_CP * math.asinh(score_cp / _SQUASH_CP)


def threatening(line: Line, moves: Iterable[chess.Move]) -> list[chess.Move]:
    """Those of the moves after which a capture would flag the other side, if it made an ordinary move elsewhere."""
    found = []
    for move in moves:
        if line.push(move) is None and _threat(line):
            found.append(move)
        line.pop()
    return found


def _threat(line: Line) -> bool:
    board, prices = line.board, line.prices
    side, attacker = board.turn, not board.turn
    clock_ms = line.clock_ms[side]
    left_ms = clock_ms - line.paces[side].think_ms(clock_ms) - prices.toll_ms[chess.KNIGHT]
    for piece in range(chess.PAWN, chess.KING):
        if prices.loss_ms[piece] >= left_ms:
            for square in chess.scan_forward(board.pieces_mask(piece, side)):
                if board.attackers_mask(attacker, square):
                    return True
    return False


def chance(line: Line, found: Found) -> float:
    """The chance that after a search's move and the reply it expects the side to move can flag the other."""
    board = line.board
    pv = [chess.Move.from_uci(uci) for uci in found.pv[:2]]
    if len(pv) < 2:
        return 0.0
    move = _spelled(board, pv[0])
    if move is None or line.push(move) is not None:
        line.pop() if move is not None else None
        return 0.0
    try:
        if not _threat(line):
            return 0.0
        reply = _spelled(board, pv[1])
        if reply is None:
            return UNKNOWN
        ended = line.push(reply)
        try:
            if ended is not None:
                return 1.0 if ended.winner == (not board.turn) else 0.0
            return STANDS if any(True for _ in flagging_moves(line)) else PARRIED
        finally:
            line.pop()
    finally:
        line.pop()


def worth(score_cp: int, chance_of_flag: float, win_points: int) -> float:
    """A move's worth in points: its chance to flag, and else what the board says."""
    return chance_of_flag * win_points + (1 - chance_of_flag) * squashed(score_cp)


def _spelled(board: chess.Board, move: chess.Move) -> chess.Move | None:
    """A line's move on our boards, where castling is king takes rook."""
    if board.is_legal(move):
        return move
    for castling in board.generate_castling_moves():
        if board.uci(castling, chess960=False) == move.uci():
            return castling
    return None
