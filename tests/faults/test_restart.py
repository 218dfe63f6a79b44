"""The daemon is killed in the middle of games and started again on the same journal."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from bridge import event_types
from bridge.arena import referee
from bridge.interfaces import Draft
from bridge.journal import SqlJournal


@pytest.fixture(autouse=True)
def quick_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 100)


async def stored(table: Any) -> list[Any]:
    """The whole journal, read while no daemon holds it."""
    async with SqlJournal(f"sqlite:///{table.journal}") as journal:
        entries: list[Any] = []
        while page := await journal.read(after=entries[-1].seq if entries else 0):
            entries += page
        return entries


@pytest.mark.parametrize("plies", [0, 1, 2, 5, 8])
async def test_a_game_goes_on_as_if_nothing_was(table: Any, plies: int) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, plies)
    for _ in range(2):
        await table.settled(game)
        await table.kill()
        await table.run()
        await table.settled(game)
        await table.play(game, game.plies + 3)
    await table.resign(game)
    await table.check_undisturbed(game)
    assert len(table.recorder.of(event_types.GAME_STARTED)) == 1


@pytest.mark.parametrize("plies", [3, 6])
async def test_what_nobody_read_is_filled_in_at_the_end_and_nothing_else_is_lost(table: Any, plies: int) -> None:
    """Killed at any moment, with moves that were played meanwhile (R14); the archive's clocks are good to 40 ms."""
    await table.run()
    game = table.pair()
    for _ in range(3):
        await table.play(game, game.plies + plies)
        await table.kill()
        await table.run()
    await table.play(game, game.plies + 2)
    await table.resign(game)
    live, expected = await table.final(game), table.undisturbed(game)
    assert (live["result"], live["reason"]) == (expected.outcome.result, expected.outcome.reason)
    assert live["certain"]
    assert abs(live["white_ms"] - expected.white_ms) <= 40
    assert abs(live["black_ms"] - expected.black_ms) <= 40
    assert table.plies(game) == game.moves
    assert table.numbers() == list(range(1, len(table.recorder.entries) + 1))
    assert len(table.recorder.of(event_types.GAME_STARTED)) == 1


