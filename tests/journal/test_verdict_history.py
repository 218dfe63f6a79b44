"""Verdicts are told once, replaced by compare and set, and keep their history."""

from collections.abc import AsyncIterator

import chess
import pytest

from bridge.event_types import VERDICT_CHANGED, VERDICT_FINAL, VERDICT_PROVISIONAL
from bridge.interfaces import GameInfo, Player
from bridge.journal import SqlJournal
from bridge.rules.events import Ended
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.rules.verdict import Verdict, verdict
from bridge.tracker import Tracker
from bridge.verdicts import ToldVerdict, verdict_history

INFO = GameInfo("game0001", Player("a", "A"), Player("b", "B"), time_control=TimeControl(240_000, 0), url="https://x/g")
MATE = ("e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7")


@pytest.fixture
async def journal() -> AsyncIterator[SqlJournal]:
    async with SqlJournal("sqlite://") as opened:
        yield opened


async def opened(journal: SqlJournal) -> Tracker:
    tracker = Tracker(INFO.id, "A", journal, lambda: 0)
    await tracker.open(INFO, named("winder"), source="stream", precision_ms=10)
    return tracker


async def mated(journal: SqlJournal) -> Tracker:
    tracker = await opened(journal)
    await tracker.take(Snapshot(MATE, "mate", chess.WHITE, 230_000, 230_000, clocks_ms=(240_000,) * 7))
    return tracker


def resigned(tracker: Tracker, winner: chess.Color) -> Verdict:
    """The same game as another source might tell it."""
    ledger = Ledger(tracker.ledger.setup)
    ledger.apply(Ended("resign", winner, 0))
    return verdict(ledger, final=True)


def outline(history: list[ToldVerdict]) -> list[tuple[str, object]]:
    return [(told.type, told.verdict["result"]) for told in history]


async def test_provisional_then_final(journal: SqlJournal) -> None:
    tracker = await mated(journal)
    await tracker.conclude(verdict(tracker.ledger, final=True))
    history = await verdict_history(journal, INFO.id)
    assert outline(history) == [(VERDICT_PROVISIONAL, "1-0"), (VERDICT_FINAL, "1-0")]
    assert [told.final for told in history] == [False, True]


async def test_the_same_final_verdict_is_told_once_over_restarts(journal: SqlJournal) -> None:
    tracker = await mated(journal)
    for again in (tracker, tracker, await opened(journal), await opened(journal)):
        await again.conclude(verdict(tracker.ledger, final=True))
    assert outline(await verdict_history(journal, INFO.id)) == [(VERDICT_PROVISIONAL, "1-0"), (VERDICT_FINAL, "1-0")]


async def test_a_final_verdict_unlike_the_provisional_one_is_told_as_changed_first(journal: SqlJournal) -> None:
    tracker = await mated(journal)
    await tracker.conclude(resigned(tracker, chess.BLACK))
    history = await verdict_history(journal, INFO.id)
    assert outline(history) == [(VERDICT_PROVISIONAL, "1-0"), (VERDICT_CHANGED, "0-1"), (VERDICT_FINAL, "0-1")]
    assert history[1].previous == history[0].core()
    assert "judged again from the finer source stream" in history[1].cause


async def test_a_second_final_verdict_with_another_result_becomes_a_change(journal: SqlJournal) -> None:
    tracker = await mated(journal)
    await tracker.conclude(verdict(tracker.ledger, final=True))
    for winner in (chess.BLACK, chess.BLACK, chess.WHITE):
        tracker = await opened(journal)
        await tracker.conclude(resigned(tracker, winner))
    history = await verdict_history(journal, INFO.id)
    assert outline(history) == [
        (VERDICT_PROVISIONAL, "1-0"),
        (VERDICT_FINAL, "1-0"),
        (VERDICT_CHANGED, "0-1"),
        (VERDICT_CHANGED, "1-0"),
    ]
    assert [told.previous for told in history[2:]] == [history[1].core(), history[2].core()]
    assert all(told.cause for told in history[2:])


async def test_of_two_who_would_replace_the_same_verdict_the_first_is_stored(journal: SqlJournal) -> None:
    tracker = await mated(journal)
    await tracker.conclude(verdict(tracker.ledger, final=True))
    first, second = await opened(journal), await opened(journal)
    await first.conclude(resigned(first, chess.BLACK))
    await second.conclude(resigned(second, chess.BLACK))
    history = await verdict_history(journal, INFO.id)
    assert [told.type for told in history].count(VERDICT_CHANGED) == 1
