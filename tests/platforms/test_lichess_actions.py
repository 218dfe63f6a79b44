"""Moves get through, or are no longer wanted; everything else is asked once."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from bridge.errors import PlatformError, RateLimited, Refused, Unreachable, UsageError
from bridge.interfaces import (
    Abort,
    AcceptChallenge,
    Action,
    AnswerDraw,
    AnswerTakeback,
    ClaimDraw,
    ClaimVictory,
    DeclineChallenge,
    GameOpened,
    PlayMove,
    Resign,
    Say,
)

if TYPE_CHECKING:
    from bridge.platforms.lichess.platform import Lichess
    from tests.platforms.conftest import Answer, Connect, Script

MOVE = "POST /api/bot/game/g1/move/e2e4"
STREAM = "GET /api/bot/game/stream/g1"
NOT_YOURS = {"error": "Not your turn, or game already over"}


def times(script: "Script") -> list[float]:
    return [asked.at for asked in script.asked if asked.method == "POST"]


def gaps(script: "Script") -> list[float]:
    return [later - sooner for sooner, later in itertools.pairwise(times(script))]


def state(moves: str, status: str = "started") -> dict[str, Any]:
    return {"type": "gameState", "moves": moves, "wtime": 60_000, "btime": 60_000, "status": status}


def full(moves: str) -> dict[str, Any]:
    return {"type": "gameFull", "id": "g1", "state": state(moves)}


@asynccontextmanager
async def reading(platform: "Lichess") -> AsyncIterator[None]:
    """The game's stream is followed while the block runs."""
    opened = asyncio.Event()

    async def read() -> None:
        async for message in platform.game("g1"):
            if isinstance(message, GameOpened):
                opened.set()

    task = asyncio.create_task(read())
    await opened.wait()
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_move_and_a_draw_offer_with_it(script: "Script", connect: "Connect") -> None:
    script.on(MOVE, script.says())
    await connect(script.url).perform(PlayMove("g1", "e2e4"))
    await connect(script.url).perform(PlayMove("g1", "e2e4", offering_draw=True))
    assert [asked.path for asked in script.asked] == [
        "/api/bot/game/g1/move/e2e4",
        "/api/bot/game/g1/move/e2e4?offeringDraw=true",
    ]


