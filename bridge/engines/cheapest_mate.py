"""The cheapest forced win in seconds, not the shortest in moves: a king's step costs less than a queen's.

Exhaustive within a few moves, both clocks in the state; the move that wins pays nothing, since mate outranks a flag.
"""

from collections.abc import Iterable, Iterator

import chess

from bridge.engines.flag_search import Spent
from bridge.engines.line import Line
from bridge.rules.endings import Outcome

MOST_MOVES = 3
"""Beyond it are too many lines to look at."""


class MateSearch:
    """Wins on one line. `most_nodes` is the value of `line.nodes` at which `Spent` is raised."""

    def __init__(self, line: Line, most_nodes: int) -> None:
        self.line = line
        self.most_nodes = most_nodes

    def cheapest(self, within: int, candidates: Iterable[chess.Move]) -> tuple[chess.Move, int] | None:
        """The candidate that leaves our clock (ms) most when the game is won within so many moves, whatever the other
        side does; of equals the first. None: no win is proven."""
        best: tuple[chess.Move, int] | None = None
        for move in candidates:
            left_ms = self._after(move, within, 0 if best is None else best[1])
            if left_ms is not None:
                best = move, left_ms
        return best

    def _after(self, move: chess.Move, moves: int, floor_ms: int) -> int | None:
        """What our clock has left when the move wins, if that is more than `floor_ms`."""
        line, me = self.line, self.line.board.turn
        before_ms = line.clock_ms[me]
        if before_ms <= floor_ms or (moves == 1 and not self._may_win(move)):
            return None
        outcome = self._push(move)
        if outcome is not None:
            left_ms = before_ms if outcome.winner == me else None
        elif moves > 1 and line.clock_ms[me] > floor_ms:
            left_ms = self._whatever_they_do(moves - 1, floor_ms)
        else:
            left_ms = None
        line.pop()
        return left_ms

    def _whatever_they_do(self, moves: int, floor_ms: int) -> int | None:
        line, me = self.line, not self.line.board.turn
        least_ms: int | None = None
        for reply in line.board.legal_moves:
            outcome = self._push(reply)
            if outcome is None:
                left_ms = max(self._wins(moves, floor_ms), default=None)
            else:
                left_ms = line.clock_ms[me] if outcome.winner == me else None
            line.pop()
            if left_ms is None:
                return None
            least_ms = left_ms if least_ms is None else min(least_ms, left_ms)
        return least_ms

    def _wins(self, moves: int, floor_ms: int) -> Iterator[int]:
        for move in self.line.board.legal_moves:
            left_ms = self._after(move, moves, floor_ms)
            if left_ms is not None:
                floor_ms = left_ms
                yield left_ms
                if moves == 1:
                    return

    def _push(self, move: chess.Move) -> Outcome | None:
        if self.line.nodes >= self.most_nodes:
            raise Spent
        return self.line.push(move)

    def _may_win(self, move: chess.Move) -> bool:
        self.line.nodes += 1
        return self.line.board.gives_check(move)
