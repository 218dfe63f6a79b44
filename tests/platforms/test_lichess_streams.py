"""Whatever ends a stream, it is opened again, and nothing of it is taken for the end of the game."""

import asyncio
import gc
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import structlog
from aiohttp import web

from bridge.errors import Refused, UsageError
from bridge.interfaces import (
    ChallengeReceived,
    ChatLine,
    Connected,
    Disconnected,
    GameOpened,
    GameStarted,
    GameState,
)
from bridge.platforms.lichess.client import Client

if TYPE_CHECKING:
    from tests.platforms.conftest import Answer, Connect, Script, Take

GAME = "GET /api/bot/game/stream/g1"
EVENTS = "GET /api/stream/event"
MOVES = ["e2e4", "e7e5", "g1f3", "b8c6"]


def state(plies: int, status: str = "started", **more: object) -> dict[str, Any]:
    clocks = {"wtime": 60_000, "btime": 60_000, "winc": 0, "binc": 0}
    return {"type": "gameState", "moves": " ".join(MOVES[:plies]), **clocks, "status": status, **more}


def full(plies: int, status: str = "started") -> dict[str, Any]:
    players = {"white": {"id": "kiri", "name": "Kiri"}, "black": {"id": "quill", "name": "Quill"}}
    clock = {"initial": 60_000, "increment": 0}
    return {"type": "gameFull", "id": "g1", "clock": clock, **players, "state": state(plies, status)}


def start(game_id: str) -> dict[str, Any]:
    return {"type": "gameStart", "game": {"gameId": game_id, "color": "white"}}


def shape(messages: list[Any]) -> list[str]:
    """Connected and so on by name, what holds a snapshot by its number of plies."""
    words = []
    for message in messages:
        plies = len(message.snapshot.moves) if isinstance(message, GameOpened | GameState) else ""
        words.append(f"{type(message).__name__}{plies}")
    return words


