"""What a database error means to the person who owns the file: cause and cure."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from bridge.errors import JournalDamaged, JournalError

DAMAGED = "is damaged; move it away to start anew, or save what is left: sqlite3 FILE .recover"

# The extended result codes of https://sqlite.org/rescode.html begin with their primary one.
_CAUSES = (
    ("SQLITE_READONLY", "is read-only; let this user write to the file and its folder, or set journal.url elsewhere"),
    ("SQLITE_CANTOPEN", "cannot be opened; let this user read and write the file and its folder"),
    ("SQLITE_PERM", "cannot be opened; let this user read and write the file and its folder"),
    ("SQLITE_BUSY", "is locked by another program; close whatever has it open for writing"),
    ("SQLITE_LOCKED", "is locked by another program; close whatever has it open for writing"),
    ("SQLITE_FULL", "cannot grow: the disk is full; free some space, or set journal.url to another disk"),
    ("SQLITE_IOERR", "cannot be read or written; look for a full or failing disk, or a quota (df, dmesg)"),
    ("SQLITE_NOTADB", "is no SQLite database, so no journal; move it away, or set journal.url to another file"),
    ("SQLITE_CORRUPT", DAMAGED),
)


def explain(error: Exception) -> str:
    """Cause and cure, to follow the journal's name."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code: str = getattr(cause, "sqlite_errorname", "SQLITE_CORRUPT" if is_damage(error) else "")
    return next((text for prefix, text in _CAUSES if code.startswith(prefix)), f"failed: {cause}")


def is_damage(error: Exception) -> bool:
    """Whether an entry cannot be read. What is no text in its column, the driver says without a code."""
    return _is_damaged(error) or "Could not decode" in str(error)


def _is_damaged(error: Exception) -> bool:
    """Whether the file is no sound database. A name in it that is no text, the driver does not take for an error."""
    if isinstance(error, UnicodeDecodeError):
        return True
    code: str = getattr(error.orig if isinstance(error, DBAPIError) else error, "sqlite_errorname", "")
    return code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


@contextmanager
def told(place: str) -> Iterator[None]:
    """Turns database errors into a JournalError that names `place`; into JournalDamaged where the file is."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:
        kind = JournalDamaged if _is_damaged(error) else JournalError
        raise kind(f"journal {place}: {explain(error)}") from error
