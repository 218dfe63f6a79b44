"""The account's own stream and its challenges under faults: everything started once, no slot lost, none too many."""

import asyncio
import time
from typing import Any

import aiohttp
import pytest

from bridge import event_types
from bridge.arena import Fate, referee
from bridge.arena.challenges import Wish
from bridge.arena.hall import control_of
from bridge.interfaces import Draft
from bridge.journal import SqlJournal

WISH = Wish(control_of(540), "standard", None, False, "white", frozenset())
RATED = Wish(control_of(540), "standard", None, True, "white", frozenset())


def challenge(table: Any, challenger: str = "Human", wish: Wish = WISH) -> Any:
    arena = table.arena
    return arena.desk.create(arena.account(challenger), arena.account("Kiri"), wish)


def slots(table: Any) -> int:
    (lobby,) = [lobby for _, lobby in table.daemon._lobbies]
    return int(lobby.slots.taken)


def running(table: Any) -> list[Any]:
    return [game for game in table.arena.games.values() if not game.over]


@pytest.fixture(autouse=True)
def quick_lobby(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.doorkeeper._ACCEPT_AGAIN_S", 0.05)
    monkeypatch.setattr("bridge.doorkeeper._RATE_LIMIT_S", 0.3)


@pytest.mark.parametrize("fault", ["end", "drop", "silence"])
async def test_the_stream_comes_back_and_nothing_is_started_twice(table: Any, fault: str) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    for _ in range(3):
        await table.lose_events(fault)
        await table.play(game, game.plies + 2)
    fresh = table.pair()
    await table.play(fresh, 4)
    await table.resign(game)
    await table.check_undisturbed(game)
    assert len(table.recorder.of(event_types.GAME_STARTED)) == 2
    assert table.engine.starts == 2


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 502, "body": "<html>Bad gateway</html>", "times": 3},
        {"status": 429, "body": "<html>Too many</html>"},
        {"status": 429, "body": {"error": "x", "ratelimit": {"key": "y", "seconds": 0.2}}},
        {"status": 200, "body": "<html>Maintenance</html>", "times": 2},
        {"status": 401, "body": {"error": "No such token"}},
    ],
    ids=["502", "429-page", "429-figure", "page", "401"],
)
async def test_an_opening_that_fails_is_tried_again(
    table: Any, answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.lobby._REFUSED_PAUSE_S", 0.2)
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    table.faults.next("event_stream", **answer)
    table.faults.drop("event")
    await table.play(game, 8)
    await table.until(lambda: table.listening)
    await table.play(table.pair(), 4)
    kinds = [entry.type for entry in table.recorder.entries]
    assert kinds.count(event_types.ACCOUNT_ONLINE) == 2
    assert kinds.count(event_types.ACCOUNT_OFFLINE) == 1


async def test_a_second_reader_takes_the_stream_and_gives_it_back(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    headers = {"Authorization": "Bearer tokenKiri"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(f"{table.arena.url}/api/stream/event") as other,
    ):
        async with asyncio.timeout(table.PATIENCE_S):
            await other.read()  # until it has lost the stream again
    await table.play(game, 8)
    await table.play(table.pair(), 2)
    assert table.engine.starts == 2


async def test_junk_is_skipped(table: Any) -> None:
    await table.run()
    for junk in ({}, {"type": "gameStart"}, {"type": "challenge", "challenge": {"id": 3}}, {"type": "x"}):
        table.arena.hall.audience.event("kiri", junk)
    await table.play(table.pair(), 4)


async def test_a_game_told_twice_and_fifty_at_once_start_once_each(table: Any) -> None:
    await table.run(concurrency=60)
    games = [table.pair() for _ in range(25)]
    for game in games:
        table.arena.hall._tell_both(game, "gameStart")
    for game in games:
        table.move(game, "e2e4")
    await table.until(lambda: all(game.plies == 2 for game in games))
    await table.until(lambda: len(table.recorder.of(event_types.GAME_STARTED)) == 25)
    assert table.engine.starts == 25
    await table.lose_events("end")
    for game in games:
        table.move(game, "g1f3")
    await table.until(lambda: all(game.plies == 4 for game in games))
    assert table.engine.starts == 25


async def test_a_challenge_that_came_in_an_outage_is_accepted_after_it(table: Any) -> None:
    await table.run()
    table.faults.next("event_stream", status=503, times=4)
    table.faults.drop("event")
    await table.until(lambda: table.requests[-1].status == 503)
    asked = challenge(table)
    await table.until(lambda: asked.id in table.arena.games)
    await table.play(table.arena.games[asked.id], 4)


async def test_thirty_challenges_and_a_slow_platform(table: Any) -> None:
    await table.run(concurrency=3)
    table.faults.next("accept", status=200, after=True, times=30, delay_s=0.2, body={"ok": True})
    asked = [challenge(table, "Visitor" if at % 2 else "Human") for at in range(5)]
    table.arena.desk._per_minute.limit = table.arena.desk._per_day.limit = 10_000
    asked += [challenge(table, "Visitor" if at % 2 else "Human") for at in range(25)]
    most = 0

    def settled() -> bool:
        nonlocal most
        most = max(most, slots(table), len(running(table)))
        return all(one.status.value in ("accepted", "declined") for one in asked)

    await table.until(settled)
    assert len(running(table)) == 3
    assert most == 3
    assert {one.decline_reason for one in asked if one.status.value == "declined"} == {"later"}


@pytest.mark.parametrize(
    ("answer", "plays"),
    [
        ({"status": 404, "body": {"error": "Challenge not found"}}, False),
        ({"status": 429, "body": "<html>Too many</html>"}, True),
        ({"status": 429, "body": {"error": "x", "ratelimit": {"key": "y", "seconds": 0.4}}, "times": 2}, True),
        ({"status": 503, "body": "<html>Oops</html>", "times": 2}, True),
        ({"status": 0}, True),
        ({"status": 0, "after": True}, True),
        ({"status": 200, "after": True, "delay_s": 2.0}, True),
    ],
    ids=["404", "429-page", "429-figure", "503", "reset-before", "reset-after", "late"],
)
async def test_an_acceptance_that_fails(table: Any, answer: dict[str, Any], plays: bool) -> None:
    await table.run(concurrency=1)
    table.faults.next("accept", **answer)
    asked = challenge(table)
    if plays:
        await table.until(lambda: asked.id in table.arena.games)
        await table.play(table.arena.games[asked.id], 4)
        assert slots(table) == 1
    else:
        await table.until(lambda: table.asked("/accept"))
    await asyncio.sleep(0.2)
    assert slots(table) == (1 if plays else 0)
    if not plays:
        again = challenge(table)
        await table.until(lambda: again.id in table.arena.games)


async def test_an_acceptance_without_an_answer_keeps_its_slot(table: Any) -> None:
    """It may have taken effect: nobody else gets the slot until that is known."""
    await table.run(concurrency=1)
    table.faults.next("accept", status=0)
    table.faults.next("accept", status=404, body={"error": "Challenge not found"})
    challenge(table)
    await table.until(lambda: len(table.asked("/accept")) == 2)
    second = challenge(table, "Visitor")
    await table.until(lambda: second.status.value == "declined")
    assert slots(table) == 1


async def test_a_canceled_challenge_gives_its_slot_back(table: Any) -> None:
    await table.run(concurrency=1)
    table.faults.next("accept", status=429, body={"error": "x", "ratelimit": {"key": "y", "seconds": 30}})
    asked = challenge(table)
    await table.until(lambda: table.asked("/accept"))
    assert slots(table) == 1
    table.arena.desk.cancel(table.arena.account("Human"), asked.id)
    await table.until(lambda: slots(table) == 0)


async def test_an_accepted_challenge_that_never_starts_gives_its_slot_back(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.doorkeeper._LEASE_S", 0.3)
    await table.run(concurrency=1)
    table.faults.next("accept", status=200, body={"ok": True})
    challenge(table)
    await table.until(lambda: table.recorder.of(event_types.CHALLENGE_ACCEPTED))
    assert slots(table) == 1
    await table.until(lambda: slots(table) == 0)
    again = challenge(table)
    await table.until(lambda: again.id in table.arena.games)
    await table.play(table.arena.games[again.id], 2)
    await asyncio.sleep(0.4)
    assert slots(table) == 1


async def test_a_game_that_is_aborted_without_an_event_gives_its_slot_back(table: Any) -> None:
    await table.run(concurrency=1)
    game = table.pair()
    await table.until(lambda: table.recorder.of(event_types.GAME_STARTED))
    table.faults.at_next_line(Fate.END, "event")
    hall = table.arena.hall
    hall.happen(game, referee.abort(game, hall.game_now_ms(game)))
    assert (await table.final(game))["reason"] == "aborted"
    await table.until(lambda: slots(table) == 0)
    await table.until(lambda: table.engine.closes == 1)


async def test_a_rated_challenge_is_declined(table: Any) -> None:
    await table.run()
    asked = challenge(table, wish=RATED)
    await table.until(lambda: asked.status.value == "declined")
    assert asked.decline_reason == "casual"


async def test_the_days_games_against_bots_are_counted_across_restarts(table: Any) -> None:
    await table.run()
    game = challenge(table, "Robot")
    await table.until(lambda: game.id in table.arena.games)
    await table.until(lambda: table.recorder.of(event_types.GAME_STARTED))
    await table.kill()
    data = {"white": "Kiri", "black": "Robot", "white_title": "BOT", "black_title": "BOT"}
    async with SqlJournal(f"sqlite:///{table.journal}") as journal:
        for number in range(99):
            over = Draft(event_types.VERDICT_FINAL, f"old{number}", {}, "Kiri")
            await journal.append([Draft(event_types.GAME_STARTED, f"old{number}", data, "Kiri"), over])
    await table.run()
    one_more = challenge(table, "Robot")
    await table.until(lambda: one_more.status.value == "declined")
    assert one_more.decline_reason == "later"
    person = challenge(table)
    await table.until(lambda: person.id in table.arena.games)


async def test_the_platforms_own_daily_limit_holds_bots_and_not_people(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead_ms = [0]
    monkeypatch.setattr("bridge.daemon.wall_ms", lambda: time.time_ns() // 1_000_000 + ahead_ms[0])
    await table.run()
    limit = {"error": "You played 100 games", "ratelimit": {"key": "bot.vsBot.day", "seconds": 600}}
    table.faults.next("accept", status=429, body=limit)
    challenge(table, "Robot")
    await table.until(lambda: table.asked("/accept"))
    await table.until(lambda: slots(table) == 0)
    held = challenge(table, "Robot")
    await table.until(lambda: held.status.value == "declined")
    person = challenge(table)
    await table.until(lambda: person.id in table.arena.games)
    ahead_ms[0] = 601_000
    later = challenge(table, "Robot")
    await table.until(lambda: later.id in table.arena.games)
    assert len(table.asked("/accept")) == 3
