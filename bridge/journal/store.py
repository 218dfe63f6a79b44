"""The journal's database, as its one thread sees it: every call blocks, every failure is a JournalError."""

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa
import structlog
import zstandard
from sqlalchemy.pool import StaticPool

from bridge.errors import JournalDamaged, JournalError
from bridge.interfaces import Entry
from bridge.journal import marks, schema
from bridge.journal.faults import DAMAGED, told
from bridge.journal.lock import JournalLock
from bridge.journal.place import check_file, parse_url
from bridge.journal.raw import ENGINE, Block, unpack
from bridge.journal.restored import beside, take_up
from bridge.journal.rows import INSERT_EVENT, INSERT_RAW, SET_CURSOR, TOUCH, Row, block_columns, event_columns
from bridge.journal.saving import save
from bridge.journal.sweeping import LATEST, forget_some, last_id, merge_some
from bridge.journal.upgrade import upgrade

log = structlog.get_logger("kirichess_journal")

BUSY_TIMEOUT_S = 5
_BUSY_STEP_S = 0.2
"""SQLite itself waits in one piece that nothing cuts short: so it is a small one, and begun again."""


class Store:
    """An open journal database, held by an advisory lock against every other process that would append.

    `raw_since_ms`: the platform's lines are kept from then on, if they were not already; None: they are not.
    """

    def __init__(self, url: str, *, raw_since_ms: int | None = None) -> None:
        self._url, self._file = parse_url(url)
        self._place = str(self._file) if self._file else "in memory"
        if self._file:
            check_file(self._file)
        self._names = (str(self._file), f"{self._file}-wal") if self._file else ()
        self._lock = JournalLock(self._file) if self._file else None
        if self._file:
            take_up(self._file)
        self._compressor = zstandard.ZstdCompressor()
        self._swept: int | None = None
        self._hurried = False
        self._checking: sqlite3.Connection | None = None
        # The driver begins nothing behind our back (isolation_level None). IMMEDIATE: a transaction that will write
        # waits for its turn at once, and never fails half way.
        self._engine = sa.create_engine(
            self._url, poolclass=StaticPool, connect_args={"timeout": BUSY_TIMEOUT_S, "isolation_level": None}
        )
        sa.event.listen(self._engine, "connect", _tune)
        sa.event.listen(self._engine, "begin", self._begin)
        try:
            with self._transaction() as connection:
                self._uuid = self._prepare(connection)
                # Nobody else appends while we hold the lock, so the last number is read once.
                self._last = _last_seq(connection)
                if raw_since_ms is None:
                    connection.execute(sa.delete(schema.cursor).where(schema.cursor.c.name == marks.RAW_SINCE))
                else:
                    connection.exec_driver_sql(marks.BEGIN_WITH, (marks.RAW_SINCE, raw_since_ms))
                self._base = _driver(connection)
            self._identity = self._files()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _transaction(self, *, reading: bool = False) -> Iterator[sa.Connection]:
        with told(self._place), self._engine.connect() as plain:
            connection = plain.execution_options(reading=reading)
            with connection.begin():
                yield connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the driver itself: what SQLAlchemy would add takes half as long as the commit."""
        base = self._base
        self._take_turn(base)
        try:
            yield base
            base.execute("COMMIT")
        except BaseException:
            base.rollback()
            raise

    def _begin(self, connection: sa.Connection) -> None:
        if connection.get_execution_options().get("reading"):
            connection.exec_driver_sql("BEGIN")
        else:
            self._take_turn(_driver(connection))

    def _take_turn(self, base: sqlite3.Connection) -> None:
        """Begin to write, once no other program does."""
        patient_until_s = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                base.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                is_busy = getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")
                if not is_busy or self._hurried or time.monotonic() > patient_until_s:
                    raise

    def _prepare(self, connection: sa.Connection) -> str:
        """Create the tables in an empty database, else bring them up to date. Returns the journal's own id."""
        present = set(sa.inspect(connection).get_table_names())
        if not present:
            schema.create(connection, uuid.uuid4().hex)
            present = set(schema.tables.tables)
        meta = schema.read_meta(connection, present)
        if meta is None:
            raise JournalError(
                f"journal {self._place}: belongs to another program (tables: {', '.join(sorted(present)[:4])}); "
                "set journal.url to another file"
            )
        if meta["schema"] not in schema.KNOWN:
            raise JournalError(
                f"journal {self._place}: written by a newer version of this program (schema {meta['schema']}, "
                f"this one knows {schema.VERSION}); update the program, or set journal.url to another file"
            )
        if meta["schema"] != schema.VERSION:
            upgrade(connection, meta["schema"])
        # A write that changes nothing: a read-only file is told now and not at the first game.
        connection.execute(sa.update(schema.meta).values(value=schema.meta.c.value))
        return meta["journal"]

    def write(
        self, batch: Sequence[Sequence[Row]], cursors: Mapping[str, int], blocks: Sequence[Block], time_ms: int
    ) -> list[list[Entry]]:
        """Store everything in one transaction, or nothing; answers each member of the batch with its entries.

        A number counts as given once the transaction is through, so a batch that fails leaves no gap.
        """
        self._keep_in_place()
        with told(self._place), self._writing() as base:
            known = _known_keys(base, [row.draft.key for rows in batch for row in rows if row.draft.key is not None])
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
                    values.append(event_columns(stored[-1][-1], row))
            base.executemany(INSERT_EVENT, values)
            base.executemany(INSERT_RAW, [block_columns(block, self._last, self._compressor) for block in blocks])
            base.executemany(SET_CURSOR, cursors.items())
            if not values and not blocks and not cursors:
                base.execute(TOUCH)
        self._last = seq
        return stored

    def _entry(self, seq: int, time_ms: int, row: Row) -> Entry:
        # The data is read back from its text: a follower of today sees what a follower after a restart will see.
        draft = row.draft
        data = json.loads(row.data)
        return Entry(seq, f"{self._uuid}-{seq}", time_ms, draft.type, draft.subject, draft.account, data)

    def read(
        self, subject: str | None, types: Sequence[str], after: int, before: int | None, limit: int
    ) -> list[Entry]:
        """Entries in order of their numbers; one that is damaged is left out, and told in the log."""
        columns = schema.event.c
        query = sa.select(
            columns.seq, columns.id, columns.time_ms, columns.type, columns.subject, columns.account, columns.data
        )
        if subject is not None:
            query = query.where(columns.subject == subject)
        if types:
            query = query.where(columns.type.in_(types))
        if before is not None:
            query = query.where(columns.seq < before)
        found: list[Entry] = []
        while len(found) < limit:
            wanted = limit - len(found)
            with self._transaction(reading=True) as connection:
                rows = connection.execute(query.where(columns.seq > after).order_by(columns.seq).limit(wanted)).all()
            found += [entry for row in rows if (entry := _entry(*row)) is not None]
            if len(rows) < wanted:
                break
            after = rows[-1].seq
        return found

    def thoughts(self, subject: str) -> list[bytes]:
        """The lines of a game that our engines are the source of, in order."""
        columns = schema.raw.c
        query = sa.select(columns.data).where(columns.subject == subject, columns.source.startswith(ENGINE))
        with self._transaction(reading=True) as connection:
            blocks = connection.execute(query.order_by(columns.id)).scalars().all()
        try:
            return [line.text for data in blocks for line in unpack(data)]
        except ValueError as error:
            raise JournalError(f"journal {self._place}: game {subject}: {error}") from error

    def last_seq(self) -> int:
        """The greatest number, 0 at first."""
        return self._last

    def cursor(self, name: str) -> int:
        """A sink's stored cursor, 0 at first."""
        with self._transaction(reading=True) as connection:
            query = sa.select(schema.cursor.c.seq).where(schema.cursor.c.name == name)
            return int(connection.execute(query).scalar() or 0)

    def bury(self, sink: str, seq: int, cause: str, time_ms: int) -> None:
        """Keep what a sink could not be given."""
        values = {"sink": sink, "seq": seq, "cause": cause, "time_ms": time_ms}
        with self._transaction() as connection:
            connection.execute(sa.insert(schema.dead_letter).values(values))

    def sweep(self, *, before_ms: int, quiet_ms: int) -> bool:
        """A bounded piece of housekeeping among the raw lines; True while there is more to do.

        Lines older than `before_ms` go; blocks of a game whose lines are older than `quiet_ms` become one.
        """
        with self._transaction() as connection:
            connection.exec_driver_sql(marks.RAISE_KNOWN, (before_ms, marks.RAW_SINCE))
            if forget_some(connection, before_ms):
                return True
            if self._swept is None:
                self._swept = max(0, last_id(connection, quiet_ms) - LATEST)
            try:
                if merge_some(connection, self._swept, quiet_ms, self._compressor):
                    return True
            except ValueError as error:
                raise JournalError(f"journal {self._place}: {error}") from error
            self._swept = max(self._swept, last_id(connection, quiet_ms))
            return False

    def check(self) -> None:
        """Read the whole file, from any thread, past what is kept in memory. Raises JournalDamaged."""
        if self._file is None or not self._file.exists():
            return
        address = f"{self._file.absolute().as_uri()}?mode=ro"
        with told(self._place), closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as base:
            self._checking = base
            try:
                found = str(base.execute("PRAGMA quick_check(1)").fetchone()[0])
            finally:
                self._checking = None
        if found != "ok":
            raise JournalDamaged(f"journal {self._place}: {DAMAGED}")

    # -- the file under our feet ---------------------------------------------------------------------------------

    def _files(self) -> tuple[tuple[int, int] | None, ...]:
        """What the names of the file and its log lead to; None: to nothing."""
        return tuple(map(_inode, self._names))

    def _keep_in_place(self) -> None:
        """A deleted file goes on as bytes that only we can reach: then they are put back under their name."""
        found = self._files()
        if found == self._identity or self._file is None:
            return
        if found[0] not in (None, self._identity[0]):
            raise JournalError(
                f"journal {self._place}: another file lies there now; put the old one back, or start this program anew"
            )
        self._restore(self._file)

    def _restore(self, file: Path) -> None:
        check_file(file)
        copy = beside(file)
        with told(self._place):
            with self._engine.connect().execution_options(reading=True) as connection:
                save(_driver(connection), copy)
            try:
                for suffix in ("-wal", "-shm"):
                    file.with_name(file.name + suffix).unlink(missing_ok=True)
                copy.replace(file)
            except OSError as error:
                # We still hold the deleted file, and nothing of it is lost: it is put back with the next write.
                raise JournalError(f"journal {self._place}: cannot be put back: {error.strerror}") from error
            # Only now: this lets go of the last hold on the deleted file.
            self._engine.dispose()
            with self._transaction() as connection:
                self._base = _driver(connection)
        self._identity = self._files()
        if self._lock is not None:
            self._lock.release()
            self._lock = None
            self._lock = JournalLock(file)
        log.warning("journal_restored", journal=self._place, cause="its file was deleted while in use")

    def hurry(self) -> None:
        """Wait for no other program any more; from any thread."""
        self._hurried = True

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        if (checking := self._checking) is not None:
            with suppress(sqlite3.ProgrammingError):  # it has just ended
                checking.interrupt()
        self._engine.dispose()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _tune(connection: sqlite3.Connection, _record: object) -> None:
    """With a write-ahead log, NORMAL may lose the last commits to a power cut, but never to a killed process."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    # In KiB. By itself it takes minutes to come to twice as much, and what is written is seldom read.
    connection.execute("PRAGMA cache_size = -1000")
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * min(_BUSY_STEP_S, BUSY_TIMEOUT_S))}")


def _entry(seq: int, key: str, time_ms: int, kind: str, subject: str, account: str, text: str) -> Entry | None:
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        log.error(
            "entry_damaged", seq=seq, game=subject, cause="its data is no JSON object; `journal verify` tells more"
        )
        return None
    return Entry(seq, key, time_ms, kind, subject, account, data)


def _driver(connection: sa.Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection), "the driver is sqlite3"
    return driver


def _inode(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 before every transaction, where pathlib takes twice as long
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _last_seq(connection: sa.Connection) -> int:
    """The greatest number ever given: pruning may have taken the entry that bore it."""
    given = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'event'"
    return int(connection.exec_driver_sql(given).scalar() or 0)


def _known_keys(base: sqlite3.Connection, keys: Sequence[str]) -> set[str | None]:
    if not keys:
        return set()
    query = f"SELECT key FROM event WHERE key IN ({', '.join('?' * len(keys))})"
    return {key for (key,) in base.execute(query, keys)}