FAULTS: dict[str, Callable[["Script"], "Answer"]] = {
    "500": lambda script: script.says(500, {"error": "oops"}),
    "502 page": lambda script: script.says(502, "<html>"),
    "408": lambda script: script.says(408, {"error": "timeout"}),
    "404 page": lambda script: script.says(404, "<html>"),
    "400 once": lambda script: script.says(400, "<html>"),
    "hang-up": lambda script: script.hangs_up,
    "late": lambda script: script.says(200, delay_s=0.6),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_move_is_sent_until_it_is_accepted(script: "Script", connect: "Connect", fault: str) -> None:
    script.on(MOVE, FAULTS[fault](script), FAULTS[fault](script), script.says())
    await connect(script.url).perform(PlayMove("g1", "e2e4"))
    assert script.count(MOVE) == 3


async def test_a_move_held_by_429_is_never_forgotten(script: "Script", connect: "Connect") -> None:
    page, plain = script.says(429, "<html>Too many"), script.says(429, {"error": "slow"})
    figure = script.says(429, {"error": "slow", "ratelimit": {"key": "k", "seconds": 0.3}})
    script.on(MOVE, page, plain, plain, figure, script.says())
    await connect(script.url).perform(PlayMove("g1", "e2e4"))
    for gap, wait_s in zip(gaps(script), [0.1, 0.2, 0.2, 0.3], strict=True):
        assert 0.85 * wait_s <= gap < wait_s + 5


async def test_a_held_move_holds_up_no_other_game(script: "Script", connect: "Connect") -> None:
    script.on(MOVE, script.says(429, {"error": "slow", "ratelimit": {"key": "k", "seconds": 600}}))
    script.on("POST /api/bot/game/g2/move/e2e4", script.says())
    platform = connect(script.url)
    held = asyncio.create_task(platform.perform(PlayMove("g1", "e2e4")))
    await asyncio.sleep(0.05)
    async with asyncio.timeout(30):
        await platform.perform(PlayMove("g2", "e2e4"))
    held.cancel()


async def test_an_illegal_move_is_refused(script: "Script", connect: "Connect") -> None:
    script.on(MOVE, script.says(400, {"error": "Piece on e2 cannot move to e4"}))
    with pytest.raises(Refused, match="cannot move to e4"):
        await connect(script.url).perform(PlayMove("g1", "e2e4"))


async def test_an_answer_lost_after_the_move_took_effect(script: "Script", connect: "Connect") -> None:
    script.on(MOVE, script.hangs_up, script.says(400, NOT_YOURS))
    await connect(script.url).perform(PlayMove("g1", "e2e4"))
    assert script.count(MOVE) <= 4


async def test_a_move_that_the_stream_shows_is_not_sent_again(script: "Script", connect: "Connect") -> None:
    script.on(STREAM, script.streams(full(""), 0.15, state("e2e4"), 5.0))
    script.on(MOVE, script.hangs_up, script.says(429, {"error": "slow", "ratelimit": {"key": "k", "seconds": 0.8}}))
    platform = connect(script.url)
    async with reading(platform):
        await platform.perform(PlayMove("g1", "e2e4"))
    assert script.count(MOVE) <= 2


async def test_a_stale_move_is_not_sent_after_a_takeback_or_the_end(script: "Script", connect: "Connect") -> None:
    moved = "e2e4 e7e5"
    for later in (state(""), state(moved, "resign")):
        script.asked.clear()
        script.on(STREAM, script.streams(full(moved), 0.1, later, 5.0))
        script.on("POST /api/bot/game/g1/move/g1f3", script.says(502))
        platform = connect(script.url)
        async with reading(platform):
            async with asyncio.timeout(20):
                await platform.perform(PlayMove("g1", "g1f3"))
            sent = len(times(script))
            await asyncio.sleep(0.2)
            assert len(times(script)) == sent


async def test_the_same_position_again_does_not_supersede(script: "Script", connect: "Connect") -> None:
    gift = {**state(""), "wtime": 75_000}
    script.on(STREAM, script.streams(full(""), 0.05, gift, 0.05, script.RESET), script.streams(full(""), 5.0))
    script.on(MOVE, *[script.says(502)] * 5, script.says())
    platform = connect(script.url)
    async with reading(platform):
        await platform.perform(PlayMove("g1", "e2e4"))
    assert script.count(MOVE) == 6


async def test_a_canceled_move_is_not_sent_again(script: "Script", connect: "Connect") -> None:
    script.on(MOVE, script.says(502))
    task = asyncio.create_task(connect(script.url).perform(PlayMove("g1", "e2e4")))
    async with asyncio.timeout(30):
        while not script.count(MOVE):
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0.2)  # one may have been on its way
    sent = script.count(MOVE)
    await asyncio.sleep(0.2)
    assert script.count(MOVE) == sent


async def test_closing_ends_what_is_owed(script: "Script", connect: "Connect") -> None:
    script.on(MOVE, script.says(502))
    platform = connect(script.url)
    task = asyncio.create_task(platform.perform(PlayMove("g1", "e2e4")))
    await asyncio.sleep(0.1)
    await platform.close()
    with pytest.raises(Unreachable):  # by what the closing did to the request under way, or by what the next try found
        await asyncio.wait_for(task, 20)


@pytest.mark.parametrize("action", [Resign("g1"), ClaimVictory("g1"), ClaimDraw("g1")])
async def test_resignations_and_claims_wait_faults_out(script: "Script", connect: "Connect", action: Action) -> None:
    verb = {Resign: "resign", ClaimVictory: "claim-victory"}.get(type(action), "claim-draw")
    path = f"POST /api/bot/game/g1/{verb}"
    script.on(path, script.says(429, "<html>"), script.says(503), script.hangs_up, script.says())
    await connect(script.url).perform(action)
    assert script.count(path) == 4
    script.on(path, script.says(400, {"error": "You cannot claim the win on this game"}))
    with pytest.raises(Refused):
        await connect(script.url).perform(action)
    assert script.count(path) == 5


