"""A whole and consistent copy of an open database, by SQLite's online backup (https://sqlite.org/backup.html)."""

import sqlite3
from contextlib import closing
from pathlib import Path


def save(source: sqlite3.Connection, copy: Path) -> None:
    """Write the copy as one file, with no log beside it; what lies at `copy` is overwritten.

    In one step, which sees one moment of a database that others write to meanwhile and holds nobody up.

    Raises:
        sqlite3.Error: and no `copy` is left.
    """
    copy.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
