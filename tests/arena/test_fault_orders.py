"""`arena --faults SPEC`: what the words mean, what is said of wrong ones, and that the faults come."""

import asyncio
import re
import sys
import time
from typing import Any

import aiohttp
import pytest

from bridge.arena import Account, Arena
from bridge.arena.fault_orders import parse_orders
from bridge.arena.ordered_faults import OrderedFaults
from bridge.arena.server import GAME_ROUTES, ROUTE_NAMES
from bridge.arena.streams import Fate, StreamName
from bridge.errors import UsageError


def parse(text: str) -> Any:
    return parse_orders(text, ROUTE_NAMES, GAME_ROUTES)


def test_orders_are_read() -> None:
    move, events, game = parse("move:429:0.1:wait=2s, event_stream:reset:every=30s,game_stream:silence@ply=20")
    assert (move.where, move.status, move.share, move.wait_s) == ("move", 429, 0.1, 2.0)
    assert (events.where, events.fate, events.every_s) == ("event_stream", Fate.RESET, 30.0)
    assert (game.fate, game.ply, game.times) == (Fate.SILENCE, 20, None)
    assert parse("chat:lost:times=3:account=KiriBot")[0].account == "kiribot"
    assert parse("move:late:wait=2")[0].answer().delay_s == 2.0


def test_places_with_a_game_are_known() -> None:
    assert {"move", "chat", "game_stream", "watch", "export", "add_time"} <= GAME_ROUTES <= ROUTE_NAMES
    assert not GAME_ROUTES & {"event_stream", "accept", "account", "tournament", "tv_feed"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mov:429", "did you mean 'move'?"),
        ("game_strem:end", "did you mean 'game_stream'?"),
        ("event_stream:rest", "did you mean 'reset'?"),
        ("move:silence", "unknown fault of move 'silence'"),
        ("move:200", "unknown fault of move '200'"),
        ("move", "move:503"),
        ("move:429:evry=3s", "did you mean 'every'?"),
        ("move:429:every=soon", "every=30s"),
        ("move:429:times=0", "times=3"),
        ("move:429:times=1.5", "times=3"),
        ("move:429:2", "a share"),
        ("move:429:0", "a share lies above 0"),
        ("move:429:-0.1", "a share above 0 and at most 1"),
        ("chat:500,mve:500", "did you mean 'move'?"),
        ("", "no order is given; such as move:429:0.1"),
        (" , ,", "no order is given"),
        ("move:429,,chat:503", "one is missing"),
        ("move:429,", "one is missing"),
        ("move:429:0.1:0.2", "a share twice"),
        ("move:429:times=3:times=4", "times twice"),
        ("move:429:0.1:every=30s", "a share and every="),
        ("move:400:wait=5s", "wait= goes with 429 and late, not with 400"),
        ("move:429:wait=0s", "wait=5s"),
        ("move:429:times=3s", "times=3"),
        ("move:429:account=", "account=KiriBot"),
        ("move:429:", "unknown word ''"),
        ("move:600", "400, 429, 503"),
        ("event_stream:lost", "(known: page, end, reset, silence, a status from 400 to 599 such as 400, 429, 503)"),
        ("game_stream:late", "unknown fault of game_stream 'late'"),
        ("event_stream:end:ply=20", "about no game"),
        ("account:503:ply=3", "ply= goes with abort, "),
    ],
)
def test_a_wrong_word_is_told_in_one_line_with_the_nearest(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture
async def arena_with() -> Any:
    opened: list[tuple[Arena, asyncio.Task[None]]] = []

    async def start(text: str, dice: Any = None) -> Arena:
        faults = OrderedFaults(parse(text), **({"dice": dice} if dice else {}))
        accounts = [Account("Kiri", "tokenKiri", title="BOT"), Account("Human", "tokenHuman")]
        arena = await Arena(accounts, faults=faults).__aenter__()
        opened.append((arena, asyncio.create_task(faults.run(arena.hall))))
        await asyncio.sleep(0)
        return arena

    yield start
    for arena, task in opened:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await arena.__aexit__(None, None, None)


async def post(arena: Arena, path: str) -> int:
    """The status; 0: no answer."""
    headers = {"Authorization": "Bearer tokenKiri"}
    async with aiohttp.ClientSession(arena.url, headers=headers) as session:
        try:
            async with session.post(path) as response:
                return response.status
        except aiohttp.ClientError:
            return 0


async def test_requests_get_the_answers_that_were_ordered(arena_with: Any) -> None:
    arena = await arena_with("move:429:times=1,move:lost:times=1")
    game = arena.games[arena.pair("Kiri", "Human", 300)]
    path = f"/api/bot/game/{game.id}/move/e2e4"
    assert await post(arena, path) == 429
    assert game.plies == 0
    assert await post(arena, path) == 0
    assert game.plies == 1, "it was done, and only the answer is lost"


async def test_a_share_of_the_requests(arena_with: Any) -> None:
    throws = iter([0.05, 0.5, 0.09, 0.9])
    arena = await arena_with("chat:503:0.1", dice=lambda: next(throws))
    game = arena.pair("Kiri", "Human", 300)
    path = f"/api/bot/game/{game}/chat?room=player&text=x"
    assert [await post(arena, path) for _ in range(4)] == [503, 200, 503, 200]


async def test_a_stream_breaks_every_so_often(arena_with: Any) -> None:
    arena = await arena_with("event_stream:end:every=0.3s")
    headers = {"Authorization": "Bearer tokenKiri"}
    began = time.monotonic()
    async with aiohttp.ClientSession(arena.url, headers=headers) as session:
        for _ in range(2):
            async with session.get("/api/stream/event") as response:
                await asyncio.wait_for(response.read(), 2)
    assert 0.55 < time.monotonic() - began < 1.5


async def test_a_game_stream_breaks_once_from_a_ply_on(arena_with: Any) -> None:
    arena = await arena_with("game_stream:reset:ply=2")
    game = arena.games[arena.pair("Kiri", "Human", 300)]
    seam = arena._seam
    stream = StreamName("game", "kiri", game.id)
    assert seam.on_line(stream) is Fate.PASS
    for uci in ("e2e4", "e7e5"):
        arena.hall.move(game, game.turn, uci)
    assert [seam.on_line(stream) for _ in range(2)] == [Fate.RESET, Fate.PASS]
    assert seam.on_line(StreamName("watch", "", game.id)) is Fate.PASS


async def test_the_command_takes_it_and_refuses_nonsense() -> None:
    async def start(spec: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bridge.cli.main", "arena", "--faults", spec),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    process = await start("account:503:times=1")
    assert process.stdout is not None
    found = re.search(r"http://\S+", (await process.stdout.readline()).decode())
    assert found is not None
    headers = {"Authorization": "Bearer lip_KiriBot"}
    async with aiohttp.ClientSession(found[0], headers=headers) as session:
        statuses = []
        for _ in range(2):
            async with session.get("/api/account") as response:
                statuses.append(response.status)
    assert statuses == [503, 200]
    process.terminate()
    _, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")

    process = await start("acount:503")
    out, err = await process.communicate()
    assert (process.returncode, out, len(err.splitlines())) == (2, b"", 1)
    assert b"did you mean 'account'?" in err
