"""What one game still has to store: in order, again and again until the journal takes it.

A game waits for the journal, so that what is shown or done stands in it first; but not for one that cannot be written
(a full disk, a lock): then it goes on from memory, and what was not stored is stored as soon as that works again.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from bridge.errors import JournalError
from bridge.interfaces import Draft, Entry, Journal

log = structlog.get_logger("kirichess_tracker")

_PATIENCE_S = 1.0
"""How long a game waits for a journal that does not answer."""
_PAUSES_S = (0.5, 30.0)
"""Between tries: the first pause, doubled up to the last."""


class Outbox:
    """The drafts of one game on their way into the journal."""

    def __init__(self, journal: Journal, game_id: str) -> None:
        self._journal = journal
        self._game_id = game_id
        self._waiting: list[Draft] = []
        self._on_their_way = 0
        """So many of them, the first ones."""
        self._patient: list[asyncio.Future[None]] = []
        self._hurried: list[asyncio.Future[None]] = []
        self._storing = False
        self._pause: asyncio.Task[None] | None = None
        self._pause_s = _PAUSES_S[0]
        self._failing = False
        self._closed = False

    def put(self, drafts: Sequence[Draft]) -> None:
        """Have them stored, after all that was put before."""
        self._waiting += drafts
        if self._waiting and not self._storing:
            self._storing = True
            self._store()

    async def stored(self) -> None:
        """Wait until everything is stored, or the journal turns out not to take it now."""
        if self._storing and not self._failing:
            waiter = _waiter(self._hurried)
            patience = asyncio.get_running_loop().call_later(_PATIENCE_S, _let_go, waiter)
            try:
                await waiter
            finally:
                patience.cancel()

    async def empty(self) -> None:
        """Wait until everything is stored, however long it takes."""
        if self._storing:
            await _waiter(self._patient)

    def close(self) -> None:
        """Try no more after the next failure."""
        self._closed = True

    def drop(self) -> None:
        """Store nothing but what is on its way: whoever takes the game up next works the rest out anew from the
        platform's game, and it would stand there twice."""
        self.close()
        del self._waiting[self._on_their_way :]
        if not self._on_their_way:
            if self._pause is not None:
                self._pause.cancel()
            self._rest()

    def _store(self) -> None:
        # No task waits for the answer: one for every ply would be many.
        batch = tuple(self._waiting)
        self._on_their_way = len(batch)
        self._journal.put(batch).add_done_callback(self._answered)

    def _answered(self, answer: asyncio.Future[list[Entry]]) -> None:
        events, self._on_their_way = self._on_their_way, 0
        error = None if answer.cancelled() else answer.exception()
        if isinstance(error, JournalError):
            self._fails(events, error)
        elif error is not None or answer.cancelled():
            self._rest()
            if error is not None:
                raise error
        else:
            self._works(events)

    def _works(self, events: int) -> None:
        del self._waiting[:events]
        if self._failing:
            log.info("game_stored_again", game=self._game_id)
            self._failing, self._pause_s = False, _PAUSES_S[0]
        if self._waiting:
            self._store()
        else:
            self._rest()

    def _fails(self, events: int, error: JournalError) -> None:
        tell = log.debug if self._failing else log.error
        tell("game_not_stored", game=self._game_id, events=events, cause=str(error))
        if self._closed:
            self._rest()
        else:
            self._failing = True
            _let_all_go(self._hurried)
            self._pause = asyncio.create_task(self._again(self._pause_s))
            self._pause_s = min(_PAUSES_S[1], 2 * self._pause_s)

    def _rest(self) -> None:
        self._storing = False
        _let_all_go(self._hurried)
        _let_all_go(self._patient)

    async def _again(self, pause_s: float) -> None:
        """After a pause, cut short where the journal works for others: but what fails by a fault of its own is no storm
        of tries."""
        await asyncio.sleep(min(pause_s, _PAUSES_S[0]))
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s - _PAUSES_S[0]):
                await self._journal.works()
        self._store()


def _waiter(others: list[asyncio.Future[None]]) -> asyncio.Future[None]:
    waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    others.append(waiter)
    return waiter


def _let_all_go(waiters: list[asyncio.Future[None]]) -> None:
    for waiter in waiters:
        _let_go(waiter)
    waiters.clear()


def _let_go(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
