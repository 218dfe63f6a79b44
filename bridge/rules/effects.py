"""What one move does to the clocks: capture, toll, fee, chip, and the guard over them (rules §1, steps 3 and 4)."""

from collections.abc import Container
from dataclasses import dataclass
from functools import lru_cache

import chess

from bridge.rules.dials import Prices
from bridge.rules.position import Key, position_key


@dataclass(frozen=True, slots=True)
class Effects:
    """The layers of one ply in milliseconds; `captured` is None where nothing was taken or the ply was guarded.

    Mover: + gain − toll − fee + chip. Opponent: − loss − chip.
    """

    captured: chess.PieceType | None = None
    gain_ms: int = 0
    loss_ms: int = 0
    toll_ms: int = 0
    fee_ms: int = 0
    chip_ms: int = 0
    guarded: bool = False

    @property
    def mover_ms(self) -> int:
        """What the mover's clock changes by, without thinking and increment."""
        return self.gain_ms - self.toll_ms - self.fee_ms + self.chip_ms

    @property
    def opponent_ms(self) -> int:
        """What the other clock changes by."""
        return -self.loss_ms - self.chip_ms


GUARDED = Effects(guarded=True)


def push(board: chess.Board, move: chess.Move, prices: Prices, seen: Container[Key]) -> tuple[Effects, Key, bool]:
    """Make a legal move; return its effects, the key of the new position, and whether it is checkmate.

    `seen` holds the keys of every earlier position of the game, the start included (R15).
    """
    piece = board.piece_type_at(move.from_square)
    assert piece is not None, "a legal move moves a piece"
    castling = piece == chess.KING and bool(board.occupied_co[board.turn] & chess.BB_SQUARES[move.to_square])
    captured = None if castling else _captured(board, piece, move)
    board.push(move)
    key = position_key(board)
    checkers = board.checkers_mask()
    mate = bool(checkers) and not any(board.generate_legal_moves())
    if key in seen:
        return GUARDED, key, mate
    # Two bits at least: checkers & (checkers - 1) clears the lowest one.
    checks = 0 if mate or not checkers else 2 if checkers & (checkers - 1) else 1
    return _effects(prices, captured, piece, castling, move.promotion, checks), key, mate


@lru_cache(maxsize=4096)
def _effects(
    prices: Prices,
    captured: chess.PieceType | None,
    piece: chess.PieceType,
    castling: bool,
    promotion: chess.PieceType | None,
    checks: int,
) -> Effects:
    """The layers of an unguarded ply; there are some hundred different ones in an economy."""
    return Effects(
        captured,
        prices.gain_ms[captured] if captured else 0,
        prices.loss_ms[captured] if captured else 0,
        prices.castling_ms if castling else prices.toll_ms[piece],
        prices.fee_ms[promotion] if promotion else 0,
        (0, prices.chip_ms, prices.double_chip_ms)[checks],
    )


def _captured(board: chess.Board, piece: chess.PieceType, move: chess.Move) -> chess.PieceType | None:
    captured = board.piece_type_at(move.to_square)
    if captured is None and piece == chess.PAWN and (move.to_square - move.from_square) % 8:
        return chess.PAWN
    return captured


def dearest_toll_ms(board: chess.Board, side: chess.Color, prices: Prices) -> int:
    """The most a move of the side's pieces costs (rule 2), castling and fees apart."""
    own = board.occupied_co[side]
    kinds = board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings
    return max([toll_ms for toll_ms, kind in zip(prices.toll_ms[1:], kinds, strict=True) if kind & own])
