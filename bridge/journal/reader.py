"""A journal read beside the program that writes it: no lock is taken, nothing is changed, no commit is held up."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bridge.errors import JournalError, UsageError
from bridge.interfaces import Entry
from bridge.journal import marks, schema
from bridge.journal.faults import explain, is_damage, told
from bridge.journal.place import check_file
from bridge.journal.raw import ENGINE, Block, unpack
from bridge.journal.saving import save

BUSY_TIMEOUT_S = 5
PAGE = 500
_YEAR_9999_MS = 253_370_764_800_000
_COLUMNS = "seq, id, time_ms, type, subject, account, data"
_INDEX = "event INDEXED BY event_by_subject"
"""Numbers and games, readable still where the entries themselves are damaged."""
_HOLES = f"""
    SELECT before + 1, seq - 1 FROM (
        SELECT seq, lag(seq, 1, :after) OVER (ORDER BY seq) AS before FROM {_INDEX} WHERE seq > :after
    ) WHERE seq > before + 1
"""


class JournalReader:
    """A journal's file, for one thread. Raises UsageError when there is none, JournalError when it cannot be read.

    `tell` is told of each entry or block that is damaged, once, and it is left out; without it that is a JournalError.
    """

    def __init__(self, file: Path, tell: Callable[[str], object] | None = None) -> None:
        self.file = file
        self.damaged: dict[str, str] = {}
        """What is damaged, and the game that it belongs to."""
        self._tell = tell
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
        query = f"SELECT {_COLUMNS} FROM event WHERE {' AND '.join(wanted)} ORDER BY seq LIMIT {PAGE}"
        values = [*([subject] if subject is not None else []), *types]
        while True:
            rows = self._page(query, [after, *values], subject, after)
            for row in rows:
                after = row[0]
                if (entry := self._entry(row)) is not None and (not types or entry.type in types):
                    yield entry
            if len(rows) < PAGE:
                return

    def _page(self, query: str, values: Sequence[object], subject: str | None, after: int) -> list[tuple[Any, ...]]:
        """Rows; where they cannot be read together they are read one by one, by an index, and those left out are told.

        A row of which only number and game can be read has these alone.
        """
        with told(str(self.file)):
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
            numbers = f"SELECT seq, subject FROM {_INDEX} WHERE seq > ? {{}} LIMIT {PAGE}"
            only = ("ORDER BY seq", [after]) if subject is None else ("AND subject = ? ORDER BY seq", [after, subject])
            return [self._row(*row) for row in self._connection.execute(numbers.format(only[0]), only[1]).fetchall()]

    def _row(self, seq: int, subject: str) -> tuple[Any, ...]:
        try:
            row: tuple[Any, ...] = self._connection.execute(
                f"SELECT {_COLUMNS} FROM event WHERE seq = ?", (seq,)
            ).fetchone()
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            return seq, subject
        return row or (seq, subject)

    def _entry(self, row: tuple[Any, ...]) -> Entry | None:
        """None for one that is damaged."""
        if len(row) == len(Entry.__dataclass_fields__):
            seq, key, time_ms, kind, about, account, text = row
            data = _object(text)
            dated = isinstance(time_ms, int) and 0 <= time_ms < _YEAR_9999_MS
            if data is not None and dated:
                return Entry(seq, str(key), time_ms, str(kind), str(about), str(account), data)
            fault = "its data is no JSON object" if dated else "its time is none"
            what, game = f"entry {seq} is damaged: {fault}", str(about)
        else:
            (seq, game), what = row, f"entry {row[0]} is damaged: it cannot be read"
        self._damage(what, game)
        return None

    def _damage(self, what: str, game: str) -> None:
        about = f"journal {self.file}: game {game}: {what}" if game else f"journal {self.file}: {what}"
        if self._tell is None:
            raise JournalError(about)
        if about not in self.damaged:
            self.damaged[about] = game
            self._tell(about)

    def games(self) -> list[str]:
        """What entries are about, games and mere challenges, in the order of their first entries."""
        query = "SELECT subject FROM event WHERE subject != '' GROUP BY subject ORDER BY min(seq)"
        return [str(subject) for (subject,) in self.rows("event", query)]

    def missing(self) -> list[tuple[int, int]]:
        """The numbers, from and to, of entries that were stored and are gone, though they were not pruned."""
        with told(str(self.file)), self._one_moment():
            mark = self.mark(marks.PRUNED) or 0
            found = self._connection.execute(_HOLES, {"after": mark}).fetchall()
            [(newest,)] = self._connection.execute(f"SELECT max(seq) FROM {_INDEX}")
            [(last,)] = self._connection.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'event'")
        end = max(mark, newest or 0)
        return [*found, *([(end + 1, last)] if (last or 0) > end else [])]

    @contextmanager
    def _one_moment(self) -> Iterator[None]:
        """What is read within belongs together, whatever is written meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.rollback()

    def mark(self, name: str) -> int | None:
        """A number under a name (`marks`); None where there is none."""
        with told(str(self.file)):
            found = self._connection.execute("SELECT seq FROM cursor WHERE name = ?", (name,)).fetchone()
        return None if found is None else int(found[0])

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
            try:
                return {str(game): int(count) for game, count in self._connection.execute(query)}
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
        return dict(Counter(entry.subject for entry in self.entries(types=["kirichess.game.ply"])))

    def raw(self, subject: str) -> list[Block]:
        """The platform's lines of a game as far as they are kept, in the order in which they came."""
        if "raw" not in self._tables:
            return []
        with told(str(self.file)):
            query = "SELECT id FROM raw WHERE subject = ? AND source NOT LIKE ? ORDER BY id"
            ids = self._connection.execute(query, (subject, f"{ENGINE}%")).fetchall()
        blocks = (self._block(subject, number) for (number,) in ids)
        return [block for block in blocks if block is not None]

    def _block(self, subject: str, number: int) -> Block | None:
        """None for one that is damaged, or has gone meanwhile."""
        query = "SELECT source, first, data, after FROM raw WHERE id = ?"
        try:
            row = self._connection.execute(query, (number,)).fetchone()
            if row is None:
                return None
            source, first, data, after = row
            lines = tuple(unpack(data))
            if not lines:
                raise ValueError("it has no lines")
            return Block(subject, str(source), int(first), lines, int(after))
        except (sqlite3.Error, ValueError, TypeError) as error:
            if isinstance(error, sqlite3.Error) and not is_damage(error):
                raise JournalError(f"journal {self.file}: {explain(error)}") from error
            self._damage(f"block {number} of the platform's lines is damaged", subject)
            return None

    def backup(self, copy: Path) -> None:
        """A whole copy as it is now. Raises JournalError: which file it was, and why."""
        with told(f"{self.file} or its copy {copy}"):
            save(self._connection, copy)
            with closing(sqlite3.connect(copy)) as written:
                sound = written.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        if not sound:
            copy.unlink()
            raise JournalError(f"journal {self.file}: is damaged, so no backup of it is kept; `sqlite3 FILE .recover`")

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


def _object(text: object) -> dict[str, object] | None:
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


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
    except BaseException:
        connection.close()
        raise
    return connection
