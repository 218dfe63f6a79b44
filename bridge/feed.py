"""A feed carries the journal to one sink: follow, write, advance. Retry, restart and late joining are one mechanism."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from tenacity import AsyncRetrying, RetryCallState, wait_exponential, wait_random

from bridge.errors import BridgeError, JournalError
from bridge.interfaces import Entry, Journal, Sink

log = structlog.get_logger("kirichess_feed")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a failing sink is tried: waits double from the first to the longest, each with some jitter."""

    first_s: float = 1.0
    longest_s: float = 300.0
    give_up_s: float = 86_400.0


class Feed:
    """One sink and its cursor. `seq` is how far it has come; `cause` why it is stuck, empty while it is not; `given_up`
    how many entries were never delivered.

    A sink that the journal does not know yet begins with the next entry, or with the first if `from_start`.
    """

    def __init__(
        self,
        journal: Journal,
        sink: Sink,
        *,
        from_start: bool = False,
        patience: Patience | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = sink.name
        self.seq = 0
        self.cause = ""
        self.given_up = 0
        self._moved = asyncio.Event()
        self._journal = journal
        self._sink = sink
        self._from_start = from_start
        self._patience = patience = patience or Patience()
        self._now_s = now_s
        self._failing_since_s: float | None = None
        self._retrying = AsyncRetrying(
            wait=wait_exponential(patience.first_s, patience.longest_s) + wait_random(0, patience.first_s),
            stop=self._tried_enough,
            before_sleep=self._stuck,
            retry_error_callback=self._give_up,
        )

    async def run(self) -> None:
        """Deliver until cancelled, or until the journal is closed; the sink is closed then. Raises JournalError."""
        try:
            await self.open()
            async for entry in self._journal.follow(self.seq):
                await self._deliver(entry)
                self.seq = entry.seq
                self._moved.set()
                self._journal.passed(self.name, entry.seq)
        finally:
            await self._sink.close()

    async def open(self) -> None:
        """Settle where the sink begins; `run` does it too, later. Raises JournalError."""
        # A cursor of 0 is also that of a sink which has come nowhere yet, so that a sink is known is stored by itself.
        mark = f"{self.name} known"
        self.seq = await self._journal.cursor(self.name)
        if not await self._journal.cursor(mark):
            # One that was forgotten while it was in use has stored its cursor again since.
            if not self.seq and not self._from_start:
                self.seq = await self._journal.last_seq()
            await self._journal.advance(self.name, self.seq)
            await self._journal.advance(mark, 1)

    async def reached(self, seq: int) -> None:
        """Wait until the sink has come as far as an entry."""
        while self.seq < seq:
            self._moved.clear()
            await self._moved.wait()

    async def _deliver(self, entry: Entry) -> None:
        try:
            # Mostly it works at once, and there are no tries to keep count of.
            self._works_again(entry, await self._sink.write(entry))
            return
        except Exception as error:  # noqa: BLE001  # the tries below tell of it
            failed = [error]
        if not await self._retrying(self._try, entry, failed):
            await self._bury(entry)

    def _works_again(self, entry: Entry, taken: bool | None) -> None:
        # What the sink passes over says nothing of its receiver.
        if taken is False:
            return
        self._failing_since_s = None
        if self.cause:
            log.info("sink_works_again", sink=self.name, seq=entry.seq)
            self.cause = ""

    async def _bury(self, entry: Entry) -> None:
        try:
            await self._journal.bury(self.name, entry.seq, self.cause)
        except JournalError as error:
            # The log has the entry's number and id; the next one must not wait for this.
            log.error("dead_letter_not_kept", sink=self.name, seq=entry.seq, cause=str(error))

    async def _try(self, entry: Entry, failed: list[Exception]) -> bool:
        if failed:
            raise failed.pop()
        self._works_again(entry, await self._sink.write(entry))
        return True

    def _tried_enough(self, _state: RetryCallState) -> bool:
        """By the beginning of the outage: when it has lasted too long, each further entry is tried once."""
        if self._failing_since_s is None:
            self._failing_since_s = self._now_s()
        return self._now_s() - self._failing_since_s >= self._patience.give_up_s

    def _stuck(self, state: RetryCallState) -> None:
        error = _error(state)
        cause = str(error) or type(error).__name__
        if cause != self.cause:
            # An error that is not ours is a fault of the sink's code, to be mended there: told with its trace.
            trace = None if isinstance(error, BridgeError) else error
            log.warning("sink_stuck", sink=self.name, seq=self.seq + 1, cause=cause, exc_info=trace)
            self.cause = cause

    def _give_up(self, state: RetryCallState) -> bool:
        entry: Entry = state.args[0]
        self.given_up += 1
        log.error("entry_given_up", sink=self.name, seq=entry.seq, event_id=entry.id, cause=str(_error(state)))
        return False


def _error(state: RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()
