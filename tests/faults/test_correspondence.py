"""Games with days for each move: played, left, taken up again; live games and slots are not disturbed."""

from datetime import timedelta
from typing import Any

import chess
import pytest

from bridge.arena import referee
from bridge.arena.challenges import wish_of
from bridge.clocks import DAY_MS

OURS = {"checkin_period": 1, "disconnect_time": 0, "move_time": 1}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.check_ins._AGAIN_S", 0.05)


def open_games(table: Any) -> set[str]:
    return {stream.name.topic for stream in table.arena.hall.audience.open if stream.name.kind == "game"}


def lobby(table: Any) -> Any:
    (found,) = table.daemon._playing()
    return found


async def parked(table: Any, *games: Any) -> None:
    await table.until(lambda: {game.id for game in games} <= set(lobby(table).parked), what="the game is left")
    await table.until(lambda: not open_games(table) & {game.id for game in games})


def pair(table: Any, days: int | None = 3, **more: Any) -> Any:
    return table.pair(limit_s=None, days=days, **more)


async def answered(table: Any, game: Any, uci: str) -> None:
    at = game.plies
    table.move(game, uci)
    await table.until(lambda: game.plies == at + 2, what=f"an answer to {uci}")


@pytest.mark.parametrize("days", [3, None])
async def test_a_game_is_left_between_moves_and_played_to_its_end(table: Any, days: int | None) -> None:
    await table.run(correspondence=OURS, concurrency=1)
    game = pair(table, days)
    for uci in table.LINE[0:6:2]:
        await parked(table, game)
        assert lobby(table).games == () and lobby(table).slots.taken == 0
        await answered(table, game, uci)
    assert game.moves == list(table.LINE[:6])
    await parked(table, game)
    await table.resign(game)  # nobody reads it
    verdict = (await table.final(game))["platform"]
    assert verdict == {"result": "0-1", "status": "resign"}
    await table.until(lambda: lobby(table).parked == ())
    assert table.plies(game) == game.moves
    assert not table.asked("/abort")
    assert {limit.move_ms for limit in table.engine.limits} == {1_000}
    assert all(limit.plain and not limit.ponder for limit in table.engine.limits)


async def test_a_challenge_with_days_is_accepted_and_played(table: Any) -> None:
    terms = {"time_controls": ["correspondence"], "max_days": 5}
    await table.run(correspondence=OURS, challenge=terms)
    hall, desk = table.arena.hall, table.arena.desk
    human, kiri = hall.accounts.find("human"), hall.accounts.find("kiri")
    asked = desk.create(human, kiri, wish_of({"days": "3", "color": "white"}))
    await table.until(lambda: asked.id in table.arena.games)
    game = table.arena.games[asked.id]
    for uci in ("e2e4", "g1f3"):
        await parked(table, game)
        await answered(table, game, uci)
    await parked(table, game)


async def test_the_game_goes_on_after_a_restart(table: Any) -> None:
    await table.run(correspondence=OURS)
    game = pair(table)
    await answered(table, game, "e2e4")
    await parked(table, game)
    await table.kill()
    table.move(game, "g1f3")
    await table.run(correspondence=OURS)
    await table.until(lambda: game.plies == 4)
    await parked(table, game)
    assert table.plies(game) == game.moves
    assert [entry.seq for entry in table.recorder.entries] == table.numbers()


async def test_a_game_that_ended_while_we_were_gone_is_judged(table: Any) -> None:
    await table.run(correspondence=OURS)
    game = pair(table)
    await answered(table, game, "e2e4")
    await parked(table, game)
    await table.kill()
    hall = table.arena.hall
    hall.happen(game, referee.resign(game, chess.WHITE, hall.game_now_ms(game)))
    await table.run(correspondence=OURS)
    assert (await table.final(game))["platform"]["status"] == "resign"


async def test_a_live_game_keeps_its_slot_and_what_is_pressed_is_played_beside_it(table: Any) -> None:
    await table.run(correspondence=OURS, concurrency=1)
    calm, pressed = pair(table), pair(table)
    await parked(table, calm, pressed)
    live = table.pair()
    await table.until(lambda: lobby(table).games == (live.id,))
    table.move(calm, "e2e4")
    table.move(pressed, "e2e4")
    pressed.moved_at_ms -= 3 * DAY_MS - 4_000  # four seconds are left
    await table.until(lambda: pressed.plies == 2)
    assert not pressed.over
    await table.play(live, 4)
    assert calm.plies == 1, "it waits for a slot"
    await table.resign(live)
    await table.until(lambda: calm.plies == 2, what="the slot is free")


async def test_thirty_games_are_played_few_at_a_time_after_a_start(table: Any) -> None:
    games = [pair(table) for _ in range(30)]
    for game in games:
        table.move(game, "e2e4")
    most = 0
    table.engine.delay_s = 0.01
    await table.run(correspondence=OURS, concurrency=2)

    def all_played() -> bool:
        nonlocal most
        most = max(most, len(lobby(table).games))
        return all(game.plies == 2 for game in games)

    await table.until(all_played)
    assert most <= 2


async def test_a_drain_does_not_wait_for_the_opponent(table: Any) -> None:
    await table.run(correspondence={**OURS, "disconnect_time": 1_000, "checkin_period": 1_000})
    game = pair(table)
    await table.until(lambda: game.id in lobby(table).parked)
    table.move(game, "e2e4")
    lobby(table).check_ins.ask()
    await table.until(lambda: game.plies == 2)
    assert game.id in open_games(table)
    table.daemon.drain()
    await table.until(lambda: table._work.done(), 10.0, "the daemon has ended")


async def test_a_list_that_cannot_be_had_is_asked_for_again(table: Any) -> None:
    await table.run(correspondence=OURS)
    game = pair(table)
    await parked(table, game)
    table.faults.next("playing", status=503, times=2)
    await answered(table, game, "e2e4")


async def test_the_days_are_over(table: Any) -> None:
    """The arena's own clock: nobody moves."""
    await table.run(correspondence=OURS)
    game = pair(table)
    await parked(table, game)
    game.moved_at_ms -= round(timedelta(days=3).total_seconds() * 1000)
    assert (await table.final(game))["platform"] == {"result": "0-1", "status": "outoftime"}
