"""What happens in a game besides moves: takebacks, gifts, offers, an opponent who leaves or never comes."""

import asyncio
import re
from typing import Any

import chess
import pytest

from bridge import event_types, machine
from bridge.arena import offers, referee


async def start(table: Any, plies: int, **more: Any) -> Any:
    await table.run()
    game = table.pair(**more)
    await table.play(game, plies)
    return game


# -- takebacks ---------------------------------------------------------------------------------------------------


async def test_a_takeback_is_declined_within_a_second_and_each_time(table: Any) -> None:
    game = await start(table, 6)
    for times in (1, 2):
        game.sides[chess.WHITE].proposals_blocked_until_ms = 0
        table.propose_takeback(game)
        await table.until(lambda times=times: game.sides[chess.WHITE].takebacks_declined == times, 5.0)
    await table.play(game, 10)
    assert game.moves == list(table.LINE[:10])


async def test_a_takeback_of_two_plies(table: Any) -> None:
    game = await start(table, 6)
    table.take_back(game)
    assert game.plies == 4
    await table.play(game, 10)
    await table.resign(game)
    assert (await table.final(game))["platform_plies"] == 10
    assert [entry.data["plies"] for entry in table.recorder.of(event_types.GAME_TAKEBACK)] == [4]
    assert table.plies(game) == [*table.LINE[:6], *table.LINE[4:10]]


async def test_a_takeback_of_one_ply_ends_our_search(table: Any) -> None:
    game = await start(table, 6)
    table.engine.delay_s = 60.0
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    table.take_back(game)
    await table.until(lambda: table.engine.thinking == 0, 5.0, "the search is called off")
    assert game.plies == 6
    table.engine.delay_s = 0.0
    await table.play(game, 10)
    assert game.moves == list(table.LINE[:10])


async def test_a_takeback_then_another_move(table: Any) -> None:
    game = await start(table, 6)
    table.engine.delay_s = 0.3
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    table.take_back(game)
    table.move(game, "b5c6")
    await table.until(lambda: game.plies == 8)
    assert game.moves[6] == "b5c6"
    assert table.engine.thinking == 0


@pytest.mark.parametrize("granted", [100, 2, 0], ids=["all", "the first two", "none"])
async def test_takebacks_are_answered_in_the_middle_of_a_search(table: Any, granted: int) -> None:
    """Granted or not, within a second or so; after one that is granted the search is thrown away."""
    await table.run(max_takebacks_accepted=granted)
    game = table.pair()
    await table.play(game, 4)
    for times in (1, 2, 3):
        table.engine.delay_s = 60.0
        table.move(game, table.LINE[4])
        await table.until(lambda: table.engine.thinking == 1)
        table.propose_takeback(game)
        if times <= granted:
            await table.until(lambda: game.plies == 4, 5.0, "it is granted")
            await table.until(lambda: table.engine.thinking == 0, 5.0, "the search is called off")
            assert not table.asked(f"/move/{table.LINE[5]}")
        else:
            await table.until(lambda: game.sides[chess.WHITE].takebacks_declined == 1, 5.0, "it is declined")
            assert game.plies == 5 and table.engine.thinking == 1
            break
    table.engine.delay_s = 0.0
    assert len(table.recorder.of(event_types.GAME_TAKEBACK)) == min(granted, 3)


# -- clocks without a move ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("to_us", [True, False])
async def test_time_given_in_the_middle_of_a_turn_is_no_thinking_time(table: Any, to_us: bool) -> None:
    game = await start(table, 6)
    table.engine.delay_s = 0.3
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    hall = table.arena.hall
    giver = chess.WHITE if to_us else chess.BLACK
    hall.happen(game, referee.give_time(game, giver, 15, hall.game_now_ms(game)))
    await table.until(lambda: game.plies == 8)
    assert len(table.engine.asked) == 4
    await table.play(game, 12)
    await table.resign(game)
    live = await table.final(game)
    assert 0 <= 360_000 - live["black_ms"] < 40_000
    assert [anomaly["kind"] for anomaly in live["anomalies"]] == ["time_given"]


def says(table: Any, game: Any, user: str, text: str) -> None:
    line = {"type": "chatLine", "room": "player", "username": user, "text": text}
    table.arena.hall.audience.to_players(game, line)


@pytest.mark.parametrize("told", ["words", "words-then-state", "state-then-words"])
@pytest.mark.parametrize("taker", [chess.WHITE, chess.BLACK], ids=["the one who waits", "us, thinking"])
async def test_time_given_is_counted_once_however_the_platform_tells_it(table: Any, told: str, taker: bool) -> None:
    """Words alone are enough: some servers send no state with a gift."""
    game = await start(table, 6)
    table.engine.delay_s = 0.3
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    game.clock = game.clock.give(taker, 1500)
    if told == "state-then-words":
        table.tell(game)
    says(table, game, "lichess", f"{'White' if taker else 'Black'} + 15 seconds")
    if told == "words-then-state":
        table.tell(game)
    await table.until(lambda: table.recorder.of(event_types.ANOMALY, game.id))
    assert game.plies == 7, "it is known before the next move"
    await table.play(game, 10)
    assert len(table.engine.asked) == 5
    await table.resign(game)
    live = await table.final(game)
    (anomaly,) = live["anomalies"]
    assert (anomaly["kind"], anomaly["note"].split(" ", 1)[1]) == ("time_given", "was given 15000 ms on the platform")
    assert all(row["think_ms"] < 1000 for row in live["ledger"])


