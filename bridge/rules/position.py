"""Positions and moves as the rules see them, on top of `chess.Board` (rules step 3, R11, R19).

Boards here are always in chess960 mode, so castling is one thing: the king takes its own rook.
"""

from functools import lru_cache
from typing import TypeAlias

import chess

from bridge.errors import RecordError

Key: TypeAlias = tuple[int, ...]

_HOPELESS = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_EMPTY
)


def start_board(fen: str | None) -> chess.Board:
    """The start position; None or "startpos" is the usual one.

    Raises:
        RecordError: the FEN cannot be read, or no chess game can stand so (a missing king, pawns on the back rank,
            the side not to move in check).
    """
    if fen is None or fen == "startpos":
        return chess.Board(chess960=True)
    try:
        board = chess.Board(fen, chess960=True)
    except ValueError as error:
        raise RecordError(f"bad FEN {fen!r}: {error}") from error
    if board.status() & _HOPELESS:
        raise RecordError(f"bad FEN {fen!r}: {_why(board)}")
    return board


def _why(board: chess.Board) -> str:
    status = board.status() & _HOPELESS
    return ", ".join((flag.name or "?").lower().replace("_", " ") for flag in chess.Status if flag & status)


@lru_cache(maxsize=4096)
def _parse(uci: str) -> chess.Move:
    """Moves are never changed, and there are fewer than these. A king that castles can stay where it is (R11)."""
    if len(uci) == 4 and uci[:2] == uci[2:]:
        square = chess.parse_square(uci[:2])
        return chess.Move(square, square)
    return chess.Move.from_uci(uci)


def read_move(board: chess.Board, uci: str) -> chess.Move:
    """A legal move in UCI; castling in either spelling (R11).

    King takes own rook is always castling; king to its destination is castling only if it is no legal king move.

    Raises:
        RecordError: not UCI, or not legal here.
    """
    try:
        move = _parse(uci if uci.islower() else uci.lower())
    except ValueError as error:
        raise RecordError(f"illegal move {uci!r}: not UCI") from error
    if board.is_legal(move):
        return move
    castling = _castling_to(board, move)
    if castling is None:
        raise RecordError(f"illegal move {uci!r} in {board.fen()}")
    return castling


def read_legal(board: chess.Board, uci: str) -> chess.Move:
    """`read_move` of a move known to be legal: only a king's can be spelled in two ways."""
    move = _parse(uci)
    return read_move(board, uci) if board.kings & chess.BB_SQUARES[move.from_square] else move


def _castling_to(board: chess.Board, move: chess.Move) -> chess.Move | None:
    if not board.kings & chess.BB_SQUARES[move.from_square] or move.promotion is not None:
        return None
    for castling in board.generate_castling_moves(chess.BB_SQUARES[move.from_square]):
        file = 6 if castling.to_square > castling.from_square else 2
        if move.to_square == chess.square(file, chess.square_rank(move.from_square)):
            return castling
    return None


def to_fen(board: chess.Board) -> str:
    """`board.fen()` in a tenth of its time: every ply that is stored has one."""
    kinds = board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings
    planes = [plane.to_bytes(8) for plane in (board.occupied_co[chess.WHITE], *kinds)]
    placement = "/".join(map(_rank, *planes))
    turn = "w" if board.turn else "b"
    ep = chess.SQUARE_NAMES[board.ep_square] if board.ep_square and board.has_legal_en_passant() else "-"
    return f"{placement} {turn} {board.castling_xfen()} {ep} {board.halfmove_clock} {board.fullmove_number}"


@lru_cache(maxsize=2048)
def _rank(white: int, *kinds: int) -> str:
    """A rank of a FEN, of a byte for each kind of piece; there are few that come up again and again."""
    text, empty = "", 0
    for file in range(8):
        piece = next((piece for piece, plane in zip(chess.PIECE_TYPES, kinds, strict=True) if plane >> file & 1), None)
        if piece is None:
            empty += 1
            continue
        text += f"{empty or ''}{chess.Piece(piece, bool(white >> file & 1)).symbol()}"
        empty = 0
    return f"{text}{empty or ''}"


def position_key(board: chess.Board) -> Key:
    """What makes two positions the same (FIDE): placement, side to move, castling rights, a *legal* en passant."""
    return (
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
        board.occupied_co[chess.WHITE],
        board.turn,
        board.clean_castling_rights() if board.castling_rights else 0,
        board.ep_square if board.ep_square and board.has_legal_en_passant() else 0,
    )
