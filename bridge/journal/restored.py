"""A journal's file that was deleted while in use is put back from `FILE-restored`; a killed process may leave that."""

import sqlite3
from contextlib import closing
from pathlib import Path

import structlog

log = structlog.get_logger("kirichess_journal")

_EMPTY = ("", 0)
"""No file, or one without tables: all that it had may have stood in its log."""


def beside(file: Path) -> Path:
    """Where the copy is written."""
    return file.with_name(f"{file.name}-restored")


def take_up(file: Path) -> None:
    """Finish what a killed process began: the copy takes the place of a file that is gone, or has less.

    A copy that was not begun with, or has nothing more, goes. One that is damaged or of another journal stays, and is
    told.
    """
    copy = beside(file)
    if not copy.is_file():
        return
    ours, theirs = _newest(copy), _newest(file)
    if ours == _EMPTY or (ours is not None and theirs is not None and theirs[0] == ours[0] and theirs[1] >= ours[1]):
        copy.unlink()
        log.info("journal_copy_removed", file=str(copy), cause="the journal has all that is in it")
        return
    if ours is None or theirs is None or theirs[0] not in ("", ours[0]):
        cause = "it or the journal is damaged, or they are not the same; look with `journal games`, then move it away"
        log.warning("journal_copy_left", file=str(copy), cause=cause)
        return
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    copy.replace(file)
    log.warning("journal_restored", journal=str(file), cause="a process that put it back was killed meanwhile")


def _newest(file: Path) -> tuple[str, int] | None:
    """Which journal a file is, and the greatest number it has given; None where it cannot be read as one."""
    if not file.is_file():
        return _EMPTY
    try:
        with closing(sqlite3.connect(file)) as base:
            if base.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return None
            if not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return _EMPTY
            [(journal,)] = base.execute("SELECT value FROM meta WHERE name = 'journal'")
            [(last,)] = base.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'event'")
    except (sqlite3.Error, ValueError):
        return None
    return str(journal), int(last or 0)