ONCE: list[tuple[Action, str, str]] = [
    (Abort("g1"), "/api/bot/game/g1/abort", ""),
    (AnswerDraw("g1", True), "/api/bot/game/g1/draw/yes", ""),
    (AnswerDraw("g1", False), "/api/bot/game/g1/draw/no", ""),
    (AnswerTakeback("g1", True), "/api/bot/game/g1/takeback/yes", ""),
    (AnswerTakeback("g1", False), "/api/bot/game/g1/takeback/no", ""),
    (Say("g1", "good game & thanks"), "/api/bot/game/g1/chat", "room=player&text=good+game+%26+thanks"),
    (Say("g1", "hi", "spectator"), "/api/bot/game/g1/chat", "room=spectator&text=hi"),
    (AcceptChallenge("c1"), "/api/challenge/c1/accept", ""),
    (DeclineChallenge("c1", "casual"), "/api/challenge/c1/decline", "reason=casual"),
]


@pytest.mark.parametrize(("action", "path", "body"), ONCE)
async def test_everything_else_is_asked_once(
    script: "Script", connect: "Connect", action: Action, path: str, body: str
) -> None:
    refusals: list[tuple[Answer, type[PlatformError]]] = [
        (script.says(400, {"error": {"text": ["too long"]}}), Refused),
        (script.says(404, {"error": "Not found"}), Refused),
        (script.says(502, "<html>"), Unreachable),
        (script.hangs_up, Unreachable),
        (script.says(200, delay_s=1.0), Unreachable),
    ]
    platform = connect(script.url)
    for answer, error in refusals:
        script.on(f"POST {path}", answer)
        with pytest.raises(error):
            await platform.perform(action)
    script.on(f"POST {path}", script.says())
    await platform.perform(action)
    assert script.count(f"POST {path}") == len(refusals) + 1
    assert script.asked[-1].body == body


async def test_a_held_chat_is_refused_here_and_moves_pass(script: "Script", connect: "Connect") -> None:
    chat = "POST /api/bot/game/g1/chat"
    script.on(chat, script.says(429, {"error": "Too many requests"}, Retry_After="30"))
    script.on(MOVE, script.says())
    platform = connect(script.url)
    for _ in range(3):
        with pytest.raises(RateLimited) as held:
            await platform.perform(Say("g1", "hello"))
        assert held.value.retry_after_s == pytest.approx(30, abs=1)
    assert script.count(chat) == 1
    await platform.perform(PlayMove("g1", "e2e4"))


async def test_a_slow_chat_does_not_hold_up_a_move(script: "Script", connect: "Connect") -> None:
    script.on("POST /api/bot/game/g1/chat", script.says(200, delay_s=60))
    script.on(MOVE, script.says())
    platform = connect(script.url, timings=replace(script.QUICK, request_s=60, move_s=30))
    chat = asyncio.create_task(platform.perform(Say("g1", "hello")))
    await asyncio.sleep(0.05)
    async with asyncio.timeout(30):
        await platform.perform(PlayMove("g1", "e2e4"))
    assert not chat.done()
    chat.cancel()


async def test_the_daily_limit_of_bot_games_does_not_hold_other_challenges(
    script: "Script", connect: "Connect"
) -> None:
    limit = {"error": "You played 100 games", "ratelimit": {"key": "bot.vsBot.day", "seconds": 80_000}}
    script.on("POST /api/challenge/c1/accept", script.says(429, limit))
    script.on("POST /api/challenge/c2/accept", script.says())
    platform = connect(script.url)
    with pytest.raises(RateLimited) as limited:
        await platform.perform(AcceptChallenge("c1"))
    assert limited.value.retry_after_s == 80_000
    await platform.perform(AcceptChallenge("c2"))


