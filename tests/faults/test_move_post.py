"""A move's request fails in every way: the move is played once, in the position it was meant for."""

import asyncio
import itertools
from typing import Any

import pytest

from bridge import event_types

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


ERRORS: dict[str, dict[str, Any]] = {
    "400": {"status": 400, "body": {"error": "No"}},
    "404": {"status": 404, "body": {"error": "No such game"}},
    "429-minute": {"status": 429, "body": {"error": "slow down", "ratelimit": {"key": "x", "seconds": 60}}},
    "503": {"status": 503, "body": "<html>Oops</html>"},
    "reset": {"status": 0},
    "late": {"status": 500, "delay_s": 20.0},
    "silent-200": {"status": 200, "body": {"ok": True}},
}
ASKS: dict[str, dict[str, Any]] = {
    "chat": {"greeting": True},
    "draw": {"draw_or_resign": {"offer_draw_enabled": True, "offer_draw_moves": 1, "offer_draw_pieces": 32}},
    "takeback": {},
    "abort": {"abort_time": 1},
    "claim_victory": {},
    "resign": {"draw_or_resign": {"resign_enabled": True, "resign_moves": 1}},
}
"""What is asked for, and the settings that make us do so."""


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("kind", ASKS)
async def test_nothing_else_is_in_a_moves_way(table: Any, kind: str, error: str) -> None:
    """The other requests fail, each time; the moves go on, and no answer is taken for what the stream did not say."""
    await table.run(**ASKS[kind])
    table.faults.next(kind, times=500, **ERRORS[error])
    ordered = table.faults._answers

    def asked() -> bool:  # a late answer's request is not in the log yet
        return len(ordered) < 500

    table.engine.score_cp = {"draw": 0, "resign": -5000}.get(kind)
    game = table.pair()
    if kind == "abort":
        await table.until(asked, what="it is given back")
    await table.play(game, 4)
    if kind == "takeback":
        table.propose_takeback(game)
    if kind == "claim_victory":
        gone = {"type": "opponentGone", "gone": True, "claimWinInSeconds": 0}
        table.arena.hall.audience.to_players(game, gone)
    await table.until(asked, what="it is asked for")
    async with asyncio.timeout(10.0):
        await table.play(game, 12)
    assert game.moves == list(table.LINE[:12])
    assert len(table.asked("/move/")) == 6
    assert not table.recorder.of(event_types.VERDICT_PROVISIONAL)
