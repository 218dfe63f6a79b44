"""What happens to a journal in use: full disk, locks, damage, files that vanish.

Nothing acknowledged is lost, no number is skipped, and it works again by itself.
"""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import structlog

from bridge.errors import JournalError
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal, sql
from bridge.journal.reader import JournalReader
from bridge.outbox import Outbox


def drafts(count: int, size: int = 10) -> list[Draft]:
    return [Draft("t", "g", {"n": n, "text": "x" * size}) for n in range(count)]


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def in_file(file: Path) -> list[Entry]:
    with JournalReader(file) as reader:
        return list(reader.entries())


def execute(journal: SqlJournal, statement: str) -> None:
    """On the journal's own connection, as a fault would act on it."""
    store = journal._store
    assert store is not None
    with store._engine.connect().execution_options(reading=True) as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql(statement)
        connection.exec_driver_sql("BEGIN")


async def run(journal: SqlJournal, statement: str) -> None:
    await journal._run(execute, journal, statement)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "PAUSES_S", (0.05, 0.2))
    monkeypatch.setattr("bridge.journal.store.BUSY_TIMEOUT_S", 0.05)


@pytest.fixture
def small_disk(disk: Callable[[str], Path]) -> Path:
    """Of 400 KiB."""
    return disk("400k")


async def fill(journal: SqlJournal) -> tuple[list[Entry], str]:
    """Append until it fails: what was acknowledged, and what the failure said."""
    acknowledged: list[Entry] = []
    for _ in range(1000):
        try:
            acknowledged += await journal.append(drafts(3, 500))
        except JournalError as error:
            return acknowledged, str(error)
    raise AssertionError("it was never full")


async def test_a_full_disk_loses_nothing_and_is_gone_on_with_when_there_is_space(small_disk: Path) -> None:
    file = small_disk / "journal.db"
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 200_000)
    async with SqlJournal(url_of(file)) as journal:
        acknowledged, said = await fill(journal)
        assert said.startswith(f"journal {file}: ")
        assert "full" in said
        assert "\n" not in said
        assert journal.trouble == said
        assert await journal.read(limit=10_000) == acknowledged, "reading still works"
        with pytest.raises(JournalError):
            await journal.append(drafts(1, 300_000))
        ballast.unlink()
        [after] = await journal.append(drafts(1))
        assert after.seq == len(acknowledged) + 1, "no gap"
        assert journal.trouble == ""
    assert in_file(file) == [*acknowledged, after]


async def test_when_nobody_appends_the_journal_finds_out_by_itself(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 200_000)
    async with SqlJournal(url_of(small_disk / "journal.db")) as journal:
        await fill(journal)
        for number in range(50):
            journal.keep("g", "bot:a", os.urandom(1000).hex().encode(), number)
        await asyncio.sleep(0.3)
        assert journal.trouble
        ballast.unlink()
        async with asyncio.timeout(30):
            while journal.trouble:
                await asyncio.sleep(0.02)


async def test_pages_that_run_out(tmp_path: Path) -> None:
    """As on a full disk, for those who are not root."""
    async with SqlJournal(url_of(tmp_path / "journal.db")) as journal:
        await run(journal, "PRAGMA max_page_count = 40")
        acknowledged, said = await fill(journal)
        assert "the disk is full; free some space" in said
        await run(journal, "PRAGMA max_page_count = 4000")
        [after] = await journal.append(drafts(1))
        assert after.seq == len(acknowledged) + 1


async def test_a_disk_that_has_become_read_only(tmp_path: Path) -> None:
    async with SqlJournal(url_of(tmp_path / "journal.db")) as journal:
        await journal.append(drafts(2))
        await run(journal, "PRAGMA query_only = 1")
        with pytest.raises(JournalError, match="is read-only; let this user write"):
            await journal.append(drafts(1))
        assert len(await journal.read()) == 2
        await run(journal, "PRAGMA query_only = 0")
        assert [entry.seq for entry in await journal.append(drafts(1))] == [3]


