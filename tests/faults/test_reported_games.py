"""Games of public bug reports, played again (numbers as in scenarios.toml)."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge import event_types
from bridge.arena import lines, referee
from bridge.arena.challenges import wish_of
from bridge.arena.happenings import Status


async def start(table: Any, plies: int, *, play: dict[str, Any] | None = None, **more: Any) -> Any:
    await table.run(**(play or {}))
    game = table.pair(**more)
    await table.play(game, plies)
    return game


# -- clocks ------------------------------------------------------------------------------------------------------


async def test_a_takeback_stands_the_same_after_a_restart(table: Any) -> None:
    """5"""
    game = await start(table, 6)
    table.take_back(game)
    await table.play(game, 8)
    await table.kill()
    await table.run()
    await table.play(game, 10)
    await table.resign(game)
    live = await table.final(game)
    expected = table.undisturbed(game)
    assert (live["platform_plies"], live["certain"]) == (10, True)
    assert [entry.data["plies"] for entry in table.recorder.of(event_types.GAME_TAKEBACK)] == [4]
    assert table.plies(game) == [*table.LINE[:6], *table.LINE[4:10]]
    spent = sum(row["think_ms"] for row in live["ledger"] if row["uci"] is None)
    assert abs(live["white_ms"] + live["black_ms"] + spent - expected.white_ms - expected.black_ms) <= 100


async def test_an_opponent_at_zero_whom_the_platform_does_not_flag(open_table: Any) -> None:
    """11: it is asked for nothing, and the end is taken when it comes."""
    async with open_table(flag_check_s=600.0) as table:
        game = await start(table, 6, limit_s=120)
        table.spend(game, 125_000)
        table.faults.drop("game", game.id)
        await asyncio.sleep(0.5)
        assert not table.recorder.of(event_types.VERDICT_PROVISIONAL)
        assert not table.asked("resign") and not table.asked("claim")
        hall = table.arena.hall
        hall.happen(game, referee.flag(game, hall.game_now_ms(game)))
        verdict = await table.final(game)
        assert (verdict["result"], verdict["reason"]) == ("0-1", "platform_timeout")
        assert verdict["platform"]["status"] == "outoftime"


async def test_after_a_lost_stream_the_engine_is_told_the_time_that_is_left(table: Any) -> None:
    """13"""
    game = await start(table, 6, limit_s=60)
    table.set_clock(game, 31_400)
    table.faults.drop("game", game.id)
    await table.play(game, 8)
    assert 28_000 < table.engine.limits[-1].black_ms < 31_400
    assert table.engine.starts == 1
    assert not table.asked("resign")


# -- lines -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [700_000, 1_500_000], ids=["read", "passed over"])
async def test_a_line_of_any_length_leaves_no_game_unwatched(table: Any, size: int) -> None:
    """41"""
    game = await start(table, 5)
    whole = lines.game_full(game, table.arena.hall.game_now_ms(game))
    table.arena.hall.audience.to_players(game, {**whole, "remarks": "x" * size})
    await table.play(game, 10)
    await table.resign(game)
    await table.check_undisturbed(game)


async def test_a_challenge_of_nobody_for_an_endless_game(table: Any) -> None:
    """43"""
    await table.run()
    odd = {"id": "open0001", "challenger": None, "destUser": None, "variant": {"key": "standard"}, "rated": False}
    table.arena.hall.audience.event(
        "kiri", {"type": "challenge", "challenge": {**odd, "timeControl": {"type": "unlimited"}}}
    )
    await table.play(table.pair(), 4)
    await table.until(lambda: table.asked("/challenge/open0001/decline"))


# -- ends --------------------------------------------------------------------------------------------------------


async def test_a_move_that_is_refused_as_the_draw_was_agreed_before_it(table: Any) -> None:
    """85"""
    game = await start(table, 6)
    table.engine.delay_s = 0.2
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    hall = table.arena.hall
    happenings = referee.end(game, Status.DRAW, None, hall.game_now_ms(game))
    await table.until(lambda: table.asked(f"/move/{table.LINE[7]}"))
    hall.happen(game, happenings)
    verdict = await table.final(game)
    assert (verdict["result"], verdict["reason"]) == ("1/2-1/2", "agreement")
    assert table.plies(game) == list(table.LINE[:7])
    assert not table.asked("resign")
    assert not table.recorder.of(event_types.ENGINE_FAILED)


async def test_the_opponent_claims_the_win_in_the_middle_of_our_search(table: Any) -> None:
    """93"""
    game = await start(table, 6)
    table.faults.drop("game", game.id)
    await table.settled(game)
    table.engine.delay_s = 5.0
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    hall = table.arena.hall
    hall.happen(game, referee.end(game, Status.TIMEOUT, True, hall.game_now_ms(game)))
    verdict = await table.final(game)
    assert (verdict["result"], verdict["reason"], verdict["flag"]) == ("1-0", "abandonment", None)
    assert table.engine.thinking == 0


async def test_castling_from_a_set_position_is_played_as_the_engine_spells_it(table: Any, tmp_path: Path) -> None:
    """50: the opponent castles by king takes rook; the engine knows the other spelling alone, its own is accepted."""
    file, heard = tmp_path / "engine", tmp_path / "heard"
    file.write_text(
        f"""#!{sys.executable} -S
