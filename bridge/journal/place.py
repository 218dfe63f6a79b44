"""Where a journal is: its address, checked, and the file behind it."""

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from bridge.errors import JournalError, UsageError


def parse_url(url: str) -> tuple[sa.URL, Path | None]:
    """A journal's address and its file, None for one in memory (`sqlite://`). Raises UsageError."""
    try:
        parsed = sa.make_url(url)
    except ArgumentError as error:
        raise UsageError(f"journal.url is not an address: {url!r}; write sqlite:///journal.db") from error
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise UsageError(f"journal.url: {parsed.drivername} is not supported; write sqlite:///journal.db")
    if parsed.database in (None, "", ":memory:"):
        return parsed, None
    return parsed, Path(str(parsed.database))


def beside(url: str, name: str) -> Path | None:
    """A file or folder beside a journal's file; None for a journal in memory. Raises UsageError."""
    _, file = parse_url(url)
    return None if file is None else file.parent / name


def check_file(file: Path) -> None:
    """What SQLite would call "unable to open database file", told apart. Raises JournalError."""
    if file.is_dir():
        raise JournalError(f"journal {file}: is a folder; set journal.url to a file in it")
    if not file.parent.is_dir():
        raise JournalError(f"journal {file}: its folder does not exist; create it: mkdir -p {file.parent}")