async def test_its_trouble_is_told_in_no_game_s_name(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        with (
            structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as logs,
            structlog.contextvars.bound_contextvars(game="abcdefgh"),
            closing(sqlite3.connect(file, isolation_level=None)) as other,
        ):
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalError):
                await journal.append(drafts(1))
            other.execute("ROLLBACK")
            await journal.works()
    told = {entry["event"]: entry.get("game") for entry in logs}
    assert {"journal_fails", "journal_works_again"} <= told.keys()
    assert set(told.values()) == {None}


async def test_a_lock_from_outside_stops_no_reader_and_no_number_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        first = await journal.append(drafts(2))
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            results = await asyncio.gather(*(journal.append(drafts(2)) for _ in range(3)), return_exceptions=True)
            assert all(isinstance(each, JournalError) for each in results)
            assert "locked by another program" in journal.trouble
            assert await journal.read() == first
            other.execute("ROLLBACK")
        assert [entry.seq for entry in await journal.append(drafts(1))] == [3]
        assert journal.trouble == ""


async def test_whoever_loses_patience_with_its_closing_is_let_go_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.journal.store.BUSY_TIMEOUT_S", 60)
    file, closes = tmp_path / "journal.db", asyncio.Event()

    async def used() -> None:
        async with SqlJournal(url_of(file)) as journal:
            other.execute("BEGIN IMMEDIATE")
            journal.keep("g", "spectator", b"a line", 0)
            closes.set()

    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        using = asyncio.create_task(used())
        await closes.wait()
        await asyncio.sleep(0.5)
        assert not using.done()
        using.cancel()
        async with asyncio.timeout(30):
            await asyncio.wait({using})
        assert using.cancelled()
        for thread in threading.enumerate():
            if thread.name.startswith("kirichess-journal"):
                thread.join(30)
                assert not thread.is_alive(), "the program would wait for it"


