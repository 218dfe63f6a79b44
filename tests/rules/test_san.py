"""SAN as python-chess writes it, worked out once for each ply that is stored."""

import random

import chess
import pytest

from bridge.rules.position import check_sign, to_san

POSITIONS = [
    *(None, "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "k7/8/8/3q1q2/8/3q4/8/K7 b - - 0 1"),
    *("6k1/8/8/2N1N3/8/2N1N3/8/K7 w - - 0 1", "3k4/1P1P4/2p5/8/8/8/1p4p1/R3K2R w KQ - 0 1"),
    *("k3r3/8/8/4R3/8/4K2R/8/8 w - - 0 1", "8/8/8/1KPpr2k/8/8/8/8 w - d6 0 2"),
]


@pytest.mark.parametrize("fen", POSITIONS)
def test_every_move_of_random_games(fen: str | None) -> None:
    lot = random.Random(7)
    for number in range(8):
        board = chess.Board(fen, chess960=True) if fen else chess.Board.from_chess960_pos(lot.randrange(960))
        for _ in range(60):
            for move in board.legal_moves:
                said = to_san(board, move)
                expected = board.san(move)
                board.push(move)
                said += check_sign(board)
                board.pop()
                assert said == expected, (number, board.fen(), move)
            if board.is_game_over():
                break
            board.push(lot.choice([*board.legal_moves]))
