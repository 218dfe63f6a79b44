"""The journal cannot be written for a while: games go on from memory, new ones are refused, nothing is lost."""

import asyncio
from typing import Any

import pytest
import structlog

from bridge import event_types
from bridge.arena import referee
from bridge.arena.challenges import Wish
from bridge.arena.hall import control_of
from bridge.errors import JournalError
from bridge.journal import SqlJournal

WISH = Wish(control_of(540), "standard", None, False, "white", frozenset())


class Disk:
    """Full, slow, or all right."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self.slow = False
        put = SqlJournal.put

        async def fallible(journal: SqlJournal, drafts: Any) -> Any:
            while self.slow:
                await asyncio.sleep(0.01)
            if self.full:
                raise JournalError("journal: the disk is full; make room")
            return await put(journal, drafts)

        monkeypatch.setattr(SqlJournal, "append", fallible)
        monkeypatch.setattr(SqlJournal, "put", lambda *given: asyncio.ensure_future(fallible(*given)))
        monkeypatch.setattr("bridge.outbox._PAUSES_S", (0.05, 0.1))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


async def test_a_running_game_goes_on_and_is_stored_later(table: Any, disk: Disk) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    disk.full = True
    await table.play(game, 10)
    asked = table.arena.desk.create(table.arena.account("Visitor"), table.arena.account("Kiri"), WISH)
    await table.until(lambda: asked.status.value == "declined")
    assert len(table.plies(game)) < 10
    disk.full = False
    await table.play(game, 14)
    await table.resign(game)
    await table.check_undisturbed(game)


async def test_a_game_by_correspondence_is_left_once_it_is_stored(table: Any, disk: Disk) -> None:
    await table.run(correspondence={"move_time": 1, "checkin_period": 1, "disconnect_time": 1}, concurrency=1)
    game = table.pair(limit_s=None, days=3)
    table.engine.delay_s = 0.5
    table.move(game, "e2e4")
    await table.until(lambda: table.engine.thinking == 1)
    disk.full = True
    await table.until(lambda: game.plies == 2)
    (lobby,) = [lobby for _, lobby in table.daemon._lobbies]
    await asyncio.sleep(2.0)
    assert game.id not in lobby.parked
    disk.full = False
    await table.until(lambda: game.id in lobby.parked, what="the game is left")
    await table.until(lambda: table.plies(game) == game.moves)


async def test_a_verdict_waits_for_the_journal(table: Any, disk: Disk) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 6)
    disk.full = True
    hall = table.arena.hall
    hall.happen(game, referee.resign(game, True, hall.game_now_ms(game)))
    await asyncio.sleep(0.3)
    assert not table.recorder.of(event_types.VERDICT_FINAL)
    disk.full = False
    await table.check_undisturbed(game)


async def test_a_slow_journal_does_not_hold_a_move_for_long(table: Any, disk: Disk) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    disk.slow = True
    async with asyncio.timeout(10.0):
        await table.play(game, 6)
    disk.slow = False
    await table.play(game, 10)
    await table.resign(game)
    await table.check_undisturbed(game)


async def test_a_failing_engine_is_stored_without_holding_the_move(table: Any, disk: Disk) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    disk.slow = True
    table.engine.next = [table.dies, table.breaks]
    async with asyncio.timeout(10.0):
        await table.play(game, 6)
    disk.slow = False
    await table.play(game, 8)
    await table.resign(game)
    await table.check_undisturbed(game)
    await table.until(lambda: len(table.recorder.of(event_types.ENGINE_FAILED, game.id)) == 2)


async def test_killed_while_the_disk_is_full_the_game_is_worked_out_anew(table: Any, disk: Disk) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 6)
    await table.until(lambda: len(table.plies(game)) == 6)
    disk.full = True
    await table.play(game, 10)
    await table.kill()
    disk.full = False
    await table.run()
    await table.play(game, 14)
    await table.resign(game)
    live = await table.final(game)
    assert live["platform_plies"] == 14
    assert table.plies(game) == game.moves
    assert table.numbers() == list(range(1, len(table.recorder.entries) + 1))


async def test_a_drain_names_the_games_that_are_over_and_not_stored(table: Any, disk: Disk) -> None:
    await table.run(more={"drain_s": 1})
    game = table.pair()
    await table.play(game, 6)
    disk.full = True
    hall = table.arena.hall
    hall.happen(game, referee.resign(game, True, hall.game_now_ms(game)))
    ((_, lobby),) = table.daemon._lobbies
    await table.until(lambda: not lobby.games, what="its slot is free")
    with structlog.testing.capture_logs() as logs:
        table.daemon.drain()
        await table.until(table._work.done, what="the drain ends")
    [left] = [entry["games"] for entry in logs if entry["event"] == "games_left_to_the_next_start"]
    assert left == [game.id]
    disk.full = False
    await table.run()
    await table.check_undisturbed(game)
