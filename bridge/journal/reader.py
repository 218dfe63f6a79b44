"""A journal read beside the program that writes it: no lock is taken, nothing is changed, no commit is held up."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bridge.errors import JournalError, UsageError
from bridge.interfaces import Entry
from bridge.journal import schema
from bridge.journal.faults import told
from bridge.journal.place import check_file
from bridge.journal.raw import Block, unpack
from bridge.journal.saving import save

BUSY_TIMEOUT_S = 5
PAGE = 500


class JournalReader:
    """A journal's file, for one thread. Raises UsageError when there is none, JournalError when it cannot be read."""

    def __init__(self, file: Path) -> None:
        self.file = file
        if not file.exists():
            raise UsageError(f"journal {file}: there is no such file")
        check_file(file)
        with told(str(file)):
            self._connection = _connect(file)
            try:
                self._tables = {str(name) for (name,) in self._connection.execute("SELECT name FROM sqlite_master")}
                self._check()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._connection.close()

    def entries(self, subject: str | None = None, types: Sequence[str] = (), after: int = 0) -> Iterator[Entry]:
        """Stored entries in order, read in pages: a reader who takes his time must not keep the log from being used."""
        wanted = ["seq > ?", *(["subject = ?"] if subject is not None else [])]
        if types:
            wanted.append(f"type IN ({', '.join('?' * len(types))})")
        columns = "seq, id, time_ms, type, subject, account, data"
        query = f"SELECT {columns} FROM event WHERE {' AND '.join(wanted)} ORDER BY seq LIMIT {PAGE}"
        values = [*([subject] if subject is not None else []), *types]
        while True:
            with told(str(self.file)):
                rows = self._connection.execute(query, [after, *values]).fetchall()
            for seq, key, time_ms, kind, about, account, data in rows:
                yield Entry(seq, key, time_ms, kind, about, account, self._json(seq, data))
                after = seq
            if len(rows) < PAGE:
                return

    def entry(self, seq: int) -> Entry | None:
        """The entry with a number; None where there is none (any more)."""
        found = next(self.entries(after=seq - 1), None)
        return found if found is not None and found.seq == seq else None

    def rows(self, table: str, query: str) -> list[tuple[Any, ...]]:
        """What a query finds; nothing where an older file has no such table."""
        if table not in self._tables:
            return []
        with told(str(self.file)):
            return self._connection.execute(query).fetchall()

    def last_seq(self) -> int:
        """The number of the newest entry, 0 if there is none."""
        return int(self.rows("event", "SELECT coalesce(max(seq), 0) FROM event")[0][0])

    def plies(self) -> dict[str, int]:
        """How many plies each game has, takebacks not counted off."""
        query = "SELECT subject, count(*) FROM event WHERE type = 'kirichess.game.ply' GROUP BY subject"
        with told(str(self.file)):
            return {str(game): int(count) for game, count in self._connection.execute(query)}

    def raw(self, subject: str) -> list[Block]:
        """The platform's lines of a game as far as they are kept, in the order in which they came."""
        if "raw" not in self._tables:
            return []
        query = "SELECT source, first, data, after FROM raw WHERE subject = ? ORDER BY id"
        with told(str(self.file)):
            rows = self._connection.execute(query, (subject,)).fetchall()
        try:
            return [Block(subject, source, first, tuple(unpack(data)), after) for source, first, data, after in rows]
        except ValueError as error:
            raise JournalError(f"journal {self.file}: game {subject}: {error}") from error

    def backup(self, copy: Path) -> None:
        """A whole copy as it is now. Raises JournalError: which file it was, and why."""
        with told(f"{self.file} or its copy {copy}"):
            save(self._connection, copy)
            with closing(sqlite3.connect(copy)) as written:
                sound = written.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        if not sound:
            copy.unlink()
            raise JournalError(f"journal {self.file}: is damaged, so no backup of it is kept; `sqlite3 FILE .recover`")

    def _json(self, seq: int, data: str) -> dict[str, object]:
        try:
            found = json.loads(data)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise JournalError(f"journal {self.file}: entry {seq} is damaged: its data is no JSON object")
        return found

    def _check(self) -> None:
        found: dict[str, str] = {}
        if {"event", "meta"} <= self._tables:
            found = dict(self._connection.execute("SELECT name, value FROM meta"))
        if found.get("program") != schema.PROGRAM:
            raise JournalError(f"journal {self.file}: is no journal of this program")
        if found.get("schema") not in schema.KNOWN:
            raise JournalError(
                f"journal {self.file}: written by a newer version of this program (schema {found.get('schema')}, "
                f"this one knows {schema.VERSION}); update the program"
            )


@contextmanager
def writing(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection for short transactions beside the running program. Raises UsageError, JournalError."""
    with JournalReader(file), told(str(file)):
        connection = sqlite3.connect(file, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            yield connection
        finally:
            connection.close()


def _connect(file: Path) -> sqlite3.Connection:
    address = f"{file.absolute().as_uri()}?mode=ro"
    try:
        return _opened(address)
    except sqlite3.OperationalError:
        # Who may not write to the folder cannot take part in the log; without one, nobody writes to the file now.
        if file.with_name(file.name + "-wal").exists():
            raise
        return _opened(f"{address}&immutable=1")


def _opened(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
