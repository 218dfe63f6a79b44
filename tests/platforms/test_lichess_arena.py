"""The platform contract, against a whole server: accounts, challenges, games, chat, watching, archive."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import chess
import pytest

from bridge.arena import Account, Arena, ArenaSettings, Fate
from bridge.errors import Refused, UsageError
from bridge.interfaces import (
    Abort,
    AcceptChallenge,
    AnswerDraw,
    AnswerTakeback,
    ChallengeGone,
    ChallengeReceived,
    ChatLine,
    Connected,
    DeclineChallenge,
    GameFinished,
    GameMessage,
    GameOpened,
    GameStarted,
    GameState,
    Platform,
    Player,
    PlayMove,
    Resign,
    Say,
)
from bridge.platforms.lichess.platform import Lichess
from bridge.rules.snapshot import RUNNING, TimeControl

if TYPE_CHECKING:
    from tests.platforms.conftest import Connect, Take

ACCOUNTS = (
    Account("Alpha", "tokA", title="BOT"),
    Account("Beta", "tokB", title="BOT"),
    Account("Wanda", "tokW"),
    Account("Bruno", "tokH"),
)
FIVE_THREE = TimeControl(300_000, 3_000)
SCHOLAR = ["e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7"]


@pytest.fixture
async def arena() -> AsyncIterator[Arena]:
    async with Arena(ACCOUNTS, ArenaSettings(keep_alive_s=0.1, watch_keep_alive_s=0.1, seed=1)) as arena:
        yield arena


async def until(messages: AsyncGenerator[Any], kind: type) -> Any:
    """The next message of a kind."""
    async with asyncio.timeout(60):
        async for message in messages:
            if isinstance(message, kind):
                return message
    raise AssertionError(f"it ended before {kind.__name__}")


async def play(platform: Lichess, game_id: str, side: chess.Color, moves: list[str]) -> list[GameMessage]:
    """Play one side of a line of moves as the stream asks for them; all that was heard."""
    heard: list[GameMessage] = []
    async with aclosing(platform.game(game_id)) as messages, asyncio.timeout(60):
        async for message in messages:
            heard.append(message)
            if isinstance(message, GameOpened | GameState) and message.snapshot.status in RUNNING:
                plies = len(message.snapshot.moves)
                if plies < len(moves) and (plies % 2 == 0) == side:
                    await platform.perform(PlayMove(game_id, moves[plies]))
    return heard


async def test_an_account_and_its_token(arena: Arena, connect: "Connect") -> None:
    platform: Platform = connect(arena.url, "tokA")
    assert await platform.account() == Player("alpha", "Alpha", "BOT")
    facts = await connect(arena.url, "tokW").token_facts()
    assert facts is not None
    assert facts.user_id == "wanda"
    assert "bot:play" in await connect(arena.url, "tokA").token_scopes()


async def test_a_token_that_nobody_has(arena: Arena, connect: "Connect") -> None:
    platform = connect(arena.url, "lip_wrong")
    with pytest.raises(UsageError, match="account/oauth/token"):
        await platform.account()
    assert await platform.token_facts() is None
    with pytest.raises(UsageError):
        await platform.token_scopes()


async def test_an_account_becomes_a_bot(arena: Arena, connect: "Connect") -> None:
    platform = connect(arena.url, "tokW")
    assert not (await platform.account()).is_bot
    await platform.upgrade()
    assert (await platform.account()).is_bot


async def listened_to(arena: Arena, accounts: int) -> None:
    """So many event streams are open."""
    async with asyncio.timeout(30):
        while sum(stream.name.kind == "event" for stream in arena.hall.audience.open) < accounts:
            await asyncio.sleep(0.02)


async def test_from_a_challenge_to_the_archive(arena: Arena, connect: "Connect") -> None:
    alpha, beta, stranger = (connect(arena.url, token) for token in ("tokA", "tokB", ""))
    async with aclosing(alpha.account_events()) as ours, aclosing(beta.account_events()) as theirs:
        listening = [asyncio.create_task(until(events, GameStarted)) for events in (ours,)]
        await asyncio.sleep(0.1)
        challenge = asyncio.create_task(until(theirs, ChallengeReceived))
        await listened_to(arena, 2)
        sent = await alpha.challenge("Beta", time_control=FIVE_THREE, color="white")
        received = (await challenge).challenge
        assert received.challenger == Player("alpha", "Alpha", "BOT", 1500)
        assert (received.id, received.time_control, received.color) == (sent.id, FIVE_THREE, "white")
        await beta.perform(AcceptChallenge(received.id))
        started = await listening[0]
        assert started == GameStarted(sent.id, chess.WHITE)
        assert await until(theirs, GameStarted) == GameStarted(sent.id, chess.BLACK)
        assert await alpha.ongoing() == [started]

        watching = asyncio.create_task(heard_by(stranger.spectate(sent.id)))
        whole, _ = await asyncio.gather(
            play(alpha, sent.id, chess.WHITE, SCHOLAR), play(beta, sent.id, chess.BLACK, SCHOLAR)
        )
        last = whole[-1]
        assert isinstance(last, GameState)
        assert (list(last.snapshot.moves), last.snapshot.status, last.snapshot.winner) == (SCHOLAR, "mate", True)
        assert await until(ours, GameFinished) == GameFinished(sent.id)

        seen = await watching
        assert isinstance(seen[-1], GameState)
        assert (list(seen[-1].snapshot.moves), seen[-1].snapshot.status) == (SCHOLAR, "mate")
        assert seen[-1].snapshot.clocks_ms is not None
        assert all(clock is not None and clock % 1000 == 0 for clock in seen[-1].snapshot.clocks_ms)
        opened = next(message for message in seen if isinstance(message, GameOpened))
        assert (opened.info.white.name, opened.info.time_control) == ("Alpha", FIVE_THREE)

        finished = await stranger.finished(sent.id)
        assert (list(finished.snapshot.moves), finished.snapshot.status) == (SCHOLAR, "mate")
        assert (finished.source, finished.precision_ms) == ("export", 40)
        assert finished.info.time_control == FIVE_THREE
        assert await alpha.ongoing() == []


async def heard_by(messages: AsyncGenerator[GameMessage]) -> list[GameMessage]:
    return [message async for message in messages]


async def test_challenges_declined_and_canceled(arena: Arena, connect: "Connect") -> None:
    alpha, beta = connect(arena.url, "tokA"), connect(arena.url, "tokB")
    async with aclosing(alpha.account_events()) as ours, aclosing(beta.account_events()) as theirs:
        gone = asyncio.create_task(until(ours, ChallengeGone))
        received = asyncio.create_task(until(theirs, ChallengeReceived))
        await listened_to(arena, 2)
        sent = await alpha.challenge("Beta", time_control=FIVE_THREE)
        await received
        await beta.perform(DeclineChallenge(sent.id, "timeControl"))
        assert await gone == ChallengeGone(sent.id, "timecontrol")

        received = asyncio.create_task(until(theirs, ChallengeReceived))
        second = await alpha.challenge("Beta", time_control=FIVE_THREE)
        await received
        arena.desk.cancel(arena.account("Alpha"), second.id)
        assert (await until(theirs, ChallengeGone)).challenge_id == second.id


async def test_chat_offers_and_the_end_by_resignation(arena: Arena, connect: "Connect") -> None:
    alpha, beta = connect(arena.url, "tokA"), connect(arena.url, "tokB")
    game_id = arena.pair("Alpha", "Beta", 300, 3)
    async with aclosing(alpha.game(game_id)) as messages:
        await until(messages, GameOpened)
        await beta.perform(Say(game_id, "good luck, ♞"))
        assert await until(messages, ChatLine) == ChatLine("Beta", "good luck, ♞", "player")
        for uci, platform in (("e2e4", alpha), ("e7e5", beta)):
            await platform.perform(PlayMove(game_id, uci))
            await until(messages, GameState)
        await beta.perform(AnswerTakeback(game_id, accept=True))
        assert (await until(messages, GameState)).takeback_offers == {chess.BLACK}
        await alpha.perform(AnswerTakeback(game_id, accept=True))
        assert list((await until(messages, GameState)).snapshot.moves) == ["e2e4"]
        await beta.perform(PlayMove(game_id, "c7c5"))
        await until(messages, GameState)
        await beta.perform(AnswerDraw(game_id, accept=True))
        assert (await until(messages, GameState)).draw_offers == {chess.BLACK}
        await alpha.perform(Resign(game_id))
        last = await until(messages, GameState)
        assert (last.snapshot.status, last.snapshot.winner) == ("resign", chess.BLACK)


async def test_an_aborted_game(arena: Arena, connect: "Connect", take: "Take") -> None:
    platform = connect(arena.url, "tokA")
    game_id = arena.pair("Alpha", "Beta", 300, 3)
    reading = asyncio.create_task(take(platform.game(game_id)))
    await asyncio.sleep(0.1)
    await platform.perform(Abort(game_id))
    assert (await reading)[-1].snapshot.status == "aborted"
    with pytest.raises(Refused):
        await platform.perform(PlayMove(game_id, "e2e4"))


@pytest.mark.parametrize("fate", [Fate.END, Fate.RESET, Fate.SILENCE])
async def test_a_game_goes_on_when_both_streams_break_at_every_ply(
    arena: Arena, connect: "Connect", fate: Fate
) -> None:
    alpha, beta = connect(arena.url, "tokA"), connect(arena.url, "tokB")
    game_id = arena.pair("Alpha", "Beta", 300, 3)
    for _ in range(6):
        arena.faults.at_next_line(fate, "game", game_id)
    arena.faults.next("move", status=429, body="<html>slow down</html>")
    arena.faults.next("move", status=0, after=True)
    arena.faults.next("move", status=502, body="<html>")
    ours, theirs = await asyncio.gather(
        play(alpha, game_id, chess.WHITE, SCHOLAR), play(beta, game_id, chess.BLACK, SCHOLAR)
    )
    for heard in (ours, theirs):
        assert isinstance(heard[-1], GameOpened | GameState)
        assert (list(heard[-1].snapshot.moves), heard[-1].snapshot.status) == (SCHOLAR, "mate")


async def test_a_persons_own_game_is_read_and_never_touched(arena: Arena, connect: "Connect", take: "Take") -> None:
    wanda = connect(arena.url, "tokW")
    game_id = arena.pair("Wanda", "Bruno", 600, 0)
    opened = await take(wanda.board_game(game_id), 2)
    assert opened[1].info.white.name == "Wanda"
    assert await wanda.ongoing() == [GameStarted(game_id, chess.WHITE)]
    with pytest.raises(Refused):
        await wanda.perform(PlayMove(game_id, "e2e4"))


async def test_tv_and_users_name_games_to_watch(arena: Arena, connect: "Connect", take: "Take") -> None:
    stranger = connect(arena.url, "")
    game_id = arena.pair("Alpha", "Beta", 300, 3)
    assert await take(stranger.tv_games("bot"), 2) == [Connected(), game_id]
    assert await take(stranger.user_games("Beta"), 2) == [Connected(), game_id]


async def test_a_running_game_is_not_finished(arena: Arena, connect: "Connect") -> None:
    game_id = arena.pair("Alpha", "Beta", 300, 3)
    with pytest.raises(Exception, match="still running"):
        await connect(arena.url, "").finished(game_id)
    with pytest.raises(Refused):
        await connect(arena.url, "").finished("nowhere0")
