"""A move's request fails in every way: the move is played once, in the position it was meant for."""

import asyncio
import itertools
from typing import Any

import pytest

FIGURE = {"error": "slow down", "ratelimit": {"key": "move", "seconds": 0.2}}
ANSWERS: dict[str, dict[str, Any]] = {
    "400": {"status": 400, "body": {"error": "Not your turn"}},
    "400-often": {"status": 400, "body": {"error": "Not your turn"}, "times": 4},
    "404": {"status": 404, "body": {"error": "No such game"}},
    "408": {"status": 408},
    "500": {"status": 500, "body": "<html>Oops</html>"},
    "502-often": {"status": 502, "body": "<html>Bad gateway</html>", "times": 5},
    "reset": {"status": 0},
    "late": {"status": 200, "body": {"ok": True}, "delay_s": 5.0},
    "429-figure": {"status": 429, "body": FIGURE},
    "429-page": {"status": 429, "body": "<html>Too many</html>", "times": 2},
    "silent-200": {"status": 200, "body": {"ok": True}},
}


@pytest.fixture(autouse=True)
def quick_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.turn._ECHO_S", 0.3)


async def start(table: Any, plies: int, **more: Any) -> Any:
    await table.run()
    game = table.pair(**more)
    await table.play(game, plies)
    return game


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", ANSWERS)
async def test_the_move_is_played_once(table: Any, name: str, after: bool) -> None:
    """`after`: the request took effect, the answer alone is wrong."""
    game = await start(table, 4)
    table.faults.next("move", after=after, account="kiri", **ANSWERS[name])
    await table.play(game, 10)
    assert game.moves == list(table.LINE[:10])
    assert table.engine.asked == [table.LINE[:at] for at in range(1, 10, 2)]
    await table.resign(game)
    await table.check_undisturbed(game)


@pytest.mark.parametrize("name", ["reset", "late", "502-often", "429-page", "silent-200"])
async def test_the_first_move_of_the_game_too(table: Any, name: str) -> None:
    await table.run()
    table.faults.next("move", account="kiri", **ANSWERS[name])
    game = table.pair(bot_is_white=True)
    await table.play(game, 5)
    assert game.moves == list(table.LINE[:5])


async def test_other_games_are_not_held_up(table: Any) -> None:
    slow, quick = await start(table, 4), table.pair()
    table.faults.next("move", status=429, body={"error": "x", "ratelimit": {"key": "y", "seconds": 60}})
    table.move(slow, table.LINE[4])
    await table.until(lambda: len(table.asked(f"{slow.id}/move")) == 3, what="the refused move")
    await table.play(quick, 10)
    assert slow.plies == 5


async def test_a_held_move_is_not_asked_for_before_its_time(table: Any) -> None:
    game = await start(table, 4)
    table.faults.next("move", status=429, body={"error": "x", "ratelimit": {"key": "y", "seconds": 0.5}}, times=2)
    await table.play(game, 6)
    times = [line.at_ms for line in table.asked(f"/move/{table.LINE[5]}")]
    assert len(times) == 3
    assert all(later - earlier >= 480 for earlier, later in itertools.pairwise(times))


async def test_a_move_that_came_too_late_is_never_sent(table: Any) -> None:
    """The opponent takes its move back while our answer to it is held up."""
    game = await start(table, 6)
    table.faults.next("move", status=429, body={"error": "x", "ratelimit": {"key": "y", "seconds": 0.4}})
    table.move(game, table.LINE[6])
    await table.until(lambda: len(table.asked(f"/move/{table.LINE[7]}")) == 1)
    table.take_back(game)
    assert game.plies == 6
    await asyncio.sleep(0.6)
    assert game.plies == 6
    assert len(table.asked(f"/move/{table.LINE[7]}")) == 1
    await table.play(game, 10)


@pytest.mark.parametrize("kind", ["chat", "draw", "takeback", "abort", "claim_victory", "resign"])
async def test_nothing_else_is_in_a_moves_way(table: Any, kind: str) -> None:
    """Every answer of the other requests is late; moves are not."""
    await table.run(greeting=True)
    table.faults.next(kind, status=500, times=50, delay_s=20.0)
    game = table.pair()
    audience = table.arena.hall.audience
    await table.play(game, 4)
    table.propose_takeback(game)
    audience.to_players(game, {"type": "opponentGone", "gone": True, "claimWinInSeconds": 0})
    table.arena.hall.say(game, "player", "Human", "!clock")
    async with asyncio.timeout(10.0):
        await table.play(game, 10)
