"""A small search that knows what time is worth: two plies and captures, over board and clocks together.

Pure: the clock is somebody else's (`out_of_time`), and so is the luck (`lot`). Scores are centipawns from the side
to move. A flag that falls ends a line exactly as mate does.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import chess

from bridge.engines import view
from bridge.engines.line import Line
from bridge.engines.uci_info import MATE_CP
from bridge.rules.endings import Outcome

WIN_CP = 1_000_000
PLY_CP = 100
"""What a win loses in worth with every ply it is away; more than luck can make up."""
MAX_DEPTH = 3
_CAPTURES_DEPTH = 4
_LUCK_CP = 8
_REPEAT_CP = 60
_WORTH = (0, 1, 3, 3, 5, 9, 0)


class OutOfTime(Exception):
    """The search was cut short; what it had found by then counts."""


@dataclass(frozen=True, slots=True)
class Found:
    """The best move, its score, and the depth in plies that was searched in full.

    `others`: what was looked at beside it, best first, each with what it is worth at most.
    """

    move: chess.Move
    score_cp: int
    depth: int
    others: tuple[tuple[chess.Move, int], ...] = ()

    def told(self, spell: Callable[[chess.Move], str]) -> view.Found:
        """As an engine tells what it found: moves as UCI, scores between those of mates, the others worst first."""
        best, *others = (
            view.Found(spell(move), max(-MATE_CP, min(MATE_CP, score_cp)), self.depth)
            for move, score_cp in ((self.move, self.score_cp), *self.others)
        )
        return replace(best, earlier=tuple(reversed(others)))


def find_move(
    line: Line, out_of_time: Callable[[], bool], lot: random.Random, moves: Sequence[chess.Move] | None = None
) -> Found:
    """The best move within the time, of these or of all; at the least every one is looked at one ply deep.

    There must be a legal move. `line` is as before afterwards.
    """
    luck = {move: lot.uniform(0, _LUCK_CP) for move in sorted(moves or line.board.legal_moves, key=str)}
    scores = {move: _shallow(line, move) + luck[move] for move in luck}
    best = max(scores, key=scores.__getitem__)
    found = Found(best, round(scores[best]), 1)
    height = len(line.board.move_stack)
    for depth in range(1, MAX_DEPTH + 1):
        order = sorted(scores, key=scores.__getitem__, reverse=True)
        scores = {}
        try:
            for move in order:
                alpha = max(scores.values(), default=-math.inf)
                scores[move] = _search_root(line, move, depth, alpha - luck[move], out_of_time) + luck[move]
        except OutOfTime:
            while len(line.board.move_stack) > height:
                line.pop()
        if scores:
            best = max(scores, key=scores.__getitem__)
            complete = len(scores) == len(order)
            others = sorted(((move, round(scores[move])) for move in scores if move != best), key=lambda one: -one[1])
            found = Found(best, round(scores[best]), depth if complete else found.depth, tuple(others))
        if len(scores) < len(order) or abs(found.score_cp) > WIN_CP // 2:
            break
    return found


def _shallow(line: Line, move: chess.Move) -> float:
    outcome = line.push(move)
    score = _worth(outcome, not line.board.turn, 1) if outcome else -line.score_cp()
    line.pop()
    return score


def _search_root(line: Line, move: chess.Move, depth: int, alpha: float, out_of_time: Callable[[], bool]) -> float:
    outcome = line.push(move)
    if outcome is not None:
        score = _worth(outcome, not line.board.turn, 1)
    else:
        score = -_negamax(line, depth - 1, -math.inf, -alpha, 1, out_of_time)
        if score > 0 and line.repeats:
            score -= _REPEAT_CP
    line.pop()
    return score


def _negamax(line: Line, depth: int, alpha: float, beta: float, ply: int, out_of_time: Callable[[], bool]) -> float:
    """Fail-soft alpha-beta; below depth 0 only captures, of which none is compulsory."""
    if out_of_time():
        raise OutOfTime
    best = -math.inf
    moves: Iterable[chess.Move] = line.board.generate_legal_moves()
    if depth <= 0:
        best = line.score_cp()
        if best >= beta or depth <= -_CAPTURES_DEPTH:
            return best
        moves = line.board.generate_legal_captures()
    for move in sorted(moves, key=lambda move: _promise(line.board, move), reverse=True):
        outcome = line.push(move)
        if outcome is not None:
            score = _worth(outcome, not line.board.turn, ply + 1)
        else:
            score = -_negamax(line, depth - 1, -beta, -max(alpha, best), ply + 1, out_of_time)
        line.pop()
        best = max(best, score)
        if best >= beta:
            break
    return best


def _worth(outcome: Outcome, side: chess.Color, ply: int) -> float:
    if outcome.winner is None:
        return 0
    win = WIN_CP - PLY_CP * ply
    return win if outcome.winner == side else -win


def _promise(board: chess.Board, move: chess.Move) -> int:
    """Dear pieces taken by cheap ones first, then promotions: early cuts make the search quick."""
    captured = board.piece_type_at(move.to_square) if board.occupied & chess.BB_SQUARES[move.to_square] else None
    gain = 10 * _WORTH[captured] - _WORTH[board.piece_type_at(move.from_square) or 0] if captured else 0
    return gain + 10 * _WORTH[move.promotion or 0]
