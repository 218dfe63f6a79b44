"""What one game still has to store: in order, again and again until the journal takes it.

A game waits for the journal, so that what is shown or done stands in it first; but not for one that cannot be written
(a full disk, a lock): then it goes on from memory, and what was not stored is stored as soon as that works again.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from bridge.errors import JournalError
from bridge.interfaces import Draft, Journal

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
        self._storing: asyncio.Task[None] | None = None
        self._failing = False
        self._closed = False

    def put(self, drafts: Sequence[Draft]) -> None:
        """Have them stored, after all that was put before."""
        self._waiting += drafts
        if self._waiting and (self._storing is None or self._storing.done()):
            self._storing = asyncio.create_task(self._store())

    async def stored(self) -> None:
        """Wait until everything is stored, or the journal turns out not to take it now."""
        if self._storing is not None and not self._failing:
            await asyncio.wait({self._storing}, timeout=_PATIENCE_S)

    async def empty(self) -> None:
        """Wait until everything is stored, however long it takes."""
        if self._storing is not None:
            await asyncio.wait({self._storing})

    def close(self) -> None:
        """Try no more after the next failure: what is left can be worked out anew from the platform's game."""
        self._closed = True

    async def _store(self) -> None:
        pause_s = _PAUSES_S[0]
        while self._waiting:
            batch = tuple(self._waiting)
            try:
                await self._journal.append(batch)
            except JournalError as error:
                tell = log.debug if self._failing else log.error
                tell("game_not_stored", game=self._game_id, events=len(batch), cause=str(error))
                if self._closed:
                    return
                self._failing = True
                await self._pause(pause_s)
                pause_s = min(_PAUSES_S[1], 2 * pause_s)
                continue
            del self._waiting[: len(batch)]
            if self._failing:
                log.info("game_stored_again", game=self._game_id)
            self._failing = False
            pause_s = _PAUSES_S[0]

    async def _pause(self, pause_s: float) -> None:
        """Cut short where the journal works for others: but what fails by a fault of its own is no storm of tries."""
        await asyncio.sleep(min(pause_s, _PAUSES_S[0]))
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s - _PAUSES_S[0]):
                await self._journal.works()
