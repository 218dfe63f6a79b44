"""Openings for paired games: eight random plies without a capture that leave the game even.

The list in `openings.txt` was made by `generate(20260, …)` with Stockfish 15.1; its first half is for tuning, the
second is held out: nothing may be chosen by looking at it.
"""

import random
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import chess

from bridge.errors import RecordError, UsageError
from bridge.rules.position import start_board

PLIES = 8
EVEN_CP = 50
NODES = 30_000
SEED = 20_260
SETS = ("tuning", "held-out")


def generate(seed: int, score_cp: Callable[[str], int | None]) -> Iterator[tuple[str, int]]:
    """FENs with their score from the side to move, for ever and no two alike; `score_cp` judges a FEN."""
    lot = random.Random(seed)
    told: set[str] = set()
    while True:
        board = _random_line(lot)
        if board is None or board.epd() in told:
            continue
        score = score_cp(board.fen())
        if score is not None and abs(score) <= EVEN_CP:
            told.add(board.epd())
            yield board.fen(), score


def _random_line(lot: random.Random) -> chess.Board | None:
    board = chess.Board()
    for _ in range(PLIES):
        moves = sorted(board.legal_moves, key=str)
        if not moves:
            return None
        move = lot.choice(moves)
        if board.is_capture(move):
            return None
        board.push(move)
    return board if any(board.legal_moves) else None


@cache
def openings(which: str) -> tuple[str, ...]:
    """The FENs of a set: `tuning` or `held-out`."""
    text = (files("bridge.lab") / "openings.txt").read_text("utf-8")
    fens = [line.partition(";")[0].strip() for line in text.splitlines() if line and not line.startswith("#")]
    half = len(fens) // 2
    return tuple(fens[:half] if which == SETS[0] else fens[half:])


def read_openings(path: Path) -> tuple[str, ...]:
    """A file of one FEN a line; what follows a `;` and lines that begin with `#` are comments.

    Raises:
        UsageError: no such file, a line that is no position, or none at all.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as openings (known sets: {', '.join(SETS)})") from error
    fens = [line.partition(";")[0].strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for number, fen in enumerate(fens, 1):
        try:
            start_board(fen)
        except RecordError as error:
            raise UsageError(f"{path}: opening {number}: {error}") from error
    if not fens:
        raise UsageError(f"{path}: holds no opening")
    return tuple(fens)
