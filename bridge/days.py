"""A session's side of correspondence: no clock runs, a move has a time of its own, between moves the stream is left."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from bridge.decisions.check_in import CORRESPONDENCE, DaysTerms, move_time
from bridge.interfaces import GameInfo, GameMessage, Limit


class Days:
    """One game's. `count` False: it has a clock, and is never left."""

    def __init__(self, terms: DaysTerms) -> None:
        self.count = False
        self._terms = terms
        self._idle: Callable[[], bool] | None = None
        """While its stream is read."""
        self._lost_at_s: float | None = None
        self._patience = asyncio.Timeout(None)
        self._leaving = False

    def begin(self, info: GameInfo) -> None:
        """What the platform says of the game."""
        self.count = info.time_control is None and info.speed == CORRESPONDENCE

    def read(self, left_ms: int | None) -> None:
        """What is left of our days, now; None: there is no limit."""
        self._lost_at_s = None if left_ms is None else asyncio.get_running_loop().time() + left_ms / 1000

    def limit(self, overhead_ms: int) -> Limit:
        """For our move, now."""
        now_s, lost_at_s = asyncio.get_running_loop().time(), self._lost_at_s
        left_ms = None if lost_at_s is None else round(1000 * (lost_at_s - now_s))
        own = move_time(self._terms, left_ms, overhead_ms)
        clocks, ponder = (own.clock_ms, own.clock_ms), self._terms.ponder
        return Limit(*clocks, 0, 0, own.deadline_ms, plain=True, move_ms=own.move_ms, ponder=ponder)

    async def listen(
        self,
        stream: AsyncGenerator[GameMessage],
        read: Callable[[GameMessage], Awaitable[None]],
        idle: Callable[[], bool],
    ) -> bool:
        """Have the stream read to its end; False: it was left before. `idle`: whether nothing is owed in it now."""
        self._idle = idle
        try:
            async with self._patience, aclosing(stream) as messages:
                async for message in messages:
                    # What is taken in is stored whole: only between lines a game can be left.
                    if self._patience.when() is not None:
                        self._patience.reschedule(None)
                    await read(message)
                    self._wait()
        except TimeoutError:
            if not self._patience.expired():
                raise
            return False
        finally:
            self._idle = None
        return True

    def leave(self) -> None:
        """Leave as soon as nothing is owed."""
        self._leaving = True
        waits = self._patience.when() is not None and not self._patience.expired()
        if waits:
            self._wait()

    def _wait(self) -> None:
        if self.count and self._idle is not None and self._idle():
            wait_ms = 0 if self._leaving else self._terms.leave_ms
            self._patience.reschedule(asyncio.get_running_loop().time() + wait_ms / 1000)