import sys
for line in sys.stdin:
    word = line.split()[0]
    if word == "uci": print("uciok", flush=True)
    elif word == "isready": print("readyok", flush=True)
    elif word == "position": open({str(heard)!r}, "a").write(line); at = len(line.partition(" moves ")[2].split())
    elif word == "go": print("bestmove", ("e8c8", "c8b8")[at // 2], flush=True)
    elif word == "quit": break
"""
    )
    file.chmod(0o755)
    await table.run(program={"path": str(file)})
    fen = "r3k2r/7p/8/8/8/8/7P/R3K2R w KQkq - 0 1"
    game = table.pair(variant="fromPosition", fen=fen)
    table.move(game, "e1h1")
    await table.until(lambda: game.plies == 2)
    table.move(game, "h2h3")
    await table.until(lambda: game.plies == 4)
    assert game.moves[1] in ("e8c8", "e8a8") and game.moves[3] == "c8b8"
    assert [line.partition(" moves ")[2].split() for line in heard.read_text().splitlines()][-2:] == [
        ["e1g1"],
        ["e1g1", "e8c8", "h2h3"],
    ]
    await table.resign(game)
    verdict = await table.final(game)
    assert (verdict["platform_plies"], verdict["certain"], verdict["anomalies"]) == (4, True, [])


# -- more games than wanted --------------------------------------------------------------------------------------


async def test_games_above_the_limit_are_played_at_once(table: Any) -> None:
    """164"""
    await table.run(concurrency=2)
    games = [table.pair() for _ in range(3)]
    for game in games:
        await table.play(game, 6)
    assert table.engine.starts == 3


async def test_twelve_games_are_taken_up_again_though_the_platform_holds_us_up(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """169: two ended meanwhile, one list tells nine of the others, streams are refused, and somebody challenges."""
    await table.run(concurrency=10)
    games = [table.pair() for _ in range(12)]
    for game in games:
        await table.play(game, 2)
    await table.until(lambda: sum(len(table.plies(game)) for game in games) == 24)
    await table.kill()
    arena, hall = table.arena, table.arena.hall
    for game in games[:2]:
        hall.happen(game, referee.resign(game, True, hall.game_now_ms(game)))
    table.faults.next("game_stream", status=429, times=6)
    for game in games[2:]:
        table.move(game, table.LINE[2])
    wish = wish_of({"clock.limit": "540", "clock.increment": "0", "color": "white"})
    asked = [arena.desk.create(arena.account(name), arena.account("Kiri"), wish) for name in ("Human", "Visitor")]
    games_of = hall.games_of
    monkeypatch.setattr(hall, "games_of", lambda who: list(games_of(who))[:-1])
    await table.run(concurrency=10)
    await table.until(lambda: all(game.plies == 4 for game in games[2:]), 10.0)
    assert all(one.id not in arena.games for one in asked), "every slot is taken"
    for game in games[:2]:
        verdict = await table.final(game)
        assert (verdict["result"], verdict["reason"]) == ("0-1", "resignation")
    assert len(table.recorder.of(event_types.GAME_STARTED)) == 12
