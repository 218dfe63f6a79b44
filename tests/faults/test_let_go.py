"""A game that we played and that is over takes no memory: nothing of it waits for the garbage collector."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.arena import referee
from bridge.platforms.lichess.platform import Lichess


@pytest.fixture(autouse=True)
def no_collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("bridge.afterwards._PAUSES_S", (0.01, 0.01))
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def parts(table: Any, game: Any) -> dict[str, "weakref.ref[Any]"]:
    """The session of a running game, what it is made of, and its ledger."""
    ((_, lobby),) = table.daemon._lobbies
    await table.until(lambda: game.id in lobby._open and lobby._open[game.id]._offers is not None, what="it is open")
    session = lobby._open[game.id]
    found = {"session": session, "ledger": session._tracker.ledger, **vars(session)}
    own = {name: part for name, part in found.items() if type(part).__module__.startswith("bridge.")}
    return {name: weakref.ref(part) for name, part in own.items() if hasattr(part, "__weakref__")}


def left(found: dict[str, "weakref.ref[Any]"]) -> list[str]:
    return [name for name, part in found.items() if part() is not None]


async def check(table: Any, found: dict[str, "weakref.ref[Any]"]) -> None:
    assert {"session", "ledger", "_tracker", "_talk", "_offers", "_opinion", "_thinker", "_voice"} <= set(found)
    try:
        await table.until(lambda: not left(found))
    except AssertionError:
        raise AssertionError(f"these wait for the collector: {left(found)}") from None


async def test_of_a_game_that_was_played(table: Any) -> None:
    await table.run(greeting=True)
    game = table.pair()
    await table.play(game, 12)
    found = await parts(table, game)
    await table.resign(game)
    await check(table, found)


async def test_of_a_game_whose_opponent_may_still_ask(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.afterwards._PAUSES_S", (60.0,))
    await table.run()
    game = table.pair()
    await table.play(game, 12)
    found = await parts(table, game)
    voice = found["_voice"]
    await table.resign(game)
    await table.until(lambda: left(found) == ["_voice"])
    assert voice() is not None, "the chat is still looked at"


async def test_of_a_game_whose_chat_finds_no_turn_to_be_read(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.afterwards._LOOK_S", 0.1)
    monkeypatch.setattr(Lichess, "chat", lambda platform, game_id: asyncio.Event().wait())
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    found = await parts(table, game)
    await table.resign(game)
    await check(table, found)


async def test_of_a_game_that_ends_while_we_think(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    found = await parts(table, game)
    table.engine.next = [table.hangs]
    table.move(game, table.LINE[4])
    await table.until(lambda: table.engine.thinking, what="the engine thinks")
    await table.resign(game)
    await check(table, found)


async def test_of_a_game_that_is_aborted_before_it_begins(table: Any) -> None:
    await table.run()
    game = table.pair()
    found = await parts(table, game)
    hall = table.arena.hall
    hall.happen(game, referee.abort(game, hall.game_now_ms(game)))
    await table.final(game)
    await check(table, found)


async def test_of_a_game_in_which_the_opponent_asked_for_something(table: Any) -> None:
    await table.run(max_takebacks_accepted=1)
    game = table.pair()
    await table.play(game, 12)
    found = await parts(table, game)
    table.propose_takeback(game)
    await table.until(lambda: table.asked("/takeback/yes"), what="the takeback is granted")
    await table.resign(game)
    await check(table, found)


async def test_of_a_game_by_correspondence_that_is_left_between_moves(table: Any) -> None:
    await table.run(correspondence={"checkin_period": 600, "disconnect_time": 2, "move_time": 1})
    game = table.pair(limit_s=None, days=3)
    table.move(game, table.LINE[0])
    found = await parts(table, game)
    await check(table, found)
    assert len(game.moves) == 2


async def test_an_account_that_challenges_nobody_remembers_no_games_for_that(table: Any) -> None:
    await table.run()
    for _ in range(2):
        game = table.pair()
        await table.play(game, 2)
        await table.resign(game)
    [seeking] = table.daemon._seeking
    assert not seeking.matchmaker._heard
