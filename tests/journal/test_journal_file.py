"""A journal's file: it survives a killed process, has one owner, and says what is wrong with it."""

import asyncio
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import JournalError
from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.journal.store import Store

APPENDER = """
import asyncio, sys
from bridge.interfaces import Draft
from bridge.journal import SqlJournal

async def append_for_ever(journal, name):
    while True:
        for entry in await journal.append([Draft("t", name, {"n": n}) for n in range(3)]):
            sys.stdout.write(f"{entry.seq} {entry.id}\\n")
        sys.stdout.flush()

async def main():
    async with SqlJournal(sys.argv[1]) as journal:
        await asyncio.gather(*(append_for_ever(journal, f"g{i}") for i in range(4)))

asyncio.run(main())
"""


@contextmanager
def appender(file: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that appends for ever and prints what was acknowledged; killed (-9) in the end."""
    command = [sys.executable, "-c", APPENDER, url_of(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def acknowledged_before_kill(file: Path, lines: int) -> dict[int, str]:
    with appender(file) as process:
        assert process.stdout is not None
        read = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        read += process.stdout.read().splitlines()
    whole = [line.split() for line in read if len(line.split()) == 2]
    return {int(seq): id_ for seq, id_ in whole}


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


async def refusal(file: Path) -> str:
    with pytest.raises(JournalError) as told:
        await SqlJournal(url_of(file)).open()
    assert str(file) in str(told.value)
    return str(told.value)


async def test_a_reopened_journal_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        before = await journal.append([Draft("t", "g"), Draft("t", "g", key="k")])
        await journal.advance("webhook", 2)
    async with SqlJournal(url_of(file)) as journal:
        assert await journal.last_seq() == 2
        assert await journal.cursor("webhook") == 2
        assert await journal.append([Draft("t", "g", key="k")]) == []
        [after] = await journal.append([Draft("t", "g")])
        assert await journal.read() == [*before, after]
        assert after.id.rsplit("-", 1) == [before[0].id.rsplit("-", 1)[0], "3"], "ids keep the journal's own part"


async def test_what_was_acknowledged_survives_kill_9_without_gaps(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    acknowledged = acknowledged_before_kill(file, 300) | acknowledged_before_kill(file, 300)
    async with SqlJournal(url_of(file)) as journal:
        stored = {entry.seq: entry.id for entry in await journal.read(limit=1_000_000)}
    assert len(acknowledged) >= 600
    assert acknowledged.items() <= stored.items()
    assert list(stored) == list(range(1, len(stored) + 1))


async def test_a_second_process_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    with appender(file) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert f"in use by another kirichess-bridge (process {process.pid})" in await refusal(file)
    async with SqlJournal(url_of(file)) as journal:
        assert await journal.last_seq() > 0, "the lock goes with the process"


async def test_others_may_read_while_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await journal.append([Draft("t", "g")])
        reader = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        try:
            assert reader.execute("SELECT count(*) FROM event").fetchone() == (1,)
        finally:
            reader.close()


async def test_a_writer_from_outside_is_named_as_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.journal.store.BUSY_TIMEOUT_S", 0.05)
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await journal.append([Draft("t", "g")])
        other = sqlite3.connect(file, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalError, match="locked by another program"):
                await journal.append([Draft("t", "g")])
            other.execute("ROLLBACK")
        finally:
            other.close()
        assert [entry.seq for entry in await journal.append([Draft("t", "g")])] == [2], "no gap after a failure"


async def test_a_missing_folder(tmp_path: Path) -> None:
    assert f"mkdir -p {tmp_path}/none" in await refusal(tmp_path / "none" / "journal.db")


async def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "journal.db").mkdir()
    assert "is a folder" in await refusal(tmp_path / "journal.db")


async def test_a_file_of_another_kind(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    file.write_text("this is a letter, and it is long enough to be looked at\n" * 100)
    assert "no SQLite database" in await refusal(file)
    assert file.read_text().startswith("this is a letter")


async def test_a_damaged_file(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(url_of(file)) as journal:
        await journal.append([Draft("t", "g", {"text": "x" * 500}) for _ in range(200)])
    size = file.stat().st_size
    with file.open("r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * (size - 4096))
    assert "is damaged" in await refusal(file)


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    assert "another program (tables: bookmarks)" in await refusal(file)


async def test_the_journal_of_a_later_version(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    await (await SqlJournal(url_of(file)).open()).close()
    with sqlite3.connect(file) as other:
        other.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    other.close()
    assert "schema 99" in await refusal(file)


@pytest.fixture
def foreign_folder() -> Iterator[Path]:
    """A folder under the eyes of a user who is not root: root may write everywhere."""
    folder = Path(tempfile.mkdtemp(prefix="journal-"))
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)


async def test_a_folder_that_cannot_be_written(foreign_folder: Path) -> None:
    os.chmod(foreign_folder, 0o500)  # noqa: PTH101
    assert f"let this user write to {foreign_folder}" in await refusal(foreign_folder / "journal.db")


async def test_a_file_that_cannot_be_written(foreign_folder: Path) -> None:
    file = foreign_folder / "journal.db"
    await (await SqlJournal(url_of(file)).open()).close()
    file.chmod(0o400)
    assert "read-only" in await refusal(file)


async def test_a_file_that_cannot_be_read(foreign_folder: Path) -> None:
    file = foreign_folder / "journal.db"
    await (await SqlJournal(url_of(file)).open()).close()
    file.chmod(0o000)
    assert "cannot be opened" in await refusal(file)


async def test_a_disk_that_takes_no_more(tmp_path: Path) -> None:
    async with SqlJournal(url_of(tmp_path / "journal.db")) as journal:
        await journal.append([Draft("t", "g")])
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(JournalError, match="full"):
                await journal.append([Draft("t", "g", {"text": "x" * 200_000})])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert [entry.seq for entry in await journal.append([Draft("t", "g")])] == [2], "it recovers, without a gap"


async def test_a_cancelled_caller_does_not_hurt_the_others(tmp_path: Path) -> None:
    async with SqlJournal(url_of(tmp_path / "journal.db")) as journal:
        calls = [asyncio.create_task(journal.append([Draft("t", f"g{i}")])) for i in range(3)]
        await asyncio.sleep(0)
        calls[1].cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [list, asyncio.CancelledError, list]
        assert await journal.last_seq() == 3


async def test_whoever_gives_up_its_opening_may_delete_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ends while it starts: the thread that opens the file goes on until it has made it."""
    begun = threading.Event()

    def slow(*args: Any, **options: Any) -> Store:
        begun.set()
        time.sleep(0.3)
        return Store(*args, **options)

    monkeypatch.setattr("bridge.journal.sql.Store", slow)
    opening = asyncio.create_task(SqlJournal(f"sqlite:///{tmp_path / 'journal.db'}").open())
    await asyncio.to_thread(begun.wait)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    left = sorted(os.listdir(tmp_path))  # noqa: PTH208
    await asyncio.sleep(0.5)
    assert sorted(os.listdir(tmp_path)) == left  # noqa: PTH208
