"""Conversion bills of won endings (rules §7)."""

import chess
import pytest

from bridge.rules.bills import ENDINGS, conversion_bill, ending_name, stronger_side
from bridge.rules.pools import POOLS

ANCHOR = POOLS["anchor"]


@pytest.mark.parametrize(
    ("fen", "ending", "seconds", "moves"),
    [
        ("4k3/8/8/8/8/8/8/3QKR2 w - - 0 1", "K+Q+R v K", 21, 6),
        ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "K+2R v K", 24, 8),
        ("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", "K+Q v K", 48, 15),
        ("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1", "K+2B v K", 48, 28),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "K+P v K", 58, 25),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "K+R v K", 70, 28),
        ("4k3/8/8/8/8/8/8/1N2KB2 w - - 0 1", "K+B+N v K", 88, 50),
        ("3rk3/8/8/8/8/8/8/3QK3 b - - 0 1", "K+Q v K+R", 105, 30),
    ],
)
def test_the_listed_endings(fen: str, ending: str, seconds: int, moves: int) -> None:
    board = chess.Board(fen)
    for position, side in ((board, chess.WHITE), (board.mirror(), chess.BLACK)):
        bill = conversion_bill(position, side)
        assert bill is not None
        assert (bill.ending, bill.seconds, bill.moves) == (ending, seconds, moves)
        assert stronger_side(position, ANCHOR) is side
        assert conversion_bill(position, not side) is None
    assert ending in ENDINGS


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/B1B1K3 w - - 0 1",
        "4k3/8/8/8/8/8/4P3/3QK3 w - - 0 1",
    ],
)
def test_others_are_not_priced(fen: str) -> None:
    assert conversion_bill(chess.Board(fen), chess.WHITE) is None


def test_the_mating_moves_own_toll_need_not_be_covered() -> None:
    """K+Q: 48 s less the queen's 4 s; a clock of exactly 44 s is empty before the mating move."""
    bill = conversion_bill(chess.Board("4k3/8/8/8/8/8/8/3QK3 w - - 0 1"), chess.WHITE)
    assert bill is not None
    assert (bill.can_be_paid(44_001), bill.can_be_paid(44_000)) == (True, False)


def test_material_in_words_and_equal_sides() -> None:
    board = chess.Board("3rk3/8/8/8/8/8/4PP2/3QK3 w - - 0 1")
    assert ending_name(board, chess.BLACK) == "K+R v K+Q+P+P"
    assert stronger_side(chess.Board(), ANCHOR) is None