@pytest.mark.parametrize(("user", "room"), [("troll42", "player"), ("Human", "player"), ("lichess", "spectator")])
async def test_nobody_else_gives_time_by_saying_so(table: Any, user: str, room: str) -> None:
    game = await start(table, 6)
    line = {"type": "chatLine", "room": room, "username": user, "text": "White + 15 seconds"}
    table.arena.hall.audience.to_players(game, line)
    await table.play(game, 10)
    await table.resign(game)
    await table.check_undisturbed(game)
    assert not table.recorder.of(event_types.ANOMALY, game.id)


async def test_berserk_is_no_thinking_time(table: Any) -> None:
    await table.run()
    game = table.pair()
    assert game.clock is not None
    game.clock = game.clock.berserk(chess.WHITE)
    game.sides[chess.WHITE].berserk = True
    table.tell(game)
    await table.play(game, 8)
    await table.resign(game)
    live = await table.final(game)
    assert live["white_ms"] > 340_000
    assert [anomaly["kind"] for anomaly in live["anomalies"]] == ["berserk"]


# -- offers ------------------------------------------------------------------------------------------------------


async def test_an_offered_draw_starts_no_second_search(table: Any) -> None:
    game = await start(table, 6)
    table.engine.delay_s = 0.2
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    hall = table.arena.hall
    hall.happen(game, offers.draw_yes(game, chess.WHITE, hall.game_now_ms(game)))
    await table.play(game, 10)
    assert len(table.engine.asked) == 5
    assert not table.asked("/draw/")


# -- somebody leaves ---------------------------------------------------------------------------------------------


def gone(table: Any, game: Any, seconds: int | None) -> None:
    line = {"type": "opponentGone", "gone": seconds is not None}
    table.arena.hall.audience.to_players(game, line if seconds is None else {**line, "claimWinInSeconds": seconds})


async def test_a_win_is_claimed_when_it_can_be_and_when_it_is_their_turn(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.session._CLAIM_AGAIN_S", 0.3)
    game = await start(table, 6)
    table.engine.delay_s = 0.3
    table.move(game, table.LINE[6])
    gone(table, game, 8)
    gone(table, game, 0)
    await table.until(lambda: table.engine.thinking == 1)
    assert not table.asked("claim-victory")
    await table.until(lambda: game.plies == 8)
    # The arena says 400 to a claim it does not believe; ours are repeated, calmly, and no win is booked by them.
    await table.until(lambda: len(table.asked("claim-victory")) >= 2)
    assert not table.recorder.of(event_types.VERDICT_PROVISIONAL)
    gone(table, game, None)
    await table.play(game, 10)
    asked = -1
    async with asyncio.timeout(table.PATIENCE_S):
        # One may be under way; then there is no other.
        while len(table.asked("claim-victory")) != asked:
            asked = len(table.asked("claim-victory"))
            await asyncio.sleep(1.0)


async def test_the_ok_of_a_claim_is_no_win(table: Any) -> None:
    game = await start(table, 6)
    table.faults.next("claim_victory", status=200, body={"ok": True}, times=9)
    gone(table, game, 0)
    await table.until(lambda: table.asked("claim-victory"))
    gone(table, game, None)
    await table.play(game, 10)
    assert not table.recorder.of(event_types.VERDICT_PROVISIONAL)


async def test_a_draw_is_claimed_where_a_win_is_out_of_reach(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.session.claims_draw", lambda ledger, seat: True)
    game = await start(table, 6)
    gone(table, game, 0)
    await table.until(lambda: table.asked("claim-draw"))
    assert not table.asked("claim-victory")
    gone(table, game, None)
    await table.play(game, 10)


@pytest.mark.parametrize("bot_is_white", [False, True])
async def test_an_abort_that_fails_is_asked_for_again(table: Any, bot_is_white: bool) -> None:
    await table.run(abort_time=1)
    table.faults.next("abort", status=500, times=1)
    game = table.pair(bot_is_white=bot_is_white)
    verdict = await table.final(game)
    assert verdict["reason"] == "aborted"
    assert len(table.asked("/abort")) == 2


async def test_a_game_that_cannot_be_aborted_is_played_when_the_opponent_comes(table: Any) -> None:
    await table.run(abort_time=1)
    game = table.pair(rules=["noAbort"])
    await table.until(lambda: table.asked("/abort"))
    await table.play(game, 6)
    asked = len(table.asked("/abort"))
    await asyncio.sleep(1.2)
    assert len(table.asked("/abort")) == asked


async def test_who_asks_for_a_minute_before_the_first_move_gets_it_once(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.idle._GRACE_MS", 3_600_000)
    await table.run(abort_time=2)
    game = table.pair()
    await table.settled(game)
    table.arena.hall.say(game, "spectator", "Visitor", "!wait")
    await table.until(lambda: table.said(game, "spectator"))
    for _ in range(2):
        table.arena.hall.say(game, "player", "Human", "!wait")
    await table.until(lambda: len(table.said(game)) == 2)
    assert table.said(game) == ["I wait another minute for the first move.", "I wait no longer for the first move."]
    assert table.said(game, "spectator") == ["I wait no longer for the first move."]
    await asyncio.sleep(2.5)
    assert not table.asked("/abort")
    await table.play(game, 4)


async def test_a_greeting_tells_of_the_machine_where_it_is_to(table: Any) -> None:
    await table.run(greeting={"pool": False, "hello": "on {cpu} with {ram}, {so}"})
    game = table.pair()
    await table.until(lambda: table.said(game))
    assert table.said(game) == [f"on {machine.cpu()} with {machine.ram()}, {{so}}"]
    assert re.search(r"\d+t with \d+ GiB", table.said(game)[0])
