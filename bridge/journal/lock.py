"""One daemon per journal: an advisory lock beside the file, which the kernel drops with the process."""

import fcntl
import os
from pathlib import Path

from bridge.errors import JournalError


class JournalLock:
    """Holds `<file>-lock` for as long as the journal is open.

    SQLite's own lock would shut out readers too (`sqlite3 journal.db`), and could not say who holds it. The file stays
    when the lock goes: removing it would let two processes hold one lock each.
    """

    def __init__(self, file: Path) -> None:
        self._path = file.with_name(file.name + "-lock")
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise JournalError(
                f"journal {file}: cannot create {self._path.name} beside it: {error.strerror}; "
                f"let this user write to {file.parent}, or set journal.url to a file elsewhere"
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(self._descriptor, 20).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise JournalError(
                f"journal {file}: in use by another kirichess-bridge (process {holder or 'unknown'}); "
                "stop that one, or give this one a journal.url of its own"
            ) from error
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let another process have the journal."""
        os.close(self._descriptor)
