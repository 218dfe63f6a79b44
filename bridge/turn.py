"""One move of ours: thought about once, then sent until the game's stream shows another position.

The platform's answer is no proof: a 200 can mean nothing, and an answer can be lost. So only the stream ends a turn,
and until then the move is sent again. That is safe where the played move leaves its square empty: only a later move of
ours can fill it, so the same move cannot be played twice. Where it does not (chess960: castling with a king that stays,
whose king could go to the rook's square next) the platform is told, and sends again only on its stream's fresh word.
Another move is chosen only after a refusal, and only once the stream has begun anew and still shows the position: else
it might meet a later one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

from bridge.errors import PlatformError, Refused
from bridge.interfaces import Choice, Platform, PlayMove
from bridge.rules.ledger import Ledger
from bridge.tasks import Tasks

log = structlog.get_logger("kirichess_turn")

_ECHO_S = 5.0
"""How long the stream may take to show an accepted move before it is sent again."""
_ANSWER_S = 0.5
"""How long an answer is waited for once the stream has shown the move: cutting its connection off at once would cost
the next move the time of a new one."""


class Turn:
    """Our move in the position `ledger` is at now. It begins at once and goes on until `end`.

    `sending` is called whenever the move is handed to the platform, `answered` with the round trip of one that went
    well.
    """

    def __init__(
        self,
        game_id: str,
        ledger: Ledger,
        choose: Callable[[], Awaitable[Choice]],
        platform: Platform,
        tasks: Tasks,
        sending: Callable[[], None] = lambda: None,
        answered: Callable[[int], None] = lambda trip_ms: None,
    ) -> None:
        self.moves = list(ledger.moves)
        self._game_id = game_id
        self._ledger = ledger
        self._choose = choose
        self._platform = platform
        self._sends = sending
        self._answered = answered
        self._sending = self._waiting = False
        self._over = False
        self._accepted = False
        self._told = False
        self._stands = asyncio.Event()
        self._task = tasks.spawn(self._run())

    def stands(self) -> None:
        """The stream has begun anew and shows the position unchanged: the move is owed, at once."""
        self._stands.set()

    def end(self) -> None:
        """The game has moved on: no more thinking, no more sending."""
        self._over = True
        if self._sending:
            asyncio.get_running_loop().call_later(_ANSWER_S, self._task.cancel)
        elif self._waiting:
            # A task that is cancelled is left to the garbage collector, by its traceback: one a move is many.
            self._stands.set()
        else:
            self._task.cancel()

    async def _run(self) -> None:
        choice = await self._choose() if self._is_now() else None
        while choice is not None and self._is_now():
            self._stands.clear()
            refused = await self._send(choice)
            if not refused:
                self._stands.clear()  # what the stream showed before the move was accepted does not count
            if await self._stood() and refused:
                choice = await self._choose()
                self._accepted = False

    def _is_now(self) -> bool:
        """The ledger may have moved on while the events that say so are being stored."""
        return not self._over and self._ledger.moves == self.moves

    async def _send(self, choice: Choice) -> bool:
        """True when the platform would not have the move."""
        self._sending = True
        try:
            repeatable = may_be_legal_again(self._ledger, choice.uci)
            self._sends()
            sent_s = time.perf_counter()
            await self._platform.perform(PlayMove(self._game_id, choice.uci, repeatable=repeatable))
            self._accepted = True
            self._answered(round(1000 * (time.perf_counter() - sent_s)))
        except PlatformError as error:
            # Once it was accepted, a refusal of the same move says that it stands: the stream is behind.
            tell = log.debug if self._accepted else log.error
            tell("move_failed", game=self._game_id, move=choice.uci, cause=str(error))
            return isinstance(error, Refused)
        finally:
            self._sending = False
        return False

    async def _stood(self) -> bool:
        """Wait for the stream: True when it began anew with the same position, False when it said nothing."""
        if self._over:
            return False
        self._waiting = True
        try:
            async with asyncio.timeout(_ECHO_S):
                await self._stands.wait()
        except TimeoutError:
            tell = log.debug if self._told else log.warning
            tell("move_not_shown", game=self._game_id, after_s=_ECHO_S, accepted=self._accepted)
            self._told = True
        finally:
            self._waiting = False
        return self._stands.is_set() and not self._over


def may_be_legal_again(ledger: Ledger, uci: str) -> bool:
    """Whether a legal move leaves a piece of ours on the square it starts from: only castling can."""
    move = ledger.read(uci)
    if not ledger.board.is_castling(move):
        return False
    board = ledger.board.copy(stack=False)
    board.push(move)
    return board.color_at(move.from_square) == ledger.turn
