"""What games are watched through is seen in the status and told as events: accounts, users and TV channels."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from bridge import event_types
from bridge.arena import Account, Arena
from bridge.web import Stream

ENTRIES: list[dict[str, str]] = [{"account": "me"}, {"user": "ben"}, {"tv": "blitz"}]
NAMES = {"account": "Ann", "user": "user:ben", "tv": "tv:blitz"}
ROUTES = {"account": "event_stream", "user": "statuses", "tv": "tv_feed"}


@pytest.fixture
async def arena() -> AsyncIterator[Arena]:
    async with Arena([Account("Ann", "tokenAnn"), Account("Ben", "tokenBen")]) as running:
        yield running


async def until(so: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not so():
            await asyncio.sleep(0.01)


def source(bridge: Any, name: str) -> Stream:
    (found,) = [stream for stream in bridge.daemon.status().streams if stream.name == name]
    assert isinstance(found, Stream)
    return found


def told(bridge: Any, kind: str, name: str) -> list[object]:
    return [entry.data.get("reason") for entry in bridge.recorder.of(kind) if entry.account == name]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: next(iter(entry)))
async def test_a_source_that_is_lost_is_told_and_found_again(
    arena: Arena, run_bridge: Any, entry: dict[str, str]
) -> None:
    kind = next(iter(entry))
    name = NAMES[kind]
    config = {
        "accounts": [{"platform": "lichess", "url": arena.url, "token": "tokenAnn"}],
        "watch": [{**entry, "pool": "anchor"}],
        "journal": {"url": "sqlite://"},
    }
    async with run_bridge(config, poll_s=0.05) as bridge:
        await until(lambda: source(bridge, name).alive)
        assert source(bridge, name) == Stream(name, alive=True)
        assert bridge.daemon.status().healthy
        await until(lambda: told(bridge, event_types.ACCOUNT_ONLINE, name))
        arena.faults.next(ROUTES[kind], status=503, times=1)
        for stream in ("event", "tv"):
            arena.faults.drop(stream)
        await until(lambda: not source(bridge, name).alive)
        assert source(bridge, name).detail
        assert not bridge.daemon.status().healthy
        await until(lambda: len(told(bridge, event_types.ACCOUNT_ONLINE, name)) == 2)
        await until(lambda: source(bridge, name).alive)
        (reason,) = told(bridge, event_types.ACCOUNT_OFFLINE, name)
        assert reason


async def test_entries_of_one_user_are_one_source(arena: Arena, run_bridge: Any) -> None:
    config = {
        "accounts": [{"platform": "lichess", "url": arena.url}],
        "watch": [{"user": "ben", "pool": "anchor"}, {"user": "ben", "pool": "fulcrum", "time_control": "5+0"}],
        "journal": {"url": "sqlite://"},
    }
    async with run_bridge(config, poll_s=0.05) as bridge:
        await until(lambda: source(bridge, "user:ben").alive)
        await until(lambda: told(bridge, event_types.ACCOUNT_ONLINE, "user:ben"))
        await asyncio.sleep(0.3)
        assert len(told(bridge, event_types.ACCOUNT_ONLINE, "user:ben")) == 1
