"""Games that were judged while the platform's archive kept silent: it is asked again by and by, at the next start too.

Nothing is stored of who waits: it is worked out anew from the verdicts since the first of them.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bridge import event_types
from bridge.errors import BridgeError, JournalError, UsageError
from bridge.interfaces import Entry, Journal
from bridge.tasks import Tasks

log = structlog.get_logger("kirichess_archive")

_AGAIN_MS = (600_000, 1_800_000, 3_600_000)
"""After the verdict; a start later than all of them asks once."""
_MARK = "archive"
_PAGE = 20
"""Verdicts read at a time: they are long."""


class LateArchive:
    """`judge` judges a game again by the archive: PlatformError where that does not answer, UsageError where its answer
    is of no use. `wall_ms`: the date."""

    def __init__(self, journal: Journal, judge: Callable[[str], Awaitable[object]], wall_ms: Callable[[], int]) -> None:
        self._journal = journal
        self._judge = judge
        self._wall_ms = wall_ms
        self._tasks = Tasks()
        self._waiting: dict[str, int] = {}
        self._seq = 0

    async def run(self) -> None:
        """Until cancelled, or until the journal is closed."""
        try:
            await self._follow()
        except JournalError as error:
            log.error("archive_no_longer_asked_again", cause=str(error))
        finally:
            await self._tasks.end()

    async def _follow(self) -> None:
        last = await self._journal.last_seq()
        self._seq = await self._journal.cursor(_MARK) or last
        while page := await self._journal.read(types=(event_types.VERDICT_FINAL,), after=self._seq, limit=_PAGE):
            for entry in page:
                self._note(entry)
        async for entry in self._journal.follow(max(last, self._seq)):
            if entry.type == event_types.VERDICT_FINAL:
                self._note(entry)

    def _note(self, entry: Entry) -> None:
        if entry.seq > self._seq:
            self._seq = entry.seq
            if _lacks_the_archive(entry):
                self._waiting[entry.subject] = entry.seq
                self._tasks.spawn(self._ask(entry))
            self._pass()

    def _pass(self) -> None:
        """A start goes on from before the first that waits."""
        self._journal.passed(_MARK, min(self._waiting.values(), default=self._seq + 1) - 1)

    async def _ask(self, entry: Entry) -> None:
        gone_ms = self._wall_ms() - entry.time_ms
        for due_ms in [due_ms for due_ms in _AGAIN_MS if due_ms > gone_ms] or [0]:
            await asyncio.sleep(max(0, entry.time_ms + due_ms - self._wall_ms()) / 1000)
            if await self._answers(entry.subject):
                break
        del self._waiting[entry.subject]
        self._pass()

    async def _answers(self, game_id: str) -> bool:
        try:
            await self._judge(game_id)
        except UsageError as error:
            log.info("archive_of_no_use", game=game_id, cause=str(error))
        except BridgeError as error:
            log.info("archive_still_silent", game=game_id, cause=str(error))
            return False
        return True


def _lacks_the_archive(entry: Entry) -> bool:
    """A spectator's clocks, or a player's with gaps: the archive would have made them finer or filled them (R14)."""
    verdict = entry.data.get("verdict")
    if not isinstance(verdict, dict) or verdict.get("certain") is not False or verdict.get("reason") == "aborted":
        return False
    rows = verdict.get("ledger")
    gaps = isinstance(rows, list) and any(isinstance(row, dict) and row.get("think_ms") is None for row in rows)
    source = verdict.get("clock_source")
    return source == "spectator" or (source == "stream" and gaps)
