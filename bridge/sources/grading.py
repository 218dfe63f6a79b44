"""What tables say of every legal move → the move, or the moves that give nothing away."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import chess

from bridge.interfaces import Choice, Limit, RootMoves
from bridge.rules.ledger import Ledger

Quality: TypeAlias = Literal["best", "suggest"]
_WON_CP = 20_000
_NAMES = {2: "wins", 1: "wins but for the fifty moves", 0: "draws", -1: "loses but for the fifty moves", -2: "loses"}


@dataclass(frozen=True, slots=True)
class Grade:
    """One move: `wdl` from 2 (won) to -2 for the mover, and how far the end (or the next capture or pawn move) is."""

    uci: str
    wdl: int
    distance: int | None = None


def grade_moves(
    board: chess.Board, chess960: bool, probe: Callable[[chess.Board], tuple[int, int | None]]
) -> list[Grade]:
    """Every legal move, by what `probe` says of the position after it: its wdl and distance for the side to move."""
    grades = []
    for move in list(board.legal_moves):
        uci = board.uci(move, chess960=chess960)
        board.push(move)
        if board.is_checkmate():
            grades.append(Grade(uci, 2, 0))
        elif board.is_stalemate() or board.is_insufficient_material():
            grades.append(Grade(uci, 0))
        else:
            wdl, distance = probe(board)
            # A win that the other side can claim as a draw is none.
            drawn = board.halfmove_clock >= 100 or board.is_repetition(3)
            grades.append(Grade(uci, 0) if drawn else Grade(uci, -wdl, distance))
        board.pop()
    return grades


def advice(grades: Sequence[Grade], quality: Quality, ledger: Ledger, limit: Limit, name: str) -> Choice | RootMoves:
    """Of the moves with the best outcome the nearest end of a win, the farthest of a loss; or all of them.

    Where KiriChess acts the engine chooses among them: no table knows of tolls and flags.
    """
    most = max(grade.wdl for grade in grades)
    kept = [grade for grade in grades if grade.wdl == most]
    kept.sort(key=lambda grade: (grade.distance or 0) * (1 if most > 0 else -1))
    why = f"{name}: {_NAMES[most]}"
    acts = not limit.plain and ledger.outcome is None
    if quality == "suggest" or acts or any(grade.distance is None for grade in kept if most):
        return RootMoves(tuple(grade.uci for grade in kept), why, most)
    return Choice(kept[0].uci, (most // 2 if most > 0 else -(-most // 2)) * _WON_CP, why=why, wdl=most)
