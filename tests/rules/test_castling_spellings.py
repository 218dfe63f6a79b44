"""R11: every way to write castling, in usual and in chess960 positions."""

import chess
import pytest

from bridge.rules.position import read_move, start_board


@pytest.mark.parametrize(
    ("placement", "rights", "uci", "castles"),
    [
        ("4k3/8/8/8/8/8/8/4K2R", "K", "e1g1", "e1h1"),
        ("4k3/8/8/8/8/8/8/4K2R", "K", "e1h1", "e1h1"),
        ("4k3/8/8/8/8/8/8/6KR", "H", "g1h1", "g1h1"),
        ("4k3/8/8/8/8/8/8/6KR", "H", "g1g1", "g1h1"),
        ("4k3/8/8/8/8/8/8/R1K4R", "HA", "c1c1", "c1a1"),
        ("4k3/8/8/8/8/8/8/R1K4R", "HA", "c1g1", "c1h1"),
        ("4k3/8/8/8/8/8/8/RK5R", "HA", "b1a1", "b1a1"),
    ],
)
def test_castling(placement: str, rights: str, uci: str, castles: str) -> None:
    board = start_board(f"{placement} w {rights} - 0 1")
    move = read_move(board, uci)
    assert (move.uci(), board.is_castling(move)) == (castles, True)


@pytest.mark.parametrize("rank", ["1", "8"])
def test_a_king_that_stays_castles_for_either_side(rank: str) -> None:
    fen = "4k3/8/8/8/8/8/8/R1K5 w A - 0 1" if rank == "1" else "r1k5/8/8/8/8/8/8/4K3 b a - 0 1"
    assert start_board(fen).is_castling(read_move(start_board(fen), f"c{rank}c{rank}"))


def test_a_legal_king_move_is_a_king_move() -> None:
    board = start_board("4k3/8/8/8/8/8/8/RK5R w HA - 0 1")
    assert read_move(board, "b1c1") == chess.Move.from_uci("b1c1")
