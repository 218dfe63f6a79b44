"""The end of a game: its slot is free at once, and what is still to be said is said beside the next game."""

import asyncio
from typing import Any

import pytest

from bridge import event_types
from bridge.arena import referee
from bridge.session import Session


def slots(table: Any) -> int:
    (lobby,) = [lobby for _, lobby in table.daemon._lobbies]
    return int(lobby.slots.taken)


def end(table: Any, game: Any) -> None:
    hall = table.arena.hall
    human = game.color_of("human")
    hall.happen(game, referee.resign(game, human, hall.game_now_ms(game)))


@pytest.fixture(autouse=True)
def slow_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 4_000)


async def test_chat_that_waits_holds_no_slot(table: Any) -> None:
    await table.run(greeting=True, concurrency=1)
    game = table.pair()
    await table.play(game, 2)
    await table.until(lambda: table.said(game), what="the first line of the greeting")
    end(table, game)
    await table.final(game)
    assert slots(table) == 0
    # The line of the verdict is still waiting for its turn.
    assert not any("resignation" in line for line in table.said(game))
    await table.play(table.pair(), 4)


async def test_a_slot_is_free_before_the_archive_has_answered(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "_without_gaps", lambda self: asyncio.Event().wait())
    await table.run(concurrency=1)
    game = table.pair()
    await table.play(game, 2)
    await table.settled(game)
    end(table, game)
    await table.until(lambda: slots(table) == 0, 30.0)
    await table.play(table.pair(), 4)


async def test_the_verdict_is_still_said_when_the_next_game_runs_and_when_we_drain(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 300)
    await table.run(greeting=True, concurrency=1)
    game = table.pair()
    await table.play(game, 2)
    end(table, game)
    table.daemon.drain()
    await table.until(lambda: table.said(game) and "resignation" in table.said(game)[-1], 30.0, "the verdict is said")


async def test_an_aborted_game_is_not_spoken_of(table: Any) -> None:
    await table.run(greeting=True, concurrency=1)
    game = table.pair()
    await table.until(lambda: table.said(game))
    hall = table.arena.hall
    hall.happen(game, referee.abort(game, hall.game_now_ms(game)))
    await table.final(game)
    await table.until(lambda: slots(table) == 0)
    await table.until(lambda: table.engine.closes == 1)
    assert len(table.said(game)) == 1
    assert len(table.recorder.of(event_types.CHAT_SENT, game.id)) == 1


async def test_all_that_was_asked_for_the_end_is_answered(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 1_500)
    lines = {"pool": False, "goodbye": "Bye", "goodbye_spectators": "Bye all"}
    await table.run(greeting=lines, concurrency=1)
    game = table.pair()
    await table.play(game, 2)
    for command in ("!bill", "!eval"):
        table.arena.hall.say(game, "player", "Human", command)
    await table.until(lambda: len(table.said(game)) == 2)
    end(table, game)
    await table.until(lambda: table.said(game, "spectator") == ["Bye all"])
    assert len(table.said(game)) == 6


async def test_what_waits_for_the_end_can_be_asked_after_it(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No stream tells of it any more; asked before and after, it is answered once, and nothing else is."""
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 10)
    monkeypatch.setattr("bridge.afterwards._PAUSES_S", (0.5, 0.5, 0.5))
    await table.run(concurrency=1)
    game = table.pair()
    await table.play(game, 2)
    hall = table.arena.hall
    hall.say(game, "player", "Human", "!bill")
    await table.until(lambda: table.said(game) == ["I answer !bill after the game."])
    table.faults.next("read_chat", status=503)
    end(table, game)
    await table.until(lambda: "No priced ending is on the board." in table.said(game))
    for user, text in (("Kiri", "!eval"), ("Human", "!help"), ("Human", "!bill"), ("Human", "!eval")):
        hall.say(game, "player", user, text)
    await table.until(lambda: table.said(game)[-1] == "I have no evaluation.")
    assert table.said(game).count("No priced ending is on the board.") == 1
    assert not any("Commands" in line for line in table.said(game))