async def test_nothing_is_done_without_a_token(script: "Script", connect: "Connect") -> None:
    with pytest.raises(UsageError, match="token"):
        await connect(script.url, token="").perform(PlayMove("g1", "e2e4"))
    assert script.asked == []


async def test_nothing_is_sent_under_the_board_api(script: "Script", connect: "Connect") -> None:
    platform = connect(script.url)
    for action in [
        PlayMove("g1", "e2e4"),
        Resign("g1"),
        ClaimVictory("g1"),
        ClaimDraw("g1"),
        *(action for action, _, _ in ONCE),
    ]:
        with pytest.raises(Refused):
            await platform.perform(action)
    assert len(script.asked) > len(ONCE)
    assert not [asked for asked in script.asked if "board" in asked.path]


async def test_the_token_is_in_no_message_log_or_repr(
    script: "Script", connect: "Connect", caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = "lip_verysecret99"
    said: list[str] = []
    with structlog.testing.capture_logs() as logs:
        platform = connect(script.url, token=token)
        for answer in (
            script.hangs_up,
            script.says(401, {"error": "No such token"}),
            script.says(500),
            script.says(429),
        ):
            for path in ("POST /api/bot/game/g1/abort", "GET /api/account", "POST /api/token/test", STREAM):
                script.on(path, answer)
            for ask in (platform.account, platform.token_facts, lambda: platform.perform(Abort("g1"))):
                try:
                    await ask()
                except (PlatformError, UsageError) as error:
                    said += [str(error), repr(error), repr(error.__cause__), repr(error.__context__)]
    assert len(said) > 10
    for text in [*said, repr(platform), repr(vars(platform)), str(logs), caplog.text]:
        assert token not in text


@pytest.mark.parametrize("token", ["lip_a b", "lip_x\n", "lip_é"])
def test_a_token_that_cannot_be_one(connect: "Connect", token: str) -> None:
    with pytest.raises(UsageError) as error:
        connect("http://127.0.0.1:1", token=token)
    assert token not in str(error.value)


async def test_a_server_that_is_not_there(connect: "Connect") -> None:
    platform = connect("http://127.0.0.1:1")
    with pytest.raises(Unreachable):
        await platform.perform(Abort("g1"))
    with pytest.raises(Unreachable):
        await platform.account()


async def test_a_silent_server_blocks_no_call_for_ever(script: "Script", connect: "Connect") -> None:
    script.on("GET /api/account", script.says(200, {"id": "kiri"}, delay_s=60))
    async with asyncio.timeout(20):
        with pytest.raises(Unreachable):
            await connect(script.url).account()


ODD: dict[str, Callable[["Script"], "Answer"]] = {
    "page": lambda script: script.says(200, "<html>hello</html>"),
    "list": lambda script: script.says(200, [1, 2]),
    "no id": lambda script: script.says(200, {"username": "Kiri"}),
    "redirect": lambda script: script.says(302, "<html>", Location="https://elsewhere.example/"),
}


@pytest.mark.parametrize("odd", ODD)
async def test_an_answer_that_is_none_is_one_line(script: "Script", connect: "Connect", odd: str) -> None:
    script.on("GET /api/account", ODD[odd](script))
    with pytest.raises(PlatformError) as error:
        await connect(script.url).account()
    assert "\n" not in str(error.value)


def test_an_address_that_is_none(connect: "Connect") -> None:
    with pytest.raises(UsageError, match="write it like"):
        connect("lichess.org")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_nobody_is_led_elsewhere(script: "Script", connect: "Connect", status: int) -> None:
    """Neither a request nor a stream, and with them the token."""
    leads = script.says(status, "<html>", Location="/elsewhere")
    for request in ("POST /api/bot/game/g1/chat", "GET /api/users/status", "GET /api/stream/event"):
        script.on(request, leads)
    platform = connect(script.url)
    for asking in (platform.perform(Say("g1", "hello")), platform.ping(), anext(platform.account_events())):
        with contextlib.suppress(PlatformError):
            await asking
    assert script.count("GET /api/stream/event") == 1
    assert not [asked for asked in script.asked if asked.path == "/elsewhere"]