async def test_the_move_that_was_being_sent_is_sent(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    table.faults.next("move", status=0, times=1000, account="kiri")
    table.move(game, table.LINE[4])
    await table.until(lambda: len(table.asked(f"/move/{table.LINE[5]}")) >= 1)
    await table.kill()
    assert game.plies == 5
    table.faults._answers.clear()
    await table.run()
    async with asyncio.timeout(table.PATIENCE_S):
        await table.play(game, 8)
    await table.resign(game)
    await table.check_undisturbed(game)


async def test_the_opponent_moved_while_we_were_gone(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 6)
    await table.kill()
    table.move(game, table.LINE[6])
    await table.run()
    async with asyncio.timeout(table.PATIENCE_S):
        await table.play(game, 8)
    await table.resign(game)
    await table.check_undisturbed(game)


async def test_a_game_that_ended_while_we_were_gone_gets_its_verdict(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 6)
    await table.kill()
    hall = table.arena.hall
    hall.happen(game, referee.resign(game, True, hall.game_now_ms(game)))
    await table.run()
    verdict = await table.final(game)
    assert (verdict["result"], verdict["reason"]) == ("0-1", "resignation")
    await table.kill()
    await table.run()
    await asyncio.sleep(0.2)
    assert len(table.recorder.of(event_types.VERDICT_FINAL)) == 1


@pytest.mark.parametrize("known", [True, False], ids=["journaled", "never seen"])
async def test_a_game_that_the_platform_has_forgotten_is_judged_once_and_its_slot_is_free(
    table: Any, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.lobby._SESSION_TRIES", 1)
    if known:
        await table.run(concurrency=1)
        game = table.pair()
        await table.play(game, 6)
        await table.settled(game)
        await table.kill()
        del table.arena.games[game.id]
        await table.run(concurrency=1)
        verdict = await table.final(game)
        assert (verdict["result"], verdict["reason"], verdict["platform_plies"]) == ("*", "unfinished", 6)
        await table.kill()
        await table.run(concurrency=1)
        await asyncio.sleep(0.2)
        assert len(table.recorder.of(event_types.VERDICT_FINAL)) == 1
    else:
        await table.run(concurrency=1)
        table.daemon._lobbies[0][1]._start("nosuchid")
        assert table.daemon._lobbies[0][1].games
    table.daemon.drain()
    await table.until(table._work.done, what="the drain ends")


async def test_what_was_said_is_not_said_again(table: Any) -> None:
    await table.run(greeting=True, pool="winder")
    game = table.pair(limit_s=300)
    await table.until(lambda: len(table.said(game)) == 1)
    await table.kill()
    await table.run(greeting=True, pool="winder")
    await table.until(lambda: len(table.said(game)) == 2)
    await table.kill()
    await table.run(greeting=True, pool="winder")
    await table.play(game, 2)
    await asyncio.sleep(0.5)
    assert len(table.said(game)) == 2
    assert len(set(table.said(game))) == 2


async def test_marks_and_a_fall_are_announced_once(table: Any) -> None:
    """Black thinks away half of its clock, then the rest; each is told before the restart and not after it."""
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.play(game, 6)
    table.spend(game, 32_000)
    await table.play(game, 8)
    await table.until(lambda: any("below 0:30" in line for line in table.said(game)))
    await table.kill()
    await table.run(pool="winder")
    await table.play(game, 10)
    await asyncio.sleep(0.5)
    assert len(table.said(game)) == 1


async def test_the_opponents_fall_is_announced_once_and_the_board_played_on(table: Any) -> None:
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.play(game, 6)
    table.spend(game, 70_000)
    await table.play(game, 8)
    await table.until(lambda: any("flag fell" in line for line in table.said(game)))
    await table.kill()
    await table.run(pool="winder")
    await table.play(game, 12)
    await table.resign(game)
    verdict = await table.final(game)
    assert (verdict["reason"], verdict["flag"]["side"]) == ("flag", "white")
    assert sum("flag fell" in line for line in table.said(game)) == 1
    assert len(table.recorder.of(event_types.VERDICT_PROVISIONAL)) == 1


async def test_the_count_of_lines_is_kept(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 2)
    async with asyncio.timeout(table.PATIENCE_S):
        while not table.recorder.entries:
            await asyncio.sleep(0.01)
    await table.kill()
    async with SqlJournal(f"sqlite:///{table.journal}") as journal:
        await journal.append([Draft(event_types.CHAT_SENT, game.id, {"text": f"line {n}"}, "Kiri") for n in range(10)])
    await table.run()
    table.arena.hall.say(game, "player", "Human", "!clock")
    await table.play(game, 4)
    await asyncio.sleep(0.3)
    assert table.said(game) == []


async def test_the_abort_timer_survives(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await table.run(abort_time=300)
    game = table.pair()
    await table.until(lambda: table.recorder.of(event_types.GAME_STARTED))
    await table.kill()
    monkeypatch.setattr("bridge.daemon.wall_ms", lambda: time.time_ns() // 1_000_000 + 299_000)
    await table.run(abort_time=300)
    verdict = await table.final(game)
    assert verdict["reason"] == "aborted"


CONFIG = {"engines": {"main": {"kind": "random"}}, "journal": {"url": "sqlite:///journal.db"}}


async def start_process(table: Any, folder: Path) -> asyncio.subprocess.Process:
    play = table.settings(engine="main")
    account = {"platform": "lichess", "url": table.arena.url, "token": "tokenKiri", "play": play}
    file = folder / "config.yml"
    file.write_text(yaml.safe_dump({"accounts": [account], **CONFIG}))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bridge.cli.main", "run", "-c", str(file)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    await table.until(lambda: table.listening or process.returncode is not None, 60.0, "the process listens")
    return process


async def test_a_process_killed_with_signal_9_loses_nothing(table: Any) -> None:
    """The program itself, three times over, with three games at once."""
    folder = table.journal.parent
    games: list[Any] = []
    for round_number in range(3):
        process = await start_process(table, folder)
        if not games:
            games = [table.pair(), table.pair(), table.pair(bot_is_white=True)]
        try:
            for game in games:
                await advance(table, game, game.plies + 4 + round_number)
        finally:
            process.send_signal(signal.SIGKILL)
        assert process.stderr is not None
        log = (await process.stderr.read()).decode()
        await process.wait()
        assert "Traceback" not in log
        assert "tokenKiri" not in log
        await table.until(lambda: not table.listening)
    entries = await stored(table)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    for game in games:
        plies = [e.data["uci"] for e in entries if e.type == event_types.GAME_PLY and e.subject == game.id]
        assert plies == game.moves[: len(plies)]
        assert len(plies) >= game.plies - 1
    assert b"tokenKiri" not in table.journal.read_bytes()


async def advance(table: Any, game: Any, plies: int) -> None:
    """Any legal moves until so many plies stand."""
    while game.plies < plies:
        at = game.plies
        if game.seat(game.turn).name == "Human":
            table.move(game, sorted(move.uci() for move in game.board.legal_moves)[0])
        else:
            await table.until(lambda at=at: game.plies > at, what="the bot's move")
