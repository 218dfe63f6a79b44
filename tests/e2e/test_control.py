"""What the monitor may have the program do, where the settings allow it, and that each use is on record."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
import pytest

from bridge.arena import Arena
from bridge.event_types import CONTROL_USED, GAME_PLY, VERDICT_CHANGED
from tests.e2e.conftest import Bridge, Config, RunBridge


@pytest.fixture
async def running(
    arena: Arena, run_bridge: RunBridge, bot: Callable[..., Config], tmp_path: Path
) -> AsyncIterator[Bridge]:
    config = {
        "accounts": [bot("Fish", "built-in", pool="anchor")],
        "engines": {"built-in": {"kind": "kiri", "builtin": True}},
        "journal": {"url": f"sqlite:///{tmp_path / 'journal.db'}"},
        "monitor": {"listen": "127.0.0.1:0", "token": "monitor-token", "control": True},
    }
    async with run_bridge(config, think_cap_ms=20) as bridge:
        yield bridge


async def post(bridge: Bridge, action: str, token: str = "monitor-token", /, **body: object) -> tuple[int, str]:
    assert bridge.daemon.monitor is not None
    url = f"{bridge.daemon.monitor.url}api/control/{action}"
    headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.7"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json=body, headers=headers) as response,
    ):
        return response.status, await response.text()


async def begun(arena: Arena, bridge: Bridge) -> str:
    """A game of our bot in which both sides have moved: one that is not aborted, but resigned."""
    game = arena.games[arena.pair("Fish", "Human", 540)]
    await plies(bridge, 1)
    arena.hall.move(game, game.turn, "e7e5")
    await plies(bridge, 3)
    return game.id


async def plies(bridge: Bridge, number: int) -> None:
    async with asyncio.timeout(60):
        while len(bridge.recorder.of(GAME_PLY)) < number:
            await asyncio.sleep(0.02)


async def test_a_game_is_resigned_and_judged_again(arena: Arena, running: Bridge) -> None:
    game = await begun(arena, running)
    assert (await post(running, "adjudicate", game=game))[0] == 409
    assert (await post(running, "resign", "wrong", game=game))[0] == 401
    status, text = await post(running, "resign", game=game)
    assert (status, "resigns" in text) == (200, True)
    verdict = await running.recorder.final(60)
    assert (verdict["result"], verdict["reason"]) == ("0-1", "resignation")
    status, text = await post(running, "adjudicate", game=game)
    assert (status, "as it was" in text) == (200, True)
    assert not running.recorder.of(VERDICT_CHANGED)
    used = [(entry.subject, entry.data["action"], entry.data["by"]) for entry in running.recorder.of(CONTROL_USED)]
    assert used == [(game, action, "token") for action in ("adjudicate", "resign", "adjudicate")]
    from_where = [(entry.data["address"], entry.data["forwarded_for"]) for entry in running.recorder.of(CONTROL_USED)]
    assert from_where == [("127.0.0.1", "192.0.2.7")] * 3


async def test_the_archive_may_say_something_else(arena: Arena, running: Bridge) -> None:
    game = await begun(arena, running)
    await post(running, "resign", game=game)
    await running.recorder.final(60)
    arena.games[game].winner = True  # White's, as the archive has it now
    status, text = await post(running, "adjudicate", game=game)
    assert (status, "changed" in text) == (200, True), text
    async with asyncio.timeout(30):
        while not running.recorder.of(VERDICT_CHANGED):
            await asyncio.sleep(0.02)
    (changed,) = running.recorder.of(VERDICT_CHANGED)
    assert isinstance(changed.data["verdict"], dict)
    assert changed.data["verdict"]["result"] == "1-0"
    told = changed.data["verdict"]
    assert (told["clock_source"], told["precision_ms"]) == ("stream", 10), "the finer clocks stay"
    assert changed.data["cause"] == "judged again on request, from the source stream"
    assert changed.account == "Fish"


async def test_only_our_own_games_can_be_given_up(arena: Arena, running: Bridge) -> None:
    game = arena.pair("Kiri", "Human", 540)
    assert (await post(running, "resign", game=game))[0] == 409
    assert arena.games[game].status.key in ("created", "started")


@pytest.mark.parametrize("body", [{}, {"game": 5}, {"game": "../x"}, {"game": ""}])
async def test_a_body_that_names_no_game(running: Bridge, body: dict[str, object]) -> None:
    assert (await post(running, "resign", **body))[0] == 400


async def test_it_is_drained_and_read_again(running: Bridge) -> None:
    assert (await post(running, "reload"))[0] == 409, "there is no file"
    asked = asyncio.Event()
    running.daemon.reread = asked.set
    assert (await post(running, "reload"))[0] == 200
    assert asked.is_set()
    assert (await post(running, "drain"))[0] == 200
    await asyncio.wait_for(running.work, 30)


async def test_without_leave_there_are_no_such_addresses(
    arena: Arena, run_bridge: RunBridge, bot: Callable[..., Config], tmp_path: Path
) -> None:
    config = {
        "accounts": [bot("Fish", "built-in", pool="anchor")],
        "engines": {"built-in": {"kind": "kiri", "builtin": True}},
        "journal": {"url": f"sqlite:///{tmp_path / 'journal.db'}"},
        "monitor": {"listen": "127.0.0.1:0", "token": "monitor-token"},
    }
    async with run_bridge(config) as bridge:
        for action in ("resign", "drain", "reload", "adjudicate"):
            assert (await post(bridge, action, game="abcdefgh"))[0] == 404
