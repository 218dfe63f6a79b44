"""The journal's database, as its one thread sees it: every call blocks, every failure is a JournalError."""

import json
import sqlite3
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.pool import StaticPool

from bridge.errors import JournalError
from bridge.interfaces import Draft, Entry
from bridge.journal import schema
from bridge.journal.faults import told
from bridge.journal.lock import JournalLock
from bridge.journal.place import check_file, parse_url

BUSY_TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class Row:
    """A draft whose data is JSON text already, so that what cannot be stored fails alone, before it joins a batch."""

    draft: Draft
    data: str

    @classmethod
    def of(cls, draft: Draft) -> "Row":
        """Raises TypeError or ValueError for data that is not plain JSON values."""
        return cls(draft, json.dumps(draft.data, allow_nan=False, separators=(",", ":")))


class Store:
    """An open journal database, held by an advisory lock against every other process."""

    def __init__(self, url: str) -> None:
        parsed, file = parse_url(url)
        self._place = str(file) if file else "in memory"
        if file:
            check_file(file)
        self._lock = JournalLock(file) if file else None
        # The driver begins nothing behind our back (isolation_level None). IMMEDIATE: a transaction that will write
        # waits for its turn at once, and never fails half way.
        self._engine = sa.create_engine(
            parsed, poolclass=StaticPool, connect_args={"timeout": BUSY_TIMEOUT_S, "isolation_level": None}
        )
        sa.event.listen(self._engine, "connect", _tune)
        sa.event.listen(self._engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        try:
            with self._transaction() as connection:
                self._uuid = self._prepare(connection)
                # Nobody else writes while we hold the lock, so the last number is read once.
                self._last = _last_seq(connection)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        with told(self._place), self._engine.begin() as connection:
            yield connection

    def _prepare(self, connection: sa.Connection) -> str:
        """Create the tables in an empty database, else see that they are ours. Returns the journal's own id."""
        present = set(sa.inspect(connection).get_table_names())
        if not present:
            schema.tables.create_all(connection)
            values = {"program": schema.PROGRAM, "schema": schema.VERSION, "journal": uuid.uuid4().hex}
            rows = [{"name": name, "value": value} for name, value in values.items()]
            connection.execute(sa.insert(schema.meta), rows)
        elif not present >= set(schema.tables.tables):
            raise JournalError(
                f"journal {self._place}: belongs to another program (tables: {', '.join(sorted(present)[:4])}); "
                "set journal.url to another file"
            )
        meta = {str(name): str(value) for name, value in connection.execute(sa.select(schema.meta))}
        if meta.get("schema") != schema.VERSION or meta.get("program") != schema.PROGRAM:
            raise JournalError(
                f"journal {self._place}: written by another version of this program (schema {meta.get('schema')}, "
                f"this one knows {schema.VERSION}); update the program, or set journal.url to another file"
            )
        # A write that changes nothing: a read-only file is told now and not at the first game.
        connection.execute(sa.update(schema.meta).values(value=schema.meta.c.value))
        return meta["journal"]

    def write(self, batch: Sequence[Sequence[Row]], cursors: Mapping[str, int], time_ms: int) -> list[list[Entry]]:
        """Store everything in one transaction, or nothing; answers each member of the batch with its entries.

        A number counts as given once the transaction is through, so a batch that fails leaves no gap.
        """
        with self._transaction() as connection:
            rows = [row for member in batch for row in member]
            known = _known_keys(connection, [row.draft.key for row in rows if row.draft.key is not None])
            seq = self._last
            stored: list[list[Entry]] = []
            values: list[dict[str, object]] = []
            for member in batch:
                stored.append([])
                for row in member:
                    if row.draft.key in known:
                        continue
                    if row.draft.key is not None:
                        known.add(row.draft.key)
                    seq += 1
                    stored[-1].append(self._entry(seq, time_ms, row))
                    values.append(_columns(stored[-1][-1], row))
            if values:
                connection.execute(sa.insert(schema.event), values)
            for name, position in cursors.items():
                statement = insert(schema.cursor).values(name=name, seq=position)
                connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"seq": position}))
        self._last = seq
        return stored

    def _entry(self, seq: int, time_ms: int, row: Row) -> Entry:
        # The data is read back from its text: a follower of today sees what a follower after a restart will see.
        draft = row.draft
        data = json.loads(row.data)
        return Entry(seq, f"{self._uuid}-{seq}", time_ms, draft.type, draft.subject, draft.account, data)

    def read(self, subject: str | None, types: Sequence[str], after: int, limit: int) -> list[Entry]:
        """Entries in order of their numbers."""
        columns = schema.event.c
        query = sa.select(
            columns.seq, columns.id, columns.time_ms, columns.type, columns.subject, columns.account, columns.data
        ).where(columns.seq > after)
        if subject is not None:
            query = query.where(columns.subject == subject)
        if types:
            query = query.where(columns.type.in_(types))
        with self._transaction() as connection:
            rows = connection.execute(query.order_by(columns.seq).limit(limit)).all()
        return [Entry(*row[:-1], json.loads(row[-1])) for row in rows]

    def last_seq(self) -> int:
        """The greatest number, 0 at first."""
        return self._last

    def cursor(self, name: str) -> int:
        """A sink's stored cursor, 0 at first."""
        with self._transaction() as connection:
            query = sa.select(schema.cursor.c.seq).where(schema.cursor.c.name == name)
            return int(connection.execute(query).scalar() or 0)

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        self._engine.dispose()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _tune(connection: sqlite3.Connection, _record: object) -> None:
    """With a write-ahead log, NORMAL may lose the last commits to a power cut, but never to a killed process."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def _last_seq(connection: sa.Connection) -> int:
    return int(connection.execute(sa.select(sa.func.max(schema.event.c.seq))).scalar() or 0)


def _known_keys(connection: sa.Connection, keys: Sequence[str]) -> set[str | None]:
    if not keys:
        return set()
    return set(connection.execute(sa.select(schema.event.c.key).where(schema.event.c.key.in_(keys))).scalars())


def _columns(entry: Entry, row: Row) -> dict[str, object]:
    return {
        "seq": entry.seq,
        "id": entry.id,
        "time_ms": entry.time_ms,
        "type": entry.type,
        "subject": entry.subject,
        "account": entry.account,
        "data": row.data,
        "key": row.draft.key,
    }
