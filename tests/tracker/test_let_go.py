"""A game that is over takes no memory: nothing of it waits for the garbage collector."""

import gc
import weakref

from bridge.interfaces import GameInfo, Player
from bridge.journal import SqlJournal
from bridge.rules.pools import named
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.rules.verdict import verdict
from bridge.tracker import Tracker

INFO = GameInfo("game0001", Player("a", "A"), Player("b", "B"), time_control=TimeControl(240_000, 0), url="https://x/g")


async def test_a_tracker_that_is_closed_keeps_nothing_of_its_game() -> None:
    async with SqlJournal("sqlite://") as journal:
        tracker = Tracker(INFO.id, "A", journal, lambda: 0)
        await tracker.open(INFO, named("anchor"), source="stream", precision_ms=10)
        await tracker.take(Snapshot(("e2e4", "e7e5"), "resign", True, 240_000, 240_000))
        await tracker.conclude(verdict(tracker.ledger, final=True))
        ledger = weakref.ref(tracker.ledger)
        gc.collect()
        gc.disable()
        try:
            tracker.close()
            del tracker
            assert ledger() is None
        finally:
            gc.enable()
