"""Journals of every version that was released are read, upgraded and gone on with; of later ones they say so."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from click.testing import CliRunner

from bridge import history
from bridge.cli.main import main
from bridge.errors import JournalError
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal, schema
from bridge.journal.reader import JournalReader
from bridge.journal.upgrade import MIGRATIONS

KEPT = Path(__file__).parents[1] / "data" / "journal"
FILES = sorted(KEPT.glob("*.db"))


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / "journal.db"
    shutil.copy(request.param, file)
    return file


def dump(file: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as base:
        found: list[tuple[object, ...]] = base.execute("SELECT * FROM event ORDER BY seq").fetchall()
        return found + base.execute("SELECT * FROM cursor ORDER BY name").fetchall()


def version_of(file: Path) -> str:
    with closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as base:
        [(version,)] = base.execute("SELECT value FROM meta WHERE name = 'schema'")
    return str(version)


def test_there_is_a_file_of_every_version_of_the_tables() -> None:
    assert {version_of(file) for file in FILES} == set(schema.KNOWN)


async def test_an_old_journal_is_upgraded_and_everything_is_still_there(old: Path) -> None:
    before = dump(old)
    async with SqlJournal(f"sqlite:///{old}") as journal:
        last = await journal.last_seq()
        stored = await journal.read(limit=10_000)
        assert (len(stored), stored[-1].seq) == (last, last)
        assert await journal.cursor("webhook") == 20
        assert await journal.append([Draft("t", "g", key="chat:Kiri:openGame:greeting-0")]) == [], "keys still count"
        [entry] = await journal.append([Draft("t", "g")])
        assert entry.seq == last + 1
        assert entry.id.rpartition("-")[0] == stored[0].id.rpartition("-")[0]
    assert [row for row in dump(old) if row in before] == before


async def test_the_daemon_finds_its_unfinished_game_in_an_old_journal(old: Path) -> None:
    async with SqlJournal(f"sqlite:///{old}") as journal:
        assert list(await history.unfinished(journal, "Kiri")) == ["openGame"]
        followed: list[Entry] = []
        async for entry in journal.follow(0):
            followed.append(entry)
            if entry.seq == await journal.last_seq():
                break
    assert [entry.subject for entry in followed if entry.type == "kirichess.verdict.final"] == ["mateGame", "quitGame"]


async def test_an_upgraded_journal_takes_raw_lines(old: Path) -> None:
    async with SqlJournal(f"sqlite:///{old}") as journal:
        journal.keep("openGame", "bot:Kiri", b'{"type":"gameState"}', 7)
    with JournalReader(old) as reader:
        [block] = reader.raw("openGame")
    assert [(line.at_ms, line.text) for line in block.lines] == [(7, b'{"type":"gameState"}')]


def test_the_commands_read_an_old_journal_without_upgrading_it(old: Path) -> None:
    before = old.read_bytes()
    told = CliRunner().invoke(main, ["journal", "verify", "--journal", str(old)])
    assert (told.exit_code, told.stdout[:15]) == (0, "3 games: 3 agre")
    assert old.read_bytes() == before


async def test_an_upgrade_that_fails_leaves_the_file_as_it_was(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if version_of(old) == schema.VERSION:
        return
    before = dump(old)

    def spoiled(connection: sa.Connection, version: str) -> None:
        connection.exec_driver_sql("DROP TABLE cursor")
        raise sqlite3.OperationalError("out of ideas")

    monkeypatch.setattr("bridge.journal.store.upgrade", spoiled)
    with pytest.raises(JournalError, match="out of ideas"):
        await SqlJournal(f"sqlite:///{old}").open()
    assert dump(old) == before


async def test_the_steps_lead_to_the_tables_of_a_new_journal(old: Path, tmp_path: Path) -> None:
    async with SqlJournal(f"sqlite:///{old}"), SqlJournal(f"sqlite:///{tmp_path}/new.db"):
        pass
    made: list[set[tuple[str, ...]]] = []
    for file in (old, tmp_path / "new.db"):
        engine = sa.create_engine(f"sqlite:///{file}")
        with engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), schema.tables) == []
            inspector = sa.inspect(connection)
            columns = {
                (t, str(c["name"]), str(c["type"])) for t in schema.tables.tables for c in inspector.get_columns(t)
            }
            indexes = {(t, str(i["name"])) for t in schema.tables.tables for i in inspector.get_indexes(t)}
            made.append(columns | indexes)
        engine.dispose()
    assert made[0] == made[1]


def test_the_last_step_is_our_version() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    steps = ScriptDirectory.from_config(config)
    assert steps.get_heads() == [schema.VERSION]
    assert {step.revision for step in steps.walk_revisions()} == set(schema.KNOWN)


async def test_a_newer_journal_is_one_clear_line(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(f"sqlite:///{file}"):
        pass
    with closing(sqlite3.connect(file, isolation_level=None)) as base:
        base.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    with pytest.raises(
        JournalError, match=rf"newer version of this program .schema 99, this one knows {schema.VERSION}.; update"
    ):
        await SqlJournal(f"sqlite:///{file}").open()
    told = CliRunner().invoke(main, ["journal", "games", "--journal", str(file)])
    assert told.exit_code == 1
    assert told.stderr.count("\n") == 1
    assert "newer version" in told.stderr


def test_only_an_upgrade_needs_alembic(tmp_path: Path) -> None:
    code = """
import asyncio, sys
from bridge.journal import SqlJournal
async def main():
    async with SqlJournal(sys.argv[1]):
        print("alembic" in sys.modules)
asyncio.run(main())
"""
    for _ in ("made", "opened again"):
        told = subprocess.run(
            [sys.executable, "-c", code, f"sqlite:///{tmp_path}/j.db"], capture_output=True, text=True, check=True
        )
        assert told.stdout == "False\n"
