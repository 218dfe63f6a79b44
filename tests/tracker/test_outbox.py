"""What a game still has to store when its session ends: whoever takes the game up next may store it too."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bridge import event_types
from bridge.errors import JournalError
from bridge.interfaces import GameInfo, Player
from bridge.journal import SqlJournal
from bridge.journal.store import Store
from bridge.rules.pools import named
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.rules.verdict import verdict
from bridge.tracker import Tracker

INFO = GameInfo("game0001", Player("a", "A"), Player("b", "B"), time_control=TimeControl(540_000, 0), url="https://x/g")


class Disk:
    """Full, or all right."""

    def __init__(self) -> None:
        self.full = False

    def fallible(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def written(*given: Any) -> Any:
            if self.full:
                raise JournalError("the disk is full")
            return write(*given)

        return written


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(Store, "write", disk.fallible(Store.write))
    return disk


async def opened(journal: SqlJournal) -> Tracker:
    tracker = Tracker(INFO.id, "A", journal, lambda: 0)
    await tracker.open(INFO, named("anchor"), source="stream", precision_ms=10)
    return tracker


async def stored(journal: SqlJournal) -> list[object]:
    return [entry.data["uci"] for entry in await journal.read(subject=INFO.id, types=[event_types.GAME_PLY])]


async def test_a_game_that_is_taken_up_while_the_journal_fails_is_stored_once(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.outbox._PATIENCE_S", 0.05)
    monkeypatch.setattr("bridge.outbox._PAUSES_S", (1.0, 1.0))
    async with SqlJournal("sqlite://") as journal:
        first = await opened(journal)
        disk.full = True
        await first.take(Snapshot(("e2e4", "e7e5"), white_ms=540_000, black_ms=540_000, at_ms=0))
        first.close()
        second = await opened(journal)
        await second.take(Snapshot(("e2e4", "e7e5", "g1f3"), white_ms=540_000, black_ms=540_000, at_ms=0))
        disk.full = False
        async with asyncio.timeout(30):
            while len(await stored(journal)) < 3:
                await asyncio.sleep(0.02)
        await asyncio.sleep(1.2)  # for what the first one may be trying yet
        assert await stored(journal) == ["e2e4", "e7e5", "g1f3"]
        second.close()
        third = await opened(journal)
        assert third.ledger.moves == ["e2e4", "e7e5", "g1f3"]
        third.close()


async def test_a_refusal_is_waited_for_no_longer_than_it_takes(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.outbox._PATIENCE_S", 60.0)
    async with SqlJournal("sqlite://") as journal:
        tracker = await opened(journal)
        disk.full = True
        async with asyncio.timeout(30):
            await tracker.take(Snapshot(("e2e4",), white_ms=540_000, black_ms=540_000, at_ms=0))
        assert not await stored(journal)
        tracker.close()


async def test_a_verdict_is_waited_for_however_long_it_is_refused(disk: Disk) -> None:
    async with SqlJournal("sqlite://") as journal:
        tracker = await opened(journal)
        await tracker.take(Snapshot(("e2e4", "e7e5"), "resign", True, 540_000, 540_000, at_ms=0))
        disk.full = True
        concluding = asyncio.create_task(tracker.conclude(verdict(tracker.ledger, final=True)))
        await asyncio.sleep(0.8)  # refused at least twice
        assert not concluding.done()
        disk.full = False
        async with asyncio.timeout(30):
            await concluding
        assert await journal.read(subject=INFO.id, types=[event_types.VERDICT_FINAL])
        tracker.close()
