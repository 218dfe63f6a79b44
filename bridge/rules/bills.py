"""Conversion bills: what winning a won ending costs in tolls (rules §7; approximate, textbook play, no chips)."""

from collections.abc import Mapping
from dataclasses import dataclass

import chess

from bridge.rules.dials import Dials


@dataclass(frozen=True, slots=True)
class Bill:
    """What one side pays to win: the tolls of `moves` moves in whole seconds, and the toll of the mating move.

    That last one need not be covered: checkmate outranks the flag.
    """

    ending: str
    seconds: int
    moves: int
    last_toll_s: int

    def can_be_paid(self, clock_ms: int) -> bool:
        """Whether a clock lives until the mating move, all thinking apart."""
        return clock_ms > (self.seconds - self.last_toll_s) * 1000


_BILLS: Mapping[tuple[str, str], Bill] = {
    ("QR", ""): Bill("K+Q+R v K", 21, 6, 3),
    ("RR", ""): Bill("K+2R v K", 24, 8, 3),
    ("Q", ""): Bill("K+Q v K", 48, 15, 4),
    ("BB", ""): Bill("K+2B v K", 48, 28, 2),
    ("P", ""): Bill("K+P v K", 58, 25, 4),
    ("R", ""): Bill("K+R v K", 70, 28, 3),
    ("BN", ""): Bill("K+B+N v K", 88, 50, 2),
    ("Q", "R"): Bill("K+Q v K+R", 105, 30, 4),
}
"""(own men, the other side's men) without kings → bill. Where two pieces can mate, the cheaper toll is left out."""

ENDINGS = tuple(bill.ending for bill in _BILLS.values())
_ORDER = "QRBNP"


def conversion_bill(board: chess.Board, side: chess.Color) -> Bill | None:
    """The bill of the side's winning ending; None where it is not in the list."""
    bishops = board.pieces(chess.BISHOP, side)
    if len(bishops) == 2 and (not bishops & chess.BB_LIGHT_SQUARES or not bishops & chess.BB_DARK_SQUARES):
        return None
    return _BILLS.get((_men(board, side), _men(board, not side)))


def ending_name(board: chess.Board, side: chess.Color) -> str:
    """The material, the side's first: `K+Q v K+R`."""
    return " v ".join("+".join(["K", *_men(board, colour)]) for colour in (side, not side))


def stronger_side(board: chess.Board, dials: Dials) -> chess.Color | None:
    """Who has more, by capture values; None where they are equal."""
    names = {
        "pawn": chess.PAWN,
        "knight": chess.KNIGHT,
        "bishop": chess.BISHOP,
        "rook": chess.ROOK,
        "queen": chess.QUEEN,
    }
    worth = {
        side: sum(dials.values_s[name] * len(board.pieces(piece, side)) for name, piece in names.items())
        for side in chess.COLORS
    }
    if worth[chess.WHITE] == worth[chess.BLACK]:
        return None
    return worth[chess.WHITE] > worth[chess.BLACK]


def _men(board: chess.Board, side: chess.Color) -> str:
    men = [chess.piece_symbol(piece.piece_type).upper() for piece in board.piece_map().values() if piece.color == side]
    return "".join(sorted((man for man in men if man != "K"), key=_ORDER.index))
