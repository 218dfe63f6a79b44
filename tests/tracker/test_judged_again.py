"""Judging again takes the moves and the end from the archive, and never coarser clocks than those judged by."""

from collections.abc import AsyncIterator
from dataclasses import replace

import chess
import pytest

from bridge.errors import UsageError
from bridge.interfaces import Entry, FinishedGame, GameInfo, Player
from bridge.journal import SqlJournal
from bridge.judged_again import judged_again
from bridge.rules.pools import named
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.rules.verdict import verdict
from bridge.tracker import Tracker
from bridge.verdicts import ToldVerdict, standing

INFO = GameInfo("game0001", Player("a", "A"), Player("b", "B"), time_control=TimeControl(240_000, 0), url="https://x/g")
MOVES = ("e2e4", "e7e5", "d1h5", "b8c6")
FINE_MS = (240_000, 240_000, 239_123, 239_456)
ROUGH_MS = (240_000, 240_000, 239_160, 239_440)


@pytest.fixture
async def journal() -> AsyncIterator[SqlJournal]:
    async with SqlJournal("sqlite://") as opened:
        yield opened


async def resigned(journal: SqlJournal, source: str, precision_ms: int) -> tuple[list[Entry], ToldVerdict]:
    tracker = Tracker(INFO.id, "A", journal, lambda: 0)
    await tracker.open(INFO, named("anchor"), source=source, precision_ms=precision_ms)
    await tracker.take(Snapshot(MOVES, "resign", chess.WHITE, 239_123, 239_456, clocks_ms=FINE_MS))
    await tracker.conclude(verdict(tracker.ledger, final=True))
    entries = await journal.read()
    told = standing(entries)
    assert told is not None
    return entries, told


def archive(**differs: object) -> FinishedGame:
    end = Snapshot(MOVES, "resign", chess.WHITE, clocks_ms=ROUGH_MS)
    return FinishedGame(INFO, replace(end, **differs), "export", 40)  # type: ignore[arg-type]  # a snapshot's own fields


async def test_another_end_with_the_clocks_that_were_read(journal: SqlJournal) -> None:
    entries, told = await resigned(journal, "stream", 10)
    again = judged_again(entries, told, archive(winner=chess.BLACK))
    assert (again.outcome.result, again.outcome.reason) == ("0-1", "resignation")
    assert (again.setup.source, again.setup.precision_ms) == ("stream", 10)
    assert again.readings_ms == FINE_MS


async def test_other_moves_are_the_archive_s_to_tell(journal: SqlJournal) -> None:
    entries, told = await resigned(journal, "stream", 10)
    again = judged_again(entries, told, archive(moves=(*MOVES, "g1f3"), clocks_ms=(*ROUGH_MS, 238_000)))
    assert (again.setup.source, again.platform_plies) == ("export", 5)


async def test_what_the_archive_was_judged_by_is_read_there_again(journal: SqlJournal) -> None:
    entries, told = await resigned(journal, "export", 40)
    again = judged_again(entries, told, archive())
    assert (again.setup.source, again.readings_ms) == ("export", ROUGH_MS)


async def test_a_spectator_s_clocks_give_way_to_finer_ones(journal: SqlJournal) -> None:
    entries, told = await resigned(journal, "spectator", 500)
    again = judged_again(entries, told, archive())
    assert (again.setup.source, again.readings_ms) == ("export", ROUGH_MS)


async def test_an_archive_that_has_lost_its_clocks_replaces_nothing(journal: SqlJournal) -> None:
    entries, told = await resigned(journal, "export", 40)
    lost = replace(archive(clocks_ms=None), precision_ms=None)
    with pytest.raises(UsageError, match="its verdict stays"):
        judged_again(entries, told, lost)
