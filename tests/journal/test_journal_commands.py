"""The `journal` commands, beside a program that appends all the while."""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bridge import history
from bridge.cli.main import main
from bridge.feed import Feed
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal

OLD = Path(__file__).parents[1] / "data" / "journal" / "v0.1.0.db"
DAY_MS = 86_400_000

APPENDER = """
import asyncio, sys
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal

async def main():
    async with SqlJournal(sys.argv[1]) as journal:
        await journal.append([Draft("kirichess.account.online", "")])
        print(await journal.last_seq(), flush=True)
        for n in range(1_000_000):
            journal.keep("live", "bot:a", b'{"n": %d}' % n, n)
            [entry] = await journal.append([Draft("kirichess.game.ply", "live", {"n": n})])
            print(entry.seq, flush=True)
            await asyncio.sleep(0.001)

asyncio.run(main())
"""


class Appender:
    """A process that has the journal open and appends for ever; `acknowledged` are its numbers."""

    def __init__(self, file: Path) -> None:
        command = [sys.executable, "-c", APPENDER, f"sqlite:///{file}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.acknowledged: list[int] = []
        assert self.process.stdout is not None
        self.acknowledged.append(int(self.process.stdout.readline()))
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.acknowledged.extend(int(line) for line in self.process.stdout if line.endswith("\n"))

    def goes_on(self) -> None:
        count = len(self.acknowledged)
        deadline = time.monotonic() + 10
        while len(self.acknowledged) < count + 5:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert self.process.poll() is None

    def kill(self) -> None:
        self.process.kill()
        self._reader.join()
        self.process.communicate()


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    file = tmp_path / "journal.db"
    shutil.copy(OLD, file)
    return file


@pytest.fixture
def appender(journal: Path) -> Iterator[Appender]:
    running = Appender(journal)
    try:
        yield running
    finally:
        running.kill()


class Collecting:
    """A sink that takes everything."""

    name = "collecting 1"

    async def write(self, entry: Entry) -> None:
        pass

    async def close(self) -> None:
        pass


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["journal", *arguments])


