"""What our engine and tables have made of one game, and what follows from it: it is given up, a draw is good enough."""

from collections.abc import Callable, Mapping

from bridge.decisions.draw import DrawTerms, cannot_pay, is_level, must_fall
from bridge.decisions.resign import ResignTerms, gives_up
from bridge.decisions.time_budget import hurried
from bridge.decisions.turn import Seat
from bridge.interfaces import Choice
from bridge.records.evaluations import Evaluation
from bridge.rules.ledger import Ledger


class Opinion:
    """One game's. `resign`, `draw`: the terms against this opponent; `thoughts`: by ply, of our moves so far.

    `keep` is given what is thought of each new one.
    """

    def __init__(
        self,
        seat: Seat,
        ledger: Ledger,
        resign: ResignTerms,
        draw: DrawTerms,
        thoughts: Mapping[int, Evaluation | None],
        keep: Callable[[Evaluation], None],
    ) -> None:
        self._seat = seat
        self._ledger = ledger
        self._resign = resign
        self._draw = draw
        self._scores_cp: dict[int, int | None] = {}
        self._keep = keep
        self._wdl: int | None = None
        self._drawn_at: list[str] | None = None
        """The moves to the position that tables called drawn, where chess alone decides."""
        self.told = ""
        """Of the last move that had a score, from White's side."""
        for ply, thought in thoughts.items():
            self._hold(ply, thought)

    def sit(self, seat: Seat) -> None:
        """KiriChess acts from now on, or does not any more."""
        self._seat = seat

    def take(self, choice: Choice, moves: list[str]) -> None:
        """What was chosen after `moves`; of two choices for one ply the later counts."""
        ply, thought = len(moves) + 1, None
        if choice.score_cp is not None:
            thought = Evaluation(ply, choice.uci, choice.score_cp, choice.depth, choice.trusted)
            self._keep(thought)
        self._hold(ply, thought)
        # Tables know nothing of the clocks that decide KiriChess games.
        self._wdl = choice.wdl if not self._seat.acts or self._ledger.outcome is not None else None
        self._drawn_at = moves if self._wdl == 0 else None

    def _hold(self, ply: int, thought: Evaluation | None) -> None:
        self._scores_cp[ply] = thought.score_cp if thought is not None and thought.trusted else None
        if thought is not None:
            self.told = thought.for_white(self._seat.side)

    @property
    def gives_up(self) -> bool:
        """Whether the game is resigned, by the move that was taken last."""
        if not self._resign.enabled or self._is_hurried():
            return False
        return gives_up(self._ledger, self._scores(), self._resign, self._wdl)

    def likes_a_draw(self, theirs: bool) -> bool:
        """By the engine's scores or by tables; one that is offered also where, for certain, our win cannot be paid or
        our flag not be saved."""
        ledger, side = self._ledger, self._seat.side
        if theirs and self._seat.acts and ledger.certain and (cannot_pay(ledger, side) or must_fall(ledger, side)):
            return True
        if not self._draw.enabled or self._is_hurried():
            return False
        # What was drawn before our move is so after it; not any more after the opponent's.
        ours_last = ledger.moves[:-1] if ledger.turn != side else ledger.moves
        drawn = self._drawn_at is not None and self._drawn_at == ours_last
        return is_level(ledger, self._scores(), self._draw, 0 if drawn else None)

    def _scores(self) -> list[int | None]:
        """Of the moves that stand, and of the one that is to be played; not of those that were taken back."""
        return [score for ply, score in sorted(self._scores_cp.items()) if ply <= len(self._ledger.moves) + 1]

    def _is_hurried(self) -> bool:
        """An opponent whose flag is near is owed neither the point nor half of it."""
        return hurried(self._ledger, not self._seat.side, plain=not self._seat.acts)
