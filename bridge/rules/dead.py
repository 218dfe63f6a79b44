"""Dead positions that can be proven (R7 `exact`): nobody can mate by any legal series of moves.

Two proofs, both sound, neither complete: a wall of locked pawns that no piece can ever open, and a short line in
which every legal move leads to a dead position.
"""

import chess

_LINE_BUDGET = 300
"""Positions the second proof looks at before it gives up."""


def is_dead_exactly(board: chess.Board) -> bool:
    """True where one of the proofs holds. False means "not proven", not "alive"."""
    if _is_locked(board):
        return True
    return _every_line_dies(board.copy(stack=False), [_LINE_BUDGET])


def _every_line_dies(board: chess.Board, budget: list[int]) -> bool:
    if board.is_insufficient_material():
        return True
    if chess.popcount(board.occupied) > 8:
        # Short forced lines into bare material start from few men; more of them only burn the budget.
        return False
    moves = list(board.legal_moves)
    if not moves:
        return not board.is_check()
    budget[0] -= len(moves)
    if budget[0] < 0:
        return False
    for move in moves:
        board.push(move)
        dead = _every_line_dies(board, budget)
        board.pop()
        if not dead:
            return False
    return True


def _is_locked(board: chess.Board) -> bool:
    """Only kings, bishops and pawns; no pawn can ever move or be taken; no bishop ever reaches a king's region.

    The regions are flood-filled as if the other side stood still and helped, so they hold every square a piece can
    ever stand on.
    """
    if not board.pawns or board.knights or board.rooks or board.queens or board.has_legal_en_passant():
        return False
    if not all(_blocked(board, side) for side in chess.COLORS):
        return False
    kings = {side: _king_region(board, side) for side in chess.COLORS}
    bishops = {side: _bishop_region(board, side) for side in chess.COLORS}
    for side in chess.COLORS:
        enemy_pawns = board.pawns & board.occupied_co[not side]
        own_attacks = _pawn_attacks(board, side)
        if (kings[side] | bishops[side]) & enemy_pawns:
            return False
        if own_attacks & (bishops[not side] | enemy_pawns):
            return False
        if bishops[side] & kings[not side]:
            return False
    return True


def _blocked(board: chess.Board, side: chess.Color) -> bool:
    """Every pawn of the side stands right before another pawn."""
    pawns = board.pawns & board.occupied_co[side]
    ahead = pawns << 8 if side else pawns >> 8
    return ahead & ~board.pawns == 0


def _pawn_attacks(board: chess.Board, side: chess.Color) -> chess.Bitboard:
    attacks = chess.BB_EMPTY
    for square in chess.scan_forward(board.pawns & board.occupied_co[side]):
        attacks |= chess.BB_PAWN_ATTACKS[side][square]
    return attacks


def _king_region(board: chess.Board, side: chess.Color) -> chess.Bitboard:
    """Squares the king can ever step on: never an own pawn, never a square an enemy pawn guards."""
    barred = (board.pawns & board.occupied_co[side]) | _pawn_attacks(board, not side)
    region = board.kings & board.occupied_co[side]
    frontier = region
    while frontier:
        step = chess.BB_EMPTY
        for square in chess.scan_forward(frontier):
            step |= chess.BB_KING_ATTACKS[square]
        frontier = step & ~barred & ~region
        region |= frontier
    return region


def _bishop_region(board: chess.Board, side: chess.Color) -> chess.Bitboard:
    """Squares the side's bishops can ever stand on or attack, with pawns as the only walls."""
    region = board.bishops & board.occupied_co[side]
    frontier = region
    while frontier:
        step = chess.BB_EMPTY
        for square in chess.scan_forward(frontier):
            step |= chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & board.pawns]
        reached = step & ~region
        region |= reached
        frontier = reached & ~board.pawns
    return region & ~(board.pawns & board.occupied_co[side])
