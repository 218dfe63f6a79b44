"""R12: a fall is shown when the clock runs out by the local estimate; the next reading confirms or withdraws it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import pytest

from bridge import event_types
from bridge.interfaces import Entry, GameInfo, Player
from bridge.journal import SqlJournal
from bridge.rules.pools import parse_dials
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.tracker import Tracker

INFO = GameInfo("abcdefgh", Player("ann", "Ann"), Player("ben", "Ben"), time_control=TimeControl(300_000, 0))
RULES = parse_dials({"base_s": 4, "economy": "steal"})
OPENING = ("e2e4", "e7e5")
"""Each pays a second for it, so that three are left."""


class Clock:
    """A steady clock that a test sets."""

    def __init__(self) -> None:
        self.ms = 1_000_000

    def __call__(self) -> int:
        return self.ms


Open: TypeAlias = Callable[..., Awaitable[Tracker]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def journal() -> AsyncIterator[SqlJournal]:
    async with SqlJournal("sqlite://") as opened:
        yield opened


@pytest.fixture
async def opened(journal: SqlJournal, clock: Clock) -> AsyncIterator[Open]:
    trackers: list[Tracker] = []

    async def open_tracker(*, delayed: bool = False) -> Tracker:
        tracker = Tracker(INFO.id, "", journal, clock)
        trackers.append(tracker)
        await tracker.open(INFO, RULES, source="stream", precision_ms=10, delayed=delayed)
        return tracker

    yield open_tracker
    for tracker in trackers:
        tracker.close()


def state(
    clock: Clock, *moves: str, white_ms: int = 300_000, black_ms: int = 300_000, status: str = "started"
) -> Snapshot:
    return Snapshot(moves, status, white_ms=white_ms, black_ms=black_ms, at_ms=clock())


async def flags(journal: SqlJournal) -> list[tuple[str, object]]:
    kinds = (event_types.FLAG_PROVISIONAL, event_types.FLAG_WITHDRAWN, event_types.VERDICT_PROVISIONAL)
    entries: list[Entry] = await journal.read(subject=INFO.id, types=kinds)
    return [(entry.type.split(".", 1)[1], entry.data.get("side")) for entry in entries]


async def shown(journal: SqlJournal, count: int = 1) -> None:
    """Wait until so much was said of flags."""
    async with asyncio.timeout(30):
        while len(await flags(journal)) < count:
            await asyncio.sleep(0.02)


async def test_a_clock_that_runs_out_is_shown_and_the_move_confirms_it(
    opened: Open, clock: Clock, journal: SqlJournal
) -> None:
    tracker = await opened()
    clock.ms += 2000
    await tracker.take(state(clock, *OPENING, white_ms=298_000))
    assert await flags(journal) == []
    await shown(journal)
    assert await flags(journal) == [("flag.provisional", "white")]
    clock.ms += 1200
    await tracker.take(state(clock, *OPENING, "d2d4", white_ms=296_800))
    assert await flags(journal) == [("flag.provisional", "white"), ("verdict.provisional", None)]


@pytest.mark.parametrize(
    ("moves", "white_ms", "status"), [((*OPENING, "d2d4"), 299_500, "started"), (OPENING, 299_500, "resign")]
)
async def test_the_next_reading_withdraws_what_was_wrong(
    moves: tuple[str, ...], white_ms: int, status: str, opened: Open, clock: Clock, journal: SqlJournal
) -> None:
    """The platform charged less than went by here: its lag compensation, or a line that came late."""
    tracker = await opened()
    clock.ms += 2900
    await tracker.take(state(clock, *OPENING, white_ms=297_100))
    await shown(journal)
    clock.ms += 300
    await tracker.take(state(clock, *moves, white_ms=white_ms, status=status))
    assert (await flags(journal))[:2] == [("flag.provisional", "white"), ("flag.withdrawn", "white")]


async def test_a_reading_without_a_move_withdraws_it_and_the_clock_is_watched_again(
    opened: Open, clock: Clock, journal: SqlJournal
) -> None:
    tracker = await opened()
    clock.ms += 2900
    await tracker.take(state(clock, *OPENING, white_ms=297_100))
    await shown(journal)
    await tracker.take(state(clock, *OPENING, white_ms=297_800))
    assert await flags(journal) == [("flag.provisional", "white"), ("flag.withdrawn", "white")]
    await shown(journal, 3)
    assert (await flags(journal))[2:] == [("flag.provisional", "white")]


async def test_lines_that_tell_nothing_new_leave_it_standing(opened: Open, clock: Clock, journal: SqlJournal) -> None:
    tracker = await opened()
    await tracker.take(state(clock, *OPENING))
    clock.ms += 2900
    await tracker.take(state(clock, *OPENING))  # a repeated line: the turn does not begin anew
    await shown(journal)
    clock.ms += 300
    await tracker.take(state(clock, *OPENING))
    await tracker.take(state(clock, *OPENING, white_ms=296_700))  # a draw offer, say: the clock is empty by it too
    assert await flags(journal) == [("flag.provisional", "white")]


async def test_a_late_stream_flags_nobody_by_the_local_clock(opened: Open, clock: Clock, journal: SqlJournal) -> None:
    tracker = await opened(delayed=True)
    clock.ms += 2900
    await tracker.take(state(clock, *OPENING, white_ms=297_100))
    await asyncio.sleep(0.3)
    assert await flags(journal) == []


async def test_nobody_is_flagged_before_the_clocks_run_nor_after_the_end(
    opened: Open, clock: Clock, journal: SqlJournal
) -> None:
    tracker = await opened()
    await tracker.take(state(clock, "e2e4"))
    clock.ms += 5000
    await tracker.take(state(clock, *OPENING, white_ms=297_100))
    await tracker.take(state(clock, *OPENING, white_ms=297_050, status="aborted"))
    await asyncio.sleep(0.3)
    assert [kind for kind, _ in await flags(journal)] == ["verdict.provisional"]


async def test_a_flag_shown_before_a_restart_is_withdrawn_after_it(
    opened: Open, clock: Clock, journal: SqlJournal
) -> None:
    first = await opened()
    clock.ms += 2900
    await first.take(state(clock, *OPENING, white_ms=297_100))
    await shown(journal)
    first.close()
    second = await opened()
    await second.take(state(clock, *OPENING, "d2d4", white_ms=299_500))
    assert (await flags(journal))[:2] == [("flag.provisional", "white"), ("flag.withdrawn", "white")]
