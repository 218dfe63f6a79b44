"""One sink and its cursor: where it begins, how long it tries, whom it does not delay."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bridge.errors import SinkError
from bridge.feed import Feed, Patience
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal

QUICK = Patience(first_s=0.002, longest_s=0.004)


class Collector:
    """A sink in memory; `trouble` may raise, `closed` tells whether it was let go."""

    def __init__(self, name: str = "collector", trouble: Callable[[Entry], None] = lambda _: None) -> None:
        self.name = name
        self.seqs: list[int] = []
        self.tries = 0
        self.closed = False
        self._trouble = trouble

    async def write(self, entry: Entry) -> None:
        self.tries += 1
        self._trouble(entry)
        self.seqs.append(entry.seq)

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
async def journal() -> AsyncIterator[SqlJournal]:
    async with SqlJournal("sqlite://") as opened:
        yield opened


async def append(journal: SqlJournal, count: int) -> None:
    await journal.append([Draft("kirichess.game.ply", "g", {"n": n}) for n in range(count)])


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.002)


async def stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize(("from_start", "expected"), [(False, [4, 5]), (True, [1, 2, 3, 4, 5])])
async def test_a_new_sink_begins_at_the_end_or_where_told(
    journal: SqlJournal, from_start: bool, expected: list[int]
) -> None:
    await append(journal, 3)
    sink = Collector()
    opened = Feed(journal, sink, from_start=from_start)
    await opened.open()
    feed = asyncio.create_task(opened.run())
    await append(journal, 2)
    await until(lambda: len(sink.seqs) >= len(expected))
    await stop(feed)
    assert sink.seqs == expected
    assert sink.closed


async def test_a_sink_that_was_there_from_the_first_entry_loses_none_at_a_restart(tmp_path: Path) -> None:
    def refuse(_: Entry) -> None:
        raise SinkError("down")

    url = f"sqlite:///{tmp_path}/journal.db"
    async with SqlJournal(url) as journal:
        refusing = Collector(trouble=refuse)
        opened = Feed(journal, refusing, patience=QUICK)
        await opened.open()
        feed = asyncio.create_task(opened.run())
        await append(journal, 2)
        await until(lambda: refusing.tries > 0)
        await stop(feed)
    async with SqlJournal(url) as journal:
        sink = Collector()
        feed = asyncio.create_task(Feed(journal, sink).run())
        await until(lambda: sink.seqs == [1, 2])
        await stop(feed)


async def test_the_cause_is_logged_when_it_changes_and_not_at_each_try(journal: SqlJournal) -> None:
    causes = iter(["cause A", "cause A", "cause A", "cause B", "cause B"])

    def trouble(_: Entry) -> None:
        if cause := next(causes, None):
            raise SinkError(cause)

    sink = Collector(trouble=trouble)
    with capture_logs() as logs:
        feed = asyncio.create_task(Feed(journal, sink, from_start=True, patience=QUICK).run())
        await append(journal, 1)
        await until(lambda: sink.seqs == [1] and logs[-1]["event"] != "sink_stuck")
        await stop(feed)
    assert [(line["event"], line.get("cause")) for line in logs] == [
        ("sink_stuck", "cause A"),
        ("sink_stuck", "cause B"),
        ("sink_works_again", None),
    ]
    assert sink.tries == 6


async def test_a_fault_in_a_sink_is_told_and_tried_again(journal: SqlJournal) -> None:
    faults = iter([ZeroDivisionError("division by zero")])

    def trouble(_: Entry) -> None:
        for fault in faults:
            raise fault

    sink = Collector(trouble=trouble)
    with capture_logs() as logs:
        feed = asyncio.create_task(Feed(journal, sink, from_start=True, patience=QUICK).run())
        await append(journal, 1)
        await until(lambda: sink.seqs == [1])
        await stop(feed)
    assert isinstance(logs[0]["exc_info"], ZeroDivisionError)


async def test_what_cannot_be_delivered_is_given_up_and_the_rest_goes_on(journal: SqlJournal) -> None:
    def trouble(entry: Entry) -> None:
        if entry.seq == 2:
            raise SinkError("never")

    sink = Collector(trouble=trouble)
    patience = Patience(first_s=0.002, longest_s=0.004, give_up_s=0.05)
    with capture_logs() as logs:
        feed = asyncio.create_task(Feed(journal, sink, from_start=True, patience=patience).run())
        await append(journal, 3)
        await until(lambda: sink.seqs == [1, 3])
        await stop(feed)
    [given_up] = [line for line in logs if line["event"] == "entry_given_up"]
    assert (given_up["seq"], given_up["cause"]) == (2, "never")
    assert await journal.cursor("collector") == 3


async def test_a_slow_sink_delays_neither_the_journal_nor_another_sink(journal: SqlJournal) -> None:
    blocked = asyncio.Event()

    class Slow(Collector):
        async def write(self, entry: Entry) -> None:
            await blocked.wait()
            await super().write(entry)

    slow, quick = Slow("slow"), Collector("quick")
    feeds = [asyncio.create_task(Feed(journal, sink, from_start=True).run()) for sink in (slow, quick)]
    for _ in range(100):
        await append(journal, 10)
    await until(lambda: len(quick.seqs) == 1000)
    assert slow.seqs == []
    blocked.set()
    await until(lambda: len(slow.seqs) == 1000)
    assert slow.seqs == quick.seqs == list(range(1, 1001))
    for feed in feeds:
        await stop(feed)


async def test_it_ends_with_the_journal(journal: SqlJournal) -> None:
    sink = Collector()
    feed = Feed(journal, sink)
    await feed.open()
    running = asyncio.create_task(feed.run())
    await journal.append([Draft("kirichess.game.started", "abcdefgh")])
    await feed.reached(1)
    await journal.close()
    await asyncio.wait_for(running, 30)
    assert sink.closed


async def test_entries_that_come_together_cost_one_transaction_for_the_cursor(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    async with SqlJournal(url) as journal:
        feed = Feed(journal, Collector(), from_start=True)
        await feed.open()
        with sqlite3.connect(tmp_path / "journal.db") as file:
            file.execute("CREATE TABLE stored (seq)")
            file.execute("CREATE TRIGGER noted AFTER UPDATE ON cursor BEGIN INSERT INTO stored VALUES (new.seq); END")
        following = asyncio.create_task(feed.run())
        await append(journal, 20)
        await feed.reached(20)
        await stop(following)
    with closing(sqlite3.connect(tmp_path / "journal.db")) as file:
        stored = [seq for (seq,) in file.execute("SELECT seq FROM stored")]
    assert stored[-1] == 20
    assert len(stored) <= 2