async def test_a_game_to_its_end(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on(GAME, script.streams(full(0), state(1), b"\n", state(2), state(2, "resign", winner="white"), state(2)))
    messages = await take(connect(script.url).game("g1"))
    assert shape(messages) == ["Connected", "GameOpened0", "GameState1", "GameState2", "GameState2"]
    assert messages[-1].snapshot.status == "resign"
    assert script.count(GAME) == 1


async def test_a_game_that_is_over_already(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on(GAME, script.streams(full(4, "mate")))
    assert shape(await take(connect(script.url).game("g1"))) == ["Connected", "GameOpened4"]


def page(status: int) -> "Answer":
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text="<html>Bad gateway</html>", content_type="text/html")

    return answer


async def junk_chunk(request: web.Request) -> web.StreamResponse:
    """A proxy's error where the head of a chunk is due."""
    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(json.dumps(full(1)).encode() + b"\n")
    await asyncio.sleep(0.05)
    assert request.transport is not None
    request.transport.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>")
    request.transport.close()
    return response


@pytest.mark.parametrize("fault", ["clean end", "reset", "silence", "502 page", "200 page", "junk chunk", "hang-up"])
async def test_a_lost_game_stream_comes_back(script: "Script", connect: "Connect", take: "Take", fault: str) -> None:
    faults: dict[str, Answer] = {
        "clean end": script.streams(full(1), state(2)),
        "reset": script.streams(full(1), state(2), 0.05, script.RESET),
        "silence": script.streams(full(1), state(2), script.SILENCE),
        "502 page": page(502),
        "200 page": page(200),
        "junk chunk": junk_chunk,
        "hang-up": script.hangs_up,
    }
    script.on(GAME, faults[fault], faults[fault], script.streams(full(2), state(3), state(4, "mate")))
    began = time.monotonic()
    messages = await take(connect(script.url).game("g1"))
    assert time.monotonic() - began < 15
    assert shape(messages)[-4:] == ["Connected", "GameOpened2", "GameState3", "GameState4"]
    assert [message for message in messages if isinstance(message, Disconnected)]
    assert script.count(GAME) == 3


async def test_keep_alives_keep_a_quiet_stream_open(script: "Script", connect: "Connect", take: "Take") -> None:
    waiting = [step for _ in range(4) for step in (0.5, b"\n")]
    script.on(GAME, script.streams(full(0), *waiting, state(1, "aborted")))
    platform = connect(script.url, timings=replace(script.QUICK, silence_s=1.5))
    assert shape(await take(platform.game("g1"))) == ["Connected", "GameOpened0", "GameState1"]
    assert script.count(GAME) == 1


async def test_silence_is_noticed_after_the_last_sign_of_life(
    script: "Script", connect: "Connect", take: "Take"
) -> None:
    script.on(GAME, script.streams(full(0), b"\n", 0.2, b"\n", script.SILENCE), script.streams(full(0, "aborted")))
    began = time.monotonic()
    await take(connect(script.url).game("g1"))
    assert 0.5 < time.monotonic() - began < 10


async def test_broken_lines_are_logged_and_skipped(script: "Script", connect: "Connect", take: "Take") -> None:
    chat = json.dumps({"type": "chatLine", "username": "Quill", "text": "tère ♞"}, ensure_ascii=False).encode()
    cut = chat.index("è".encode()) + 1
    script.on(
        GAME,
        script.streams(
            *(full(0), b"<html>\n", b'{"type":"gameState","moves":7}\n', b'{"type":"weather"}\n'),
            *(chat[:cut], 0.02, chat[cut:] + b"\r\n", b'{"x":"' + b"y" * 700_000, b"y" * 700_000 + b'"}\n'),
            *(json.dumps(state(1)).encode() + b"\n" + json.dumps(state(2)).encode() + b"\r\n", state(3, "draw")),
        ),
    )
    with structlog.testing.capture_logs() as logs:
        messages = await take(connect(script.url).game("g1"))
    assert shape(messages) == ["Connected", "GameOpened0", "ChatLine", "GameState1", "GameState2", "GameState3"]
    assert messages[2] == ChatLine("Quill", "tère ♞")
    warnings = [(entry["event"], entry["cause"]) for entry in logs if entry["log_level"] == "warning"]
    assert [event for event, _ in warnings] == ["line_skipped", "line_skipped", "line_dropped"]
    assert "not JSON" in warnings[0][1]
    assert "moves" in warnings[1][1]
    assert script.count(GAME) == 1


async def test_a_state_before_its_game_and_foreign_moves_are_not_believed(
    script: "Script", connect: "Connect", take: "Take"
) -> None:
    foreign = {**state(2), "moves": "g2g3"}
    script.on(
        GAME,
        script.streams(state(1), 5.0),
        script.streams(full(2), foreign, 5.0),
        script.streams(full(2), state(1), state(4, "mate")),
    )
    messages = await take(connect(script.url).game("g1"))
    assert [word for word in shape(messages) if word.startswith("Game")] == [
        "GameOpened2",
        "GameOpened2",
        "GameState1",
        "GameState4",
    ]


LIMITS: dict[str, tuple[Callable[["Script"], "Answer"], float]] = {
    "figure": (lambda script: script.says(429, {"error": "slow", "ratelimit": {"key": "k", "seconds": 0.15}}), 0.15),
    "header": (lambda script: script.says(429, {"error": "slow"}, Retry_After="1"), 1.0),
    "page": (lambda script: script.says(429, "<html>Too many requests</html>"), 0.3),
}


@pytest.mark.parametrize("kind", LIMITS)
async def test_a_429_is_waited_out(script: "Script", connect: "Connect", take: "Take", kind: str) -> None:
    make, wait_s = LIMITS[kind]
    script.on(GAME, make(script), script.streams(full(0, "aborted")))
    await take(connect(script.url).game("g1"))
    first, second = (asked.at for asked in script.asked if asked.path.startswith("/api/bot"))
    assert wait_s <= second - first < wait_s + 5


async def test_openings_that_bring_nothing_are_spaced_out(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on(GAME, *[script.says(503)] * 6, script.streams(full(0, "aborted")))
    await take(connect(script.url).game("g1"))
    times = [asked.at for asked in script.asked if asked.path.startswith("/api/bot")]
    gaps = [later - sooner for sooner, later in itertools.pairwise(times)]
    assert gaps[0] < 2
    assert sum(gaps[3:]) > 0.1


async def test_a_stream_that_brings_something_is_reopened_at_once_every_time(
    script: "Script", connect: "Connect", take: "Take"
) -> None:
    breaks = [script.streams(full(n % 4), 0.01, script.RESET) for n in range(8)]
    script.on(GAME, *breaks, script.streams(full(4, "mate")))
    began = time.monotonic()
    await take(connect(script.url, timings=replace(script.QUICK, backoff_s=(5.0, 30.0))).game("g1"))
    assert time.monotonic() - began < 20.0
    assert script.count(GAME) == 9


async def test_a_game_that_is_gone_ends(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on(GAME, script.says(404, {"error": "No such game"}))
    messages = await take(connect(script.url).game("g1"))
    assert isinstance(messages[-1], Disconnected)
    assert "No such game" in messages[-1].reason
    assert script.count(GAME) == 3


async def test_one_404_in_a_running_game_is_not_believed(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on(GAME, script.streams(full(1)), script.says(404, "<html>"), script.streams(full(1), state(2, "mate")))
    assert shape(await take(connect(script.url).game("g1")))[-1] == "GameState2"


@pytest.mark.parametrize(("status", "words"), [(401, "No such token"), (403, "Missing scope: bot:play")])
async def test_a_token_that_is_not_good_enough_stops_it(
    script: "Script", connect: "Connect", take: "Take", status: int, words: str
) -> None:
    script.on(GAME, script.says(status, {"error": words}))
    with pytest.raises(Refused, match=words):
        await take(connect(script.url).game("g1"))
    assert script.count(GAME) == 1


async def test_the_event_stream_comes_back_and_tells_running_games_again(
    script: "Script", connect: "Connect", take: "Take"
) -> None:
    script.on(
        EVENTS,
        script.streams(start("g1")),
        script.says(502, "<html>"),
        script.streams(start("g1"), 0.05, script.RESET),
        script.streams(b"\n", script.SILENCE),
        script.streams(start("g1"), start("g2"), 5.0),
    )
    began = time.monotonic()
    events = await take(connect(script.url).account_events(), 12)
    assert time.monotonic() - began < 15
    assert [event.game_id for event in events if isinstance(event, GameStarted)] == ["g1", "g1", "g1", "g2"]
    assert sum(isinstance(event, Connected) for event in events) == 4
    assert sum(isinstance(event, Disconnected) for event in events) == 4


async def test_own_challenges_are_not_told(script: "Script", connect: "Connect", take: "Take") -> None:
    def challenge(challenge_id: str, challenger: str) -> dict[str, Any]:
        return {"type": "challenge", "challenge": {"id": challenge_id, "challenger": {"id": challenger}}}

    script.on(EVENTS, script.streams(challenge("c1", "kiri"), challenge("c2", "quill"), 5.0))
    events = await take(connect(script.url).account_events(), 2)
    assert [e.challenge.id for e in events if isinstance(e, ChallengeReceived)] == ["c2"]


async def test_events_wait_for_a_server_that_is_not_there_yet(
    script: "Script", connect: "Connect", take: "Take"
) -> None:
    account = script.says(200, {"id": "kiri", "username": "Kiri"})
    script.on("GET /api/account", script.says(502, "<html>"), script.says(502, "<html>"), account)
    script.on(EVENTS, script.streams(start("g1"), 5.0))
    assert GameStarted("g1", True) in await take(connect(script.url).account_events(), 2)


async def test_fifty_games_in_one_packet(script: "Script", connect: "Connect", take: "Take") -> None:
    packet = b"".join(json.dumps(start(f"g{n}")).encode() + b"\n" for n in range(50))
    script.on(EVENTS, script.streams(packet, 5.0))
    events = await take(connect(script.url).account_events(), 51)
    assert [event.game_id for event in events[1:]] == [f"g{n}" for n in range(50)]


async def test_board_streams_are_only_read(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on("GET /api/board/game/stream/g1", script.streams(full(0), state(1), state(1, "resign", winner="white")))
    messages = await take(connect(script.url).board_game("g1"))
    assert shape(messages) == ["Connected", "GameOpened0", "GameState1", "GameState1"]
    assert {asked.method for asked in script.asked} == {"GET"}


async def test_without_a_token_there_are_no_events(script: "Script", connect: "Connect", take: "Take") -> None:
    with pytest.raises(UsageError, match="token"):
        await take(connect(script.url, token="").account_events())


async def test_closing_ends_the_streams(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on(GAME, script.streams(full(0), script.SILENCE))
    platform = connect(script.url)
    reading = asyncio.create_task(take(platform.game("g1")))
    await asyncio.sleep(0.1)
    await platform.close()
    assert shape(await reading)[:2] == ["Connected", "GameOpened0"]


async def test_streams_that_have_ended_leave_nothing_with_the_connection_they_shared(script: "Script") -> None:
    script.on(GAME, script.streams(full(0), 0.02))
    client = Client(script.url, "", script.QUICK)

    async def read() -> None:
        async with client.lines(GAME.removeprefix("GET "), silence_s=10) as lines:
            assert len([line async for line in lines]) == 1

    def in_memory() -> int:
        return sum(type(each) is aiohttp.StreamReader for each in gc.get_objects())

    await read()
    before = in_memory()
    for _ in range(20):
        await read()
    assert in_memory() < before + 10
    await client.close()


async def test_the_name_is_in_the_agent_once_it_is_known(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on(GAME, script.streams(full(0, "aborted")))
    platform = connect(script.url)
    await platform.account()
    await take(platform.game("g1"))
    before, after = (asked.agent for asked in script.asked)
    assert before.startswith("kirichess-bridge/")
    assert "user:" not in before
    assert after == f"{before} user:Kiri"
