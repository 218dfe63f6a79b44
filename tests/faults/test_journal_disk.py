"""The journal's file under a running daemon: really full, locked from outside, deleted. Its games do not notice."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import structlog
from click.testing import CliRunner

from bridge import event_types
from bridge.arena import referee
from bridge.arena.challenges import Wish
from bridge.arena.hall import control_of
from bridge.cli.main import main
from bridge.journal import SqlJournal

WISH = Wish(control_of(540), "standard", None, False, "white", frozenset())


def verified(file: Path, games: int = 1) -> None:
    told = CliRunner().invoke(main, ["journal", "verify", "--journal", str(file)])
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout == f"{games} games: {games} agree, 0 do not; {games} computed from the source\n"


def journal_of(table: Any) -> SqlJournal:
    journal: SqlJournal = table.daemon._journal
    return journal


def trouble(table: Any) -> str:
    [stream] = [stream for stream in table.daemon.status().streams if stream.name == "journal"]
    assert stream.alive is not bool(stream.detail)
    return str(stream.detail)


@pytest.fixture
def small_disk(disk: Callable[[str], Path]) -> Path:
    """Of 4 MiB: within its pages a file that is full has room for small things yet."""
    return disk("4m")


def fill(ballast: Path) -> None:
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.outbox._PAUSES_S", (0.05, 0.2))
    monkeypatch.setattr("bridge.journal.sql.PAUSES_S", (0.05, 0.2))
    monkeypatch.setattr("bridge.journal.store.BUSY_TIMEOUT_S", 0.3)


async def test_a_disk_that_is_full_for_a_while(table: Any, small_disk: Path) -> None:
    table.journal = small_disk / "journal.db"
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    fill(small_disk / "ballast")
    await table.play(game, 16)
    await table.until(lambda: "the disk is full; free some space" in trouble(table))
    asked = table.arena.desk.create(table.arena.account("Visitor"), table.arena.account("Kiri"), WISH)
    await table.until(lambda: asked.status.value == "declined", what="a new game is refused")
    assert len(table.plies(game)) < 16
    (small_disk / "ballast").unlink()
    await table.until(lambda: len(table.plies(game)) == 16 and not trouble(table), what="all is stored")
    await table.play(game, 20)
    await table.resign(game)
    await table.check_undisturbed(game)
    await table.kill()
    verified(table.journal)


async def test_a_file_that_somebody_locks_for_a_while(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    with locked(table.journal):
        await table.play(game, 12)
        await table.until(lambda: "locked by another program" in trouble(table))
    await table.until(lambda: not trouble(table), what="it works again by itself")
    await table.play(game, 16)
    await table.resign(game)
    await table.check_undisturbed(game)
    await table.kill()
    verified(table.journal)


async def test_twenty_games_that_end_at_once_while_the_file_is_locked(table: Any) -> None:
    """K15: no record is lost or doubled, and no move waits for it."""
    await table.run(concurrency=20)
    games = [table.pair() for _ in range(20)]
    for game in games:
        await table.play(game, 2)
    await table.until(lambda: sum(len(table.plies(game)) for game in games) == 40)
    hall = table.arena.hall
    with locked(table.journal), structlog.testing.capture_logs() as logs:
        for game in games:
            table.move(game, table.LINE[2])
        await table.until(lambda: all(game.plies == 4 for game in games), what="no move waits")
        for game in games:
            hall.happen(game, referee.resign(game, True, hall.game_now_ms(game)))
        await table.until(lambda: "locked by another program" in trouble(table))
        assert not table.recorder.of(event_types.VERDICT_FINAL)
    assert len([entry for entry in logs if (entry["event"], entry["log_level"]) == ("game_not_stored", "error")]) <= 20
    for game in games:
        verdict = await table.final(game)
        assert (verdict["reason"], verdict["platform_plies"]) == ("resignation", 4)
        assert table.plies(game) == game.moves
    assert table.numbers() == list(range(1, len(table.recorder.entries) + 1))
    await table.kill()
    verified(table.journal, 20)


async def test_files_that_are_deleted(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    await asyncio.to_thread(delete, table.journal)
    await table.play(game, 12)
    await table.resign(game)
    await table.check_undisturbed(game)
    await table.kill()
    verified(table.journal)


def delete(file: Path) -> None:
    for found in file.parent.glob(f"{file.name}*"):
        found.unlink()


async def test_killed_in_the_middle_the_game_is_still_proved(table: Any) -> None:
    await table.run()
    game = table.pair()
    for plies in (3, 8, 13):
        await table.play(game, plies)
        await table.kill()
        await table.run()
    await table.play(game, 16)
    await table.resign(game)
    await table.final(game)
    await table.kill()
    verified(table.journal)


async def health(table: Any) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"{table.daemon.monitor.url}healthz") as answer:
        return answer.status, await answer.text()


async def test_a_file_that_is_damaged_under_way(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.journal.sql.LOOK_S", 0.1)
    await table.run(more={"monitor": {"listen": "127.0.0.1:0"}})
    game = table.pair()
    await table.play(game, 4)
    await table.settled(game)
    await journal_of(table)._run(checkpoint, journal_of(table))
    whole = table.journal.read_bytes()
    with table.journal.open("r+b") as file:
        file.seek(8 * 4096)
        file.write(b"\xff" * (len(whole) - 8 * 4096))
    await table.until(lambda: "is damaged; move it away" in trouble(table))
    status, told = await health(table)
    assert status == 503 and "is damaged; move it away" in told
    asked = table.arena.desk.create(table.arena.account("Visitor"), table.arena.account("Kiri"), WISH)
    await table.until(lambda: asked.status.value == "declined", what="a new game is refused")
    await table.play(game, 12)
    assert len(table.plies(game)) == 4
    table.journal.write_bytes(whole)
    await table.until(lambda: not trouble(table), what="it works again by itself")
    assert (await health(table))[0] == 200
    await table.play(game, 16)
    await table.resign(game)
    await table.check_undisturbed(game)
    await table.kill()
    verified(table.journal)


def checkpoint(journal: SqlJournal) -> None:
    store = journal._store
    assert store is not None
    store._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
