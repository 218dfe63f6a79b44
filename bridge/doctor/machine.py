"""Checks of this machine: the monitor's port, the journal, the folder for games."""

import errno
import os
import shlex
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bridge.doctor.finding import Finding, told, wrong
from bridge.journal import SqlJournal
from bridge.settings.models import MonitorSettings

JOURNAL = "journal"
MONITOR = "monitor"


def examine_monitor(monitor: MonitorSettings, config: str) -> Finding:
    """Whether its address and port can be had now."""
    family = socket.AF_INET6 if ":" in monitor.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((monitor.host, monitor.port))
        except OSError as error:
            return _no_port(monitor, config, error)
    return Finding(MONITOR, f"{monitor.listen} is free")


def _no_port(monitor: MonitorSettings, config: str, error: OSError) -> Finding:
    if error.errno == errno.EADDRINUSE:
        text = f"port {monitor.port} is taken, by a bridge that runs already or by another program"
        cure = f"kirichess-bridge status -c {config}; ss -ltnp 'sport = :{monitor.port}'"
        return wrong(MONITOR, f"{text}; stop it or change monitor.listen", cure)
    if error.errno == errno.EACCES:
        return wrong(MONITOR, f"port {monitor.port} is only for root: take one from 1024 on in monitor.listen")
    return wrong(MONITOR, f"cannot listen on {monitor.listen}: {error.strerror or error}", "ip -brief address")


async def examine_journal(url: str, config: str) -> Finding:
    """Whether it opens, and can be written. A journal that is not there yet is not left behind."""
    file = Path(url.removeprefix("sqlite:///"))
    with _as_it_was(file):
        cure = f"kirichess-bridge status -c {config}; ls -ld {_quoted(file.parent, file)}"
        return _obstacle(file) or await told(JOURNAL, _open_journal(url, file), cure)


def _obstacle(file: Path) -> Finding | None:
    marked = [path for path in (file, file.parent) if path.exists() and not _is_writable(path)]
    if marked:
        return wrong(JOURNAL, f"{marked[0]} is read-only", f"chmod u+w {_quoted(*marked)}")
    if not file.parent.exists():
        return wrong(JOURNAL, f"its folder {file.parent} does not exist", f"mkdir -p {_quoted(file.parent)}")
    return None


def _is_writable(path: Path) -> bool:
    """For root a mark of the owner's counts too: the service that uses the file later is another user."""
    return os.access(path, os.W_OK) and bool(path.stat().st_mode & stat.S_IWUSR)


@contextmanager
def _as_it_was(file: Path) -> Iterator[None]:
    beside = [file.with_name(file.name + suffix) for suffix in ("", "-lock", "-wal", "-shm", "-journal")]
    made = [] if file.exists() else [path for path in beside if not path.exists()]
    try:
        yield
    finally:
        for path in made:
            if path.exists():
                path.unlink()


async def _open_journal(url: str, file: Path) -> Finding:
    async with SqlJournal(url) as journal:
        events = await journal.last_seq()
    return Finding(JOURNAL, f"{file} can be written" + (f"; events so far: {events}" if events else ""))


def examine_folder(folder: Path) -> Finding:
    """Whether games can be written there; it is created when the first one is."""
    subject = "pgn"
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not there.is_dir():
        return wrong(subject, f"{there} is a file, not a folder: change pgn.folder", f"ls -ld {_quoted(there)}")
    if not _is_writable(there):
        return wrong(subject, f"{there} is read-only", f"chmod u+w {_quoted(there)}")
    return Finding(subject, f"games go to {folder}")


def _quoted(*paths: Path) -> str:
    return shlex.join(map(str, paths))
