"""Whoever reads a stream of the platform closes it, however the reading ends."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from bridge.interfaces import GameStarted
from bridge.lobby import Lobby
from bridge.platforms.lichess.platform import Lichess
from bridge.session import Session
from bridge.tasks import Tasks
from bridge.tracker import Tracker
from bridge.watch_entries import _started


def note_closing(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """Grows whenever such a stream of the platform has been closed."""
    closed: list[str] = []
    stream = getattr(Lichess, name)

    async def noting(*given: Any) -> AsyncGenerator[Any]:
        try:
            async with aclosing(stream(*given)) as messages:
                async for message in messages:
                    yield message
        finally:
            closed.append(name)

    monkeypatch.setattr(Lichess, name, noting)
    return closed


def note_when(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, closed: list[str]) -> list[int]:
    """How many were closed each time the method was called."""
    counts: list[int] = []
    method = getattr(owner, name)

    def noting(*given: Any) -> Any:
        counts.append(len(closed))
        return method(*given)

    monkeypatch.setattr(owner, name, noting)
    return counts


async def test_a_session_that_crashes(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = note_when(monkeypatch, Session, "_close", note_closing(monkeypatch, "game"))
    take = Tracker.take
    faults = [RuntimeError("a fault nobody thought of")]

    async def fails_once(tracker: Tracker, snapshot: Any) -> Any:
        if faults:
            raise faults.pop()
        return await take(tracker, snapshot)

    monkeypatch.setattr(Tracker, "take", fails_once)
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    assert counts == [1]


async def test_an_account_that_is_stopped_between_two_events(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = note_when(monkeypatch, Tasks, "end", note_closing(monkeypatch, "account_events"))
    taking = []

    async def for_ever(lobby: Lobby, event: Any) -> None:
        taking.append(event)
        await table.until(lambda: False, 60.0)

    monkeypatch.setattr(Lobby, "_take", for_ever)
    await table.run()
    await table.until(lambda: taking)
    await table.kill()
    assert counts[0] == 1


async def test_the_games_of_an_account_that_is_watched() -> None:
    closed = []

    class Account:
        async def account_events(self) -> AsyncGenerator[GameStarted]:
            try:
                yield GameStarted("abcdefgh")
                yield GameStarted("ijklmnop")
            finally:
                closed.append(True)

    async with aclosing(_started(Account().account_events())) as ids:
        assert await anext(ids) == "abcdefgh"
    assert closed
