"""Positions and moves as the rules see them, on top of `chess.Board` (rules step 3, R11, R19).

Boards here are always in chess960 mode, so castling is one thing: the king takes its own rook.
"""

from functools import lru_cache
from typing import TypeAlias

import chess

from bridge.errors import RecordError

Key: TypeAlias = tuple[int, ...]

_PIECES = str.maketrans("0123456789abcdef", "1PNBRQK??pnbrqk?")
_EMPTY = [("1" * length, f"{length}") for length in range(8, 1, -1)]
_CORNERS = [(chess.BB_H1, "K"), (chess.BB_A1, "Q"), (chess.BB_H8, "k"), (chess.BB_A8, "q")]

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


def to_san(board: chess.Board, move: chess.Move) -> str:
    """`board.san(move)` of a legal move, without the sign of a check: to tell it, that makes the move."""
    start, end = move.from_square, move.to_square
    if board.is_castling(move):
        return "O-O" if end > start else "O-O-O"
    kind = board.piece_type_at(start)
    assert kind is not None, "a legal move moves a piece"
    takes = "x" if board.is_capture(move) else ""
    if kind != chess.PAWN:
        return f"{_letter(kind)}{_which(board, move, kind)}{takes}{chess.SQUARE_NAMES[end]}"
    file = chess.FILE_NAMES[chess.square_file(start)] if takes else ""
    promotion = f"={_letter(move.promotion)}" if move.promotion else ""
    return f"{file}{takes}{chess.SQUARE_NAMES[end]}{promotion}"


def _letter(kind: chess.PieceType) -> str:
    return chess.piece_symbol(kind).upper()


def _which(board: chess.Board, move: chess.Move, kind: chess.PieceType) -> str:
    """The file or rank, or both, of the piece that moves, where others of its kind could go there too."""
    start, end = move.from_square, move.to_square
    reach = board.attackers_mask(board.turn, end) & board.pieces_mask(kind, board.turn) & ~chess.BB_SQUARES[start]
    others = [square for square in chess.scan_forward(reach) if board.is_legal(chess.Move(square, end))]
    if not others:
        return ""
    rank = any(chess.square_file(square) == chess.square_file(start) for square in others)
    file = not rank or any(chess.square_rank(square) == chess.square_rank(start) for square in others)
    name = chess.SQUARE_NAMES[start]
    return f"{name[0] if file else ''}{name[1] if rank else ''}"


def check_sign(board: chess.Board) -> str:
    """What the SAN of the last move ends with: `+`, `#` or nothing."""
    if not board.is_check():
        return ""
    return "+" if any(board.generate_legal_moves()) else "#"


def to_fen(board: chess.Board) -> str:
    """`board.fen()` in a fifth of its time: every ply that is stored has one."""
    # A hexadecimal digit for every square, from h8 to a1: the kind of the piece there (1 to 6), and 8 more for Black's.
    digits = _spread(board.pawns | board.bishops | board.queens)
    digits += _spread(board.knights | board.bishops | board.kings) << 1
    digits += _spread(board.rooks | board.queens | board.kings) << 2
    digits += _spread(board.occupied_co[chess.BLACK]) << 3
    squares = f"{digits:064x}".translate(_PIECES)[::-1]
    placement = "/".join([squares[start : start + 8] for start in range(56, -8, -8)])
    for run, length in _EMPTY:
        placement = placement.replace(run, length)
    turn = "w" if board.turn else "b"
    ep = chess.SQUARE_NAMES[board.ep_square] if board.ep_square and board.has_legal_en_passant() else "-"
    return f"{placement} {turn} {_castling(board)} {ep} {board.halfmove_clock} {board.fullmove_number}"


def _spread(squares: int) -> int:
    return int(f"{squares:b}", 16)


def _castling(board: chess.Board) -> str:
    """A rook in its corner is always the outermost: then it is called as everywhere."""
    rights = board.clean_castling_rights()
    if rights & ~chess.BB_CORNERS:
        return board.castling_xfen()
    return "".join([letter for corner, letter in _CORNERS if rights & corner]) or "-"


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
