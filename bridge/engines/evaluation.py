"""What a position is worth on the board alone: material, a few habits of good pieces, and hunting a bare king."""

import chess

_MATERIAL_CP = ((chess.PAWN, 100), (chess.KNIGHT, 320), (chess.BISHOP, 330), (chess.ROOK, 500), (chess.QUEEN, 900))
_WIDE_CENTER = (chess.BB_RANK_3 | chess.BB_RANK_4 | chess.BB_RANK_5 | chess.BB_RANK_6) & (
    chess.BB_FILE_C | chess.BB_FILE_D | chess.BB_FILE_E | chess.BB_FILE_F
)
_FAR_CP = {
    chess.WHITE: ((chess.BB_RANK_5, 8), (chess.BB_RANK_6, 25), (chess.BB_RANK_7, 60)),
    chess.BLACK: ((chess.BB_RANK_4, 8), (chess.BB_RANK_3, 25), (chess.BB_RANK_2, 60)),
}
_HOME = {chess.WHITE: chess.BB_RANK_1, chess.BLACK: chess.BB_RANK_8}
_SHELTER = chess.BB_FILE_A | chess.BB_FILE_B | chess.BB_FILE_C | chess.BB_FILE_G | chess.BB_FILE_H


def evaluate(board: chess.Board) -> int:
    """Centipawns for the side to move."""
    return side_cp(board, board.turn) - side_cp(board, not board.turn)


def side_cp(board: chess.Board, side: chess.Color) -> int:
    """What one side has, in centipawns."""
    own = board.occupied_co[side]
    score = sum(worth * (own & board.pieces_mask(piece, side)).bit_count() for piece, worth in _MATERIAL_CP)
    pawns = board.pawns & own
    minors = (board.knights | board.bishops) & own
    score += 12 * (pawns & chess.BB_CENTER).bit_count() + 10 * (minors & _WIDE_CENTER).bit_count()
    score -= 12 * (minors & _HOME[side]).bit_count()
    score += sum(bonus * (pawns & rank).bit_count() for rank, bonus in _FAR_CP[side])
    if board.queens & ~own:
        score += 25 if board.kings & own & _HOME[side] & _SHELTER else 0
    if not board.occupied_co[not side] & ~board.kings & ~(board.knights | board.bishops):
        score += _hunt_cp(board, side)
    return score


def _hunt_cp(board: chess.Board, hunter: chess.Color) -> int:
    """A king with next to nothing is mated at the edge, with the other king close by."""
    prey, king = board.king(not hunter), board.king(hunter)
    assert prey is not None and king is not None, "both sides have a king"
    file, rank = chess.square_file(prey), chess.square_rank(prey)
    edge = max(3 - file, file - 4) + max(3 - rank, rank - 4)
    return 20 * edge + 8 * (7 - chess.square_distance(prey, king))
