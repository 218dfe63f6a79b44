"""Who waits for an archive is worked out from the verdicts, whatever else the journal has become."""

import asyncio

from bridge import event_types
from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.late_archive import LateArchive


async def test_a_verdict_that_cannot_be_read_hides_no_other() -> None:
    asked: asyncio.Queue[str] = asyncio.Queue()
    async with SqlJournal("sqlite://") as journal:
        late = asyncio.create_task(LateArchive(journal, asked.put, lambda: 10**15).run())
        await asyncio.sleep(0.1)  # it follows
        for game, verdict in (
            ("tampered", "1-0"),
            ("unknown1", {"certain": False, "clock_source": "spectator", "reason": "flag"}),
        ):
            await journal.append([Draft(event_types.VERDICT_FINAL, game, {"verdict": verdict})])
        async with asyncio.timeout(30):
            assert await asked.get() == "unknown1"
        late.cancel()