def spoil(file: Path) -> bytes:
    """Everything behind the first page; returns what was there."""
    whole = file.read_bytes()
    with file.open("r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * (len(whole) - 4096))
    return whole


async def filled(journal: SqlJournal) -> None:
    await journal.append(drafts(300, 500))
    await run(journal, "PRAGMA wal_checkpoint(TRUNCATE)")


async def until_it_works(journal: SqlJournal) -> None:
    async with asyncio.timeout(30):
        await journal.works()


async def test_damage_under_way_is_one_clear_line_and_nothing_more_is_written(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await filled(journal)
        await run(journal, "PRAGMA cache_size = 0")
        whole = spoil(file)
        for _ in range(2):
            with pytest.raises(JournalError, match=rf"^journal {file}: is damaged; .*\.recover$"):
                await journal.append(drafts(1))
        file.write_bytes(whole)
        await until_it_works(journal)
        assert [entry.seq for entry in await journal.append(drafts(1))] == [301]


async def test_damage_that_a_reader_meets_stops_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await filled(journal)
    async with SqlJournal(url_of(file)) as journal:
        await run(journal, "PRAGMA cache_size = 0")
        whole = spoil(file)
        with pytest.raises(JournalError, match="is damaged"):
            await journal.read(limit=1000)
        assert "is damaged" in journal.trouble
        with pytest.raises(JournalError, match="is damaged"):
            await journal.append(drafts(1))
        file.write_bytes(whole)
        await until_it_works(journal)
        assert len(await journal.read(limit=1000)) == 300


async def test_damage_that_nobody_meets_is_found_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "LOOK_S", 0.05)
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await filled(journal)
        with file.open("r+b") as raw:
            raw.seek(20 * 4096)
            whole = raw.read(4096)
            raw.seek(20 * 4096)
            raw.write(b"\xff" * 4096)
        async with asyncio.timeout(30):
            while "is damaged" not in journal.trouble:
                await asyncio.sleep(0.02)
        with pytest.raises(JournalError, match="is damaged"):
            await journal.append(drafts(1))
        with file.open("r+b") as raw:
            raw.seek(20 * 4096)
            raw.write(whole)
        await until_it_works(journal)
        assert [entry.seq for entry in await journal.append(drafts(1))] == [301]


async def test_one_damaged_entry_stops_no_follower(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await journal.append(drafts(20))
    with closing(sqlite3.connect(file, isolation_level=None)) as base:
        base.execute("UPDATE event SET data = '{' WHERE seq IN (1, 7)")
    async with SqlJournal(url_of(file)) as journal:
        followed = await asyncio.wait_for(follow(journal, 18), 30)
        assert [entry.seq for entry in followed] == [seq for seq in range(1, 21) if seq not in (1, 7)]
        assert [entry.seq for entry in await journal.read(limit=1)] == [2], "an empty page would be the end"


async def test_a_game_whose_turn_is_far_off_is_stored_when_the_journal_works_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.outbox._PAUSES_S", (0.05, 3600.0))
    monkeypatch.setattr("bridge.journal.sql.PAUSES_S", (3600.0, 3600.0))
    async with SqlJournal(url_of(tmp_path / "journal.db")) as journal:
        await run(journal, "PRAGMA query_only = 1")
        waiting = Outbox(journal, "first")
        waiting.put([Draft("t", "first")])
        await asyncio.sleep(3.4)  # the next try would be at 6.35
        await run(journal, "PRAGMA query_only = 0")
        await journal.append([Draft("t", "second")])
        await asyncio.wait_for(waiting.empty(), 2)
        assert [entry.subject for entry in await journal.read()] == ["second", "first"]


async def test_a_follower_outlives_what_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await journal.append(drafts(20, 500))
    async with SqlJournal(url_of(file)) as journal:
        await run(journal, "ALTER TABLE event RENAME COLUMN data TO gone")
        following = asyncio.create_task(follow(journal, 20))
        await asyncio.sleep(0.2)
        assert not following.done()
        await run(journal, "ALTER TABLE event RENAME COLUMN gone TO data")
        assert [entry.seq for entry in await asyncio.wait_for(following, 30)] == list(range(1, 21))


async def follow(journal: SqlJournal, count: int) -> list[Entry]:
    entries: list[Entry] = []
    async for entry in journal.follow(0):
        entries.append(entry)
        if len(entries) == count:
            break
    return entries


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def delete(folder: Path, pattern: str) -> None:
    for found in folder.glob(pattern):
        found.unlink()


@pytest.mark.parametrize("pattern", ["journal.db*", "journal.db", "journal.db-wal"])
async def test_files_that_are_deleted_in_use_are_put_back_with_everything(tmp_path: Path, pattern: str) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        before = await journal.append(drafts(5))
        delete(tmp_path, pattern)
        after = await journal.append(drafts(2))
        assert [entry.seq for entry in after] == [6, 7]
        with pytest.raises(JournalError, match=f"in use by another kirichess-bridge .process {os.getpid()}"):
            await SqlJournal(url_of(file)).open()
        assert in_file(file) == [*before, *after]
        more = await journal.append(drafts(1))
    assert names(tmp_path) == ["journal.db", "journal.db-lock"]
    assert in_file(file) == [*before, *after, *more]


async def test_a_folder_that_is_deleted_in_use_is_told_and_gone_on_with_when_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    file = folder / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        before = await journal.append(drafts(5))
        shutil.rmtree(folder)
        with pytest.raises(JournalError, match=f"its folder does not exist; create it: mkdir -p {folder}"):
            await journal.append(drafts(1))
        folder.mkdir()
        after = await journal.append(drafts(1))
    assert in_file(file) == [*before, *after]


async def test_another_file_in_its_place_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await journal.append(drafts(1))
        file.rename(tmp_path / "moved.db")
        file.write_text("somebody's letter")
        with pytest.raises(JournalError, match="another file lies there now; put the old one back"):
            await journal.append(drafts(1))
        (tmp_path / "moved.db").rename(file)
        assert [entry.seq for entry in await journal.append(drafts(1))] == [2]


KEEPER = """
import asyncio, sys
from bridge.interfaces import Draft
from bridge.journal import SqlJournal

async def main():
    async with SqlJournal(sys.argv[1]) as journal:
        for n in range(1_000_000):
            journal.keep("g", "bot:a", b'{"n": %d}' % n, n)
            await journal.append([Draft("t", "g", {"n": n})])
            print(n, flush=True)

asyncio.run(main())
"""


def test_raw_lines_are_never_behind_the_events_that_came_of_them_even_after_kill_9(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    with subprocess.Popen([sys.executable, "-c", KEEPER, url_of(file)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(100):
            process.stdout.readline()
        process.kill()
        acknowledged = 99 + len(process.stdout.read().split())
    with JournalReader(file) as reader:
        events = [entry.data["n"] for entry in reader.entries()]
        blocks = reader.raw("g")
    kept = [line.at_ms for block in blocks for line in block.lines]
    assert events == list(range(len(events)))
    assert len(events) >= acknowledged + 1
    assert kept[: len(events)] == events


async def test_a_restore_that_fails_half_way_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(f"sqlite:///{file}") as journal:
        await journal.append([Draft("t", "g", {"number": 1})])
        file.unlink()
        with monkeypatch.context() as failing:

            def refuse(_self: Path, _target: Path) -> Path:
                raise OSError(5, "Input/output error")

            failing.setattr(Path, "replace", refuse)
            with pytest.raises(JournalError, match="cannot be put back"):
                await journal.append([Draft("t", "g", {"number": 2})])
        await journal.append([Draft("t", "g", {"number": 3})])
    async with SqlJournal(f"sqlite:///{file}") as journal:
        assert [entry.data["number"] for entry in await journal.read()] == [1, 3]


KILLED = """
import asyncio, os, signal, sqlite3, sys
from pathlib import Path
from bridge.interfaces import Draft
from bridge.journal import SqlJournal, store

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def half(source, copy):
    source.backup(sqlite3.connect(copy), pages=4, progress=die)

async def main():
    file = Path(sys.argv[1])
    async with SqlJournal(f"sqlite:///{file}") as journal:
        await journal.append([Draft("t", "g", {"n": n, "text": "x" * 9000}) for n in range(5)])
        for name in sys.argv[3].split(","):
            Path(f"{file}{name}").unlink()
        if sys.argv[2] == "copying":
            store.save = half
        elif sys.argv[2] == "clearing":
            unlink = Path.unlink
            Path.unlink = lambda path, **more: die() if path.name.endswith("-wal") else unlink(path, **more)
        else:
            Path.replace = die
        await journal.append([Draft("t", "g", {"n": 5})])

asyncio.run(main())
"""


def killed_while_it_is_put_back(file: Path, step: str, deleted: str) -> None:
    command = [sys.executable, "-c", KILLED, str(file), step, deleted]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == -9, told.stderr


@pytest.mark.parametrize("deleted", [",-wal,-shm", "-wal"])
@pytest.mark.parametrize("step", ["clearing", "replacing"])
async def test_killed_while_the_file_is_put_back_the_next_start_ends_that(
    tmp_path: Path, step: str, deleted: str
) -> None:
    file = tmp_path / "journal.db"
    killed_while_it_is_put_back(file, step, deleted)
    assert (tmp_path / "journal.db-restored").exists()
    async with SqlJournal(url_of(file)) as journal:
        assert [entry.data["n"] for entry in await journal.read()] == list(range(5))
        assert [entry.seq for entry in await journal.append(drafts(1))] == [6]
    assert names(tmp_path) == ["journal.db", "journal.db-lock"]


async def test_killed_while_the_copy_is_written_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    killed_while_it_is_put_back(file, "copying", "-wal")
    async with SqlJournal(url_of(file)) as journal:
        await journal.append(drafts(1))
    assert names(tmp_path) == ["journal.db", "journal.db-lock"]


async def test_a_copy_of_another_journal_is_left_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, copy = tmp_path / "journal.db", tmp_path / "journal.db-restored"
    async with SqlJournal(url_of(file)) as journal:
        await journal.append(drafts(1))
    async with SqlJournal(url_of(copy)) as journal:
        await journal.append(drafts(3))
    async with SqlJournal(url_of(file)) as journal:
        assert len(await journal.read()) == 1
    assert len(in_file(copy)) == 3
    assert "journal_copy_left" in capsys.readouterr().out
