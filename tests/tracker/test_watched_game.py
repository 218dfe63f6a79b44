"""A watched game's end, whatever stream and archive do: with a scripted platform, since no arena plays these tricks."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TypeAlias

import pytest

from bridge import event_types
from bridge.errors import BridgeError, PlatformError, RecordError, Refused, Unreachable
from bridge.interfaces import FinishedGame, GameInfo, GameMessage, GameOpened, GameState, Player
from bridge.journal import SqlJournal
from bridge.rules.pools import named
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.tracker import Tracker
from bridge.watching import Subject, WatchedGame, own_board, spectator

INFO = GameInfo("abcdefgh", Player("ann", "Ann"), Player("ben", "Ben"), time_control=TimeControl(300_000, 0))
START = GameOpened(INFO, Snapshot((), at_ms=0))
TWO = ("e2e4", "e7e5")
RUNNING = GameState(Snapshot(TWO, white_ms=300_000, black_ms=300_000, at_ms=0))
RESIGNED = GameState(Snapshot(TWO, "resign", True, white_ms=300_000, black_ms=298_000, at_ms=0))
ARCHIVED = FinishedGame(INFO, Snapshot(TWO, "resign", True, clocks_ms=(300_000, 300_000)), "export", 40)


class Script:
    """Streams and archive answers in the order they are asked for; an error is raised where it stands."""

    def __init__(self, *archive: FinishedGame | BridgeError) -> None:
        self._archive = list(archive)

    async def finished(self, game_id: str) -> FinishedGame:
        answer = self._archive.pop(0) if len(self._archive) > 1 else self._archive[0]
        if isinstance(answer, BridgeError):
            raise answer
        return answer


Stream: TypeAlias = Callable[[str], AsyncGenerator[GameMessage]]


def stream(*messages: GameMessage | BridgeError) -> Stream:
    async def read(game_id: str) -> AsyncGenerator[GameMessage]:
        for message in messages:
            if isinstance(message, BridgeError):
                raise message
            yield message

    return read


@pytest.fixture
async def journal(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqlJournal]:
    monkeypatch.setattr("bridge.watching._EXPORT_PAUSES_S", (0, 0, 0))
    async with SqlJournal("sqlite://") as opened:
        yield opened


async def watch(
    journal: SqlJournal, script: Script, *streams: Stream, wanted: Callable[[GameInfo], bool] = lambda info: True
) -> list[tuple[str, object]]:
    """Watch the game through the streams, the last one as a spectator; what the journal holds then, with results."""
    ways = [*(own_board(given) for given in streams[:-1]), spectator(streams[-1])]
    tracker = Tracker(INFO.id, "", journal, lambda: 0)
    subject = Subject(script.finished, ways, named("anchor"), wanted)
    await WatchedGame(INFO.id, tracker, subject, asyncio.Semaphore()).run()
    entries = await journal.read(subject=INFO.id)
    return [(entry.type, _result(entry.data.get("verdict"))) for entry in entries]


def _result(verdict: object) -> object:
    return (verdict["reason"], verdict["clock_source"]) if isinstance(verdict, dict) else None


FINAL = (event_types.VERDICT_FINAL, ("resignation", "export"))


async def test_an_archive_that_lags_behind_is_asked_again(journal: SqlJournal) -> None:
    told = await watch(journal, Script(Unreachable("still running"), ARCHIVED), stream(START, RUNNING, RESIGNED))
    assert told[-1] == FINAL


async def test_without_an_archive_the_stream_s_own_verdict_is_final(journal: SqlJournal) -> None:
    told = await watch(journal, Script(Unreachable("down")), stream(START, RUNNING, RESIGNED))
    assert told[-1] == (event_types.VERDICT_FINAL, ("resignation", "spectator"))


async def test_an_aborted_game_needs_no_archive(journal: SqlJournal) -> None:
    aborted = GameState(Snapshot((), "aborted", at_ms=0))
    told = await watch(journal, Script(Refused("gone", status=404)), stream(START, aborted))
    assert told[-1] == (event_types.VERDICT_FINAL, ("aborted", "spectator"))


async def test_a_game_that_only_the_archive_knows_is_told_from_it(journal: SqlJournal) -> None:
    told = await watch(journal, Script(ARCHIVED), stream())
    assert [kind for kind, _ in told].count(event_types.GAME_PLY) == 2
    assert told[-1] == FINAL


async def test_what_the_stream_did_not_tell_the_archive_does(journal: SqlJournal) -> None:
    told = await watch(journal, Script(ARCHIVED), stream(START))
    assert [kind for kind, _ in told].count(event_types.GAME_PLY) == 2
    assert event_types.GAME_FINISHED in [kind for kind, _ in told]
    assert told[-1] == FINAL


async def test_a_stream_that_breaks_off_with_no_archive_is_an_error(journal: SqlJournal) -> None:
    with pytest.raises(PlatformError, match="ended before the game"):
        await watch(journal, Script(Unreachable("down")), stream(START, RUNNING))


async def test_a_refused_way_gives_way_to_the_next(journal: SqlJournal) -> None:
    refused = stream(Refused("no board here", status=400))
    assert (await watch(journal, Script(ARCHIVED), refused, stream(START, RUNNING, RESIGNED)))[-1] == FINAL


async def test_exact_readings_need_no_archive(journal: SqlJournal) -> None:
    told = await watch(journal, Script(Unreachable("never asked")), stream(START, RUNNING, RESIGNED), stream())
    assert told[-1] == (event_types.VERDICT_FINAL, ("resignation", "stream"))


@pytest.mark.parametrize("script", [Script(ARCHIVED), Script(Unreachable("down"))])
async def test_a_game_that_is_not_wanted_leaves_no_trace(script: Script, journal: SqlJournal) -> None:
    assert await watch(journal, script, stream(START, RUNNING, RESIGNED), wanted=lambda info: False) == []


async def test_a_variant_that_is_not_covered_is_named(journal: SqlJournal) -> None:
    crazy = GameOpened(GameInfo(INFO.id, INFO.white, INFO.black, variant="crazyhouse"), Snapshot((), at_ms=0))
    with pytest.raises(RecordError, match="does not cover the variant crazyhouse"):
        await watch(journal, Script(ARCHIVED), stream(crazy))
    assert await journal.last_seq() == 0


async def test_a_game_that_does_not_exist_is_named(journal: SqlJournal) -> None:
    with pytest.raises(Refused, match="there is no game abcdefgh"):
        await watch(journal, Script(ARCHIVED), stream(Refused("404 No such game", status=404)))
