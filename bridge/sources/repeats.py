"""Moves that bring a position back."""

import chess


def repeats(board: chess.Board, move: chess.Move) -> bool:
    """Whether the position after the move has been there before; the board is left as it was."""
    board.push(move)
    try:
        return board.is_repetition(2)
    finally:
        board.pop()
