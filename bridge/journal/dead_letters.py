"""Entries that a sink could not be given: listed and taken off the list beside the running program."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.interfaces import Entry
from bridge.journal.faults import told
from bridge.journal.reader import JournalReader, writing


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """`id` numbers it; `entry` is what was to be delivered, None once pruned; `time_ms` when it was given up."""

    id: int
    sink: str
    seq: int
    time_ms: int
    cause: str
    entry: Entry | None


def dead_letters(reader: JournalReader) -> list[DeadLetter]:
    """All of them, the oldest first. Raises JournalError."""
    rows = reader.rows("dead_letter", "SELECT id, sink, seq, time_ms, cause FROM dead_letter ORDER BY id")
    return [
        DeadLetter(number, sink, seq, time_ms, cause, reader.entry(seq)) for number, sink, seq, time_ms, cause in rows
    ]


def forget(file: Path, letters: Sequence[DeadLetter]) -> None:
    """Take them off the list. Raises JournalError, UsageError."""
    with told(str(file)), writing(file) as connection:
        _delete(connection, [letter.id for letter in letters])


def _delete(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("DELETE FROM dead_letter WHERE id = ?", [(each,) for each in ids])
    connection.execute("COMMIT")