def ages(file: Path, days: int) -> None:
    """As if everything in it had been stored so many days ago."""
    with closing(sqlite3.connect(file, isolation_level=None)) as base:
        base.execute("UPDATE event SET time_ms = ?", (time.time_ns() // 1_000_000 - days * DAY_MS,))


def numbers(file: Path) -> list[int]:
    with closing(sqlite3.connect(file)) as base:
        return [seq for (seq,) in base.execute("SELECT seq FROM event ORDER BY seq")]


def test_the_games_are_listed_beside_the_daemon(journal: Path, appender: Appender) -> None:
    told = run("games", "--json", "--journal", str(journal))
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert [(row["id"], row["plies"], row["result"], row["reason"], row["state"]) for row in rows] == [
        ("mateGame", 7, "1-0", "checkmate", "final"),
        ("quitGame", 9, "0-1", "resignation", "final"),
        ("openGame", 7, "*", None, "running"),
    ]
    table = run("games", "--last", "1", "--journal", f"sqlite:///{journal}").stdout
    assert "openGame" in table
    assert "mateGame" not in table
    appender.goes_on()


def test_a_game_is_shown_entry_by_entry(journal: Path, appender: Appender) -> None:
    table = run("show", "mateGame", "--journal", str(journal)).stdout
    assert "Qxf7#" in table
    assert "1-0 · checkmate at ply 7" in table
    events = [
        json.loads(line) for line in run("show", "mateGame", "--json", "--journal", str(journal)).stdout.splitlines()
    ]
    assert [event["type"] for event in events][-1] == "kirichess.verdict.final"
    assert {event["subject"] for event in events} == {"mateGame"}
    appender.goes_on()


def test_the_export_is_every_entry_as_a_cloudevent(journal: Path, appender: Appender, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    assert run("export", "-o", str(out), "--journal", str(journal)).exit_code == 0
    events = [json.loads(line) for line in out.read_text().splitlines()]
    assert [int(event["sequence"]) for event in events] == list(range(1, len(events) + 1))
    assert len(events) > 34
    raw = [json.loads(line) for line in run("export", "live", "--raw", "--journal", str(journal)).stdout.splitlines()]
    assert [json.loads(line["line"])["n"] for line in raw] == list(range(len(raw)))
    assert len(raw) > 0
    appender.goes_on()


def test_a_backup_under_load_is_one_moment_and_can_be_gone_on_with(
    journal: Path, appender: Appender, tmp_path: Path
) -> None:
    appender.goes_on()
    copy = tmp_path / "copy.db"
    before = appender.acknowledged[-1]
    told = run("backup", str(copy), "--journal", str(journal))
    assert told.exit_code == 0, told.stderr
    kept = numbers(copy)
    assert kept == list(range(1, len(kept) + 1))
    assert len(kept) >= before
    appender.goes_on()

    async def reopened() -> int:
        async with SqlJournal(f"sqlite:///{copy}") as opened:
            return (await opened.append([Draft("t", "g")]))[0].seq

    assert asyncio.run(reopened()) == len(kept) + 1
    told = run("backup", str(copy), "--journal", str(journal))
    assert (told.exit_code, "is there already" in told.stderr) == (2, True)
    told = run("backup", str(journal), "--force", "--journal", str(journal))
    assert (told.exit_code, "the journal itself" in told.stderr) == (2, True)


def test_a_backup_that_cannot_be_written_leaves_nothing_behind(journal: Path) -> None:
    told = run("backup", "/proc/copy.db", "--journal", str(journal))
    assert told.exit_code == 1
    assert told.stderr.count("\n") == 1
    assert "cannot be opened" in told.stderr


def test_pruning_beside_the_daemon_takes_judged_games_and_no_number_is_given_again(journal: Path) -> None:
    ages(journal, 100)
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        base.execute("UPDATE cursor SET seq = 34 WHERE name = 'webhook'")
    appender = Appender(journal)
    try:
        would = json.loads(run("prune", "--dry-run", "--json", "--journal", str(journal)).stdout)
        told = json.loads(run("prune", "--json", "--journal", str(journal)).stdout)
        assert would == {**told, "dry_run": True}
        assert (told["games"], told["entries"], told["held_by"]) == (2, 25, "")
        appender.goes_on()
    finally:
        appender.kill()
    assert run("prune", "--journal", str(journal)).stdout.startswith("gone: 0 games, 0 entries")
    assert [seq for seq in numbers(journal) if seq <= 34] == list(range(26, 35)), "the running game stays"
    assert numbers(journal)[9:] == list(range(35, numbers(journal)[-1] + 1)), "the daemon counted on"
    assert set(appender.acknowledged) <= set(numbers(journal))


def test_what_a_sink_has_not_delivered_stays(journal: Path) -> None:
    ages(journal, 100)
    told = run("prune", "--journal", str(journal))
    assert told.stdout.startswith("gone: 1 games, 12 entries"), "the webhook has come to number 20"
    assert "older games stay for the sink 'webhook', which has not delivered them yet" in told.stderr
    assert told.stderr.endswith("journal prune --forget-sink webhook\n")
    assert 13 in numbers(journal)


def marks(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as base:
        return [name for (name,) in base.execute("SELECT name FROM cursor ORDER BY name")]


def test_a_sink_that_is_used_no_more_is_let_go_of(journal: Path) -> None:
    ages(journal, 100)
    would = json.loads(
        run("prune", "--forget-sink", "webhook", "--dry-run", "--json", "--journal", str(journal)).stdout
    )
    assert {"webhook", "webhook known"} <= set(marks(journal))
    told = json.loads(run("prune", "--forget-sink", "webhook", "--json", "--journal", str(journal)).stdout)
    assert would == {**told, "dry_run": True}
    assert (told["games"], told["entries"], told["held_by"]) == (2, 25, "")
    assert not {"webhook", "webhook known"} & set(marks(journal))
    again = run("prune", "--forget-sink", "webhook", "--journal", str(journal))
    assert (again.exit_code, again.stdout) == (2, "")
    assert "the journal knows no sink 'webhook'; it knows" in again.stderr


async def test_a_sink_that_is_forgotten_while_it_works_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlJournal(f"sqlite:///{file}") as opened:
        sink = Collecting()
        feed = Feed(opened, sink)
        await feed.open()
        work = asyncio.create_task(feed.run())
        await opened.append([Draft("t", "g")])
        await feed.reached(1)
        assert run("prune", "--forget-sink", sink.name, "--journal", str(file)).exit_code == 0
        await opened.append([Draft("t", "g")])
        await feed.reached(2)
        work.cancel()
        await opened.append([Draft("t", "g")])
        again = Feed(opened, sink)
        await again.open()
        assert again.seq == 2


async def test_what_is_remembered_of_a_game_goes_with_it(journal: Path) -> None:
    async with SqlJournal(f"sqlite:///{journal}") as opened:
        await history.remember_draw(opened, "Kiri", "mateGame")
        await opened.advance("lang Kiri mateGame", 2)
        await history.remember_draw(opened, "Kiri", "openGame")
        await opened.advance("lobby Kiri", 3)
    ages(journal, 100)
    before = set(marks(journal))
    run("prune", "--dry-run", "--journal", str(journal))
    assert set(marks(journal)) == before
    run("prune", "--journal", str(journal))
    gone = {"draw Kiri mateGame", "lang Kiri mateGame"}
    assert before - set(marks(journal)) == gone


async def first(journal: SqlJournal) -> Entry:
    async for entry in journal.follow(0):
        return entry
    raise AssertionError("the journal was closed")


async def test_numbers_go_on_where_the_last_entries_were_pruned(journal: Path) -> None:
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        base.execute("DELETE FROM event")
    async with SqlJournal(f"sqlite:///{journal}") as opened:
        assert await opened.last_seq() == 34
        waiting = asyncio.create_task(first(opened))
        await asyncio.sleep(0.02)
        [entry] = await opened.append([Draft("t", "g")])
        assert entry.seq == 35
        assert await waiting == entry


async def test_old_lines_go_and_those_of_quiet_games_are_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "journal.db"
    now = [1_700_000_000_000]
    text = b'{"type":"gameState","moves":"' + b"e2e4 e7e5 " * 40 + b'"}'
    async with SqlJournal(f"sqlite:///{file}", lambda: now[0], raw_days=2) as opened:
        for number in range(30):
            for game in ("a", "b"):
                opened.keep(game, "bot:x", text, number)
            await opened.append([Draft("t", "a")])
    single = size_of_raw(file)
    now[0] += 2 * 3_600_000
    async with SqlJournal(f"sqlite:///{file}", lambda: now[0], raw_days=2):
        await until(lambda: blocks(file) == [("a", 0, 30), ("b", 0, 30)])
    assert size_of_raw(file) < single / 10
    now[0] += 2 * DAY_MS
    async with SqlJournal(f"sqlite:///{file}", lambda: now[0], raw_days=2):
        await until(lambda: blocks(file) == [])


async def test_with_raw_days_0_nothing_is_kept(tmp_path: Path) -> None:
    async with SqlJournal(f"sqlite:///{tmp_path}/journal.db", raw_days=0) as opened:
        opened.keep("a", "bot:x", b"{}", 1)
    assert blocks(tmp_path / "journal.db") == []


async def until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not so():
            await asyncio.sleep(0.02)


def blocks(file: Path) -> list[tuple[str, int, int]]:
    with closing(sqlite3.connect(file)) as base:
        return base.execute("SELECT subject, first, lines FROM raw ORDER BY id").fetchall()


def size_of_raw(file: Path) -> int:
    with closing(sqlite3.connect(file)) as base:
        [(size,)] = base.execute("SELECT sum(length(data)) FROM raw")
        return int(size)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["games", "--journal", "none.db"], 2, "there is no such file"),
        (["games"], 2, "which journal?"),
        (["games", "--journal", "sqlite://"], 2, "in memory"),
        (["games", "--journal", "postgresql://x/y"], 2, "not supported"),
        (["games", "--journal", "letter.txt"], 1, "no SQLite database"),
        (["games", "--journal", "other.db"], 1, "is no journal of this program"),
        (["games", "-c", "c.yml", "--journal", "j.db"], 2, "not both"),
        (["show", "nobody", "-c", "c.yml"], 1, "the journal has no game nobody"),
        (["replay", "mateGame", "-c", "c.yml"], 1, "not kept"),
        (["verify", "nobody", "-c", "c.yml"], 1, "the journal has no game nobody"),
        (["prune", "--days", "1", "-c", "c.yml"], 2, "--days"),
        (["prune", "--days", "99999999999999999999", "-c", "c.yml"], 2, "--days"),
        (["prune", "--raw-days", "999999999999", "-c", "c.yml"], 2, "--raw-days"),
        (["replay", "", "-c", "c.yml"], 1, "the journal has no game"),
        (["games", "--journal", "spoilt.db"], 1, "is damaged"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: list[str], status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(OLD, tmp_path / "j.db")
    (tmp_path / "letter.txt").write_text("a letter, long enough to be looked at\n" * 100)
    (tmp_path / "c.yml").write_text('journal: {url: "sqlite:///j.db"}\n')
    with closing(sqlite3.connect(tmp_path / "other.db")) as base:
        base.execute("CREATE TABLE bookmarks (url TEXT)")
    (tmp_path / "spoilt.db").write_bytes(
        (tmp_path / "other.db").read_bytes().replace(b"bookmarks", b"\xff\xfe\xfdkmarks")
    )
    told = run(*arguments)
    assert (told.exit_code, told.stdout) == (status, "")
    assert told.stderr.count("\n") == 1
    assert said in told.stderr


def test_an_export_never_lands_on_the_journal_and_leaves_no_half(tmp_path: Path) -> None:
    file, output = tmp_path / "journal.db", tmp_path / "out.jsonl"
    shutil.copy(OLD, file)
    before = file.read_bytes()
    told = CliRunner().invoke(main, ["journal", "export", "--journal", str(file), "-o", str(file)])
    assert (told.exit_code, file.read_bytes()) == (2, before)
    assert "is the journal itself" in told.stderr
    output.write_text("kept")
    told = CliRunner().invoke(main, ["journal", "export", "nobody", "--journal", str(file), "-o", str(output)])
    assert (told.exit_code, output.read_text()) == (1, "kept")
    assert "has no game nobody" in told.stderr
    assert sorted(each.name for each in tmp_path.glob("out*")) == ["out.jsonl"]


def test_no_backup_is_kept_of_a_damaged_journal(tmp_path: Path) -> None:
    file, copy = tmp_path / "journal.db", tmp_path / "copy.db"
    shutil.copy(OLD, file)
    copy.write_text("good")
    data = bytearray(file.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page + 100 : page + 400] = b"\xff" * 300
    file.write_bytes(data)
    told = CliRunner().invoke(main, ["journal", "backup", str(copy), "--force", "--journal", str(file)])
    assert told.exit_code == 1
    assert "damaged" in told.stderr and "Traceback" not in told.stderr
    assert copy.read_text() == "good"


@pytest.mark.parametrize("target", [".", "/dev/null"])
def test_a_backup_replaces_nothing_but_files(target: str, tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    shutil.copy(OLD, file)
    told = CliRunner().invoke(main, ["journal", "backup", target, "--force", "--journal", str(file)])
    assert told.exit_code == 2
    assert "no ordinary file" in told.stderr
