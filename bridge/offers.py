"""Draws and takebacks between the two sides: what has been offered, and what we answer.

What stands is what the game's stream says last; what failed, or was answered by a silent 200, is asked again, calmly.
"""

from collections.abc import Callable
from functools import partial

import chess

from bridge.decisions.turn import Seat, wants_draw
from bridge.errands import Errands
from bridge.interfaces import AnswerDraw, AnswerTakeback, GameOpened, GameState
from bridge.rules.ledger import Ledger

_DRAW_AGAIN_S = 10.0
_TAKEBACK_AGAIN_S = 5.0


class Offers:
    """One game's offers. A draw is offered once: `offered`, it has been before; `stood` is called when it is.

    `takebacks`: so many are granted, in this game.
    """

    def __init__(
        self,
        game_id: str,
        seat: Seat,
        ledger: Ledger,
        errands: Errands,
        *,
        offered: bool = False,
        likes_a_draw: Callable[[bool], bool] = lambda theirs: False,
        stood: Callable[[], object] = lambda: None,
        takebacks: int = 0,
    ) -> None:
        self._game_id = game_id
        self._seat = seat
        self._ledger = ledger
        self._errands = errands
        self._offered = offered
        self._likes_a_draw = likes_a_draw
        self._stood = stood
        self._most_takebacks = takebacks
        self._draws: frozenset[chess.Color] = frozenset()
        self._takebacks: frozenset[chess.Color] = frozenset()

    def stand(self, message: GameOpened | GameState) -> None:
        """Take in what the stream says of them."""
        self._draws, self._takebacks = message.draw_offers, message.takeback_offers
        if self._seat.side in self._draws and not self._offered:
            self._offered = True
            self._stood()

    def sit(self, seat: Seat) -> None:
        """KiriChess acts from now on, or does not any more."""
        self._seat = seat

    def answer(self) -> None:
        """See to it that everything gets its answer."""
        if self._wants_draw():
            draw = AnswerDraw(self._game_id, accept=True)
            self._errands.while_wanted("draw", draw, self._wants_draw, every_s=_DRAW_AGAIN_S)
        else:
            self._errands.review("draw")
        for accept, name in ((True, "takeback"), (False, "no takeback")):
            if self._answers_takeback(accept):
                answer, wanted = AnswerTakeback(self._game_id, accept=accept), partial(self._answers_takeback, accept)
                self._errands.while_wanted(name, answer, wanted, every_s=_TAKEBACK_AGAIN_S)
            else:
                self._errands.review(name)

    @property
    def accepts_draw(self) -> bool:
        """Whether the opponent's offer stands and we take it."""
        return (not self._seat.side) in self._draws and self._wants_draw()

    def _wants_draw(self) -> bool:
        theirs = (not self._seat.side) in self._draws
        if wants_draw(self._ledger, self._seat, theirs=theirs, offered=self._offered):
            return True
        open_yet = self._ledger.platform is None and (theirs or not self._offered)
        return open_yet and self._likes_a_draw(theirs)

    def _answers_takeback(self, accept: bool) -> bool:
        """What was decided by KiriChess is not played again."""
        if not self._takebacks:
            return False
        ledger = self._ledger
        decided = self._seat.acts and ledger.outcome is not None
        grants = ledger.takebacks < self._most_takebacks and not decided
        return ledger.platform is None and (not self._seat.side) in self._takebacks and accept is grants
