"""Checks of this machine: who can read the secrets, the monitor's port, the journal, the folder for games."""

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
from bridge.settings.models import MonitorSettings, Settings
from bridge.settings.resolve import open_to_all, secret_files

_SQLITE = b"SQLite format 3\0"
"""How every database file begins (https://sqlite.org/fileformat2.html)."""

JOURNAL = "journal"
MONITOR = "monitor"


def examine_secrets(settings: Settings, config: str) -> Iterator[Finding]:
    """The files with secrets that others can read."""
    for _, file in secret_files(settings, Path(config).absolute().parent):
        if open_to_all(file):
            text = f"every user of this machine can read {file}"
            yield wrong("secrets", text, f"chmod 600 {_quoted(file)}")


def examine_monitor(monitor: MonitorSettings, config: str, running: int | None = None) -> Finding:
    """Whether its address and port can be had now; `running`: the process that has this configuration already."""
    family = socket.AF_INET6 if ":" in monitor.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((monitor.host, monitor.port))
        except OSError as error:
            if running is not None and error.errno == errno.EADDRINUSE:
                return Finding(MONITOR, f"{monitor.listen} is served by the bridge that runs (process {running})")
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


async def examine_journal(url: str, config: str, running: int | None = None) -> Finding:
    """Whether it opens, and can be written. A journal that is not there yet is not left behind."""
    file = Path(url.removeprefix("sqlite:///"))
    if running is not None:
        return Finding(JOURNAL, f"{file} is written by the bridge that runs (process {running})")
    with _as_it_was(file):
        cure = f"kirichess-bridge status -c {config}; ls -ld {_quoted(file.parent, file)}"
        return _obstacle(file) or await told(JOURNAL, _open_journal(url, file), cure)


def _obstacle(file: Path) -> Finding | None:
    if file.is_dir():
        cure = f"journal: {{url: 'sqlite:///{file / 'journal.db'}'}}"
        return wrong(JOURNAL, f"{file} is a folder; set journal.url to a file in it", cure)
    if obstacle := _unwritable(JOURNAL, file.parent, f"journal: {{url: 'sqlite:///{Path.home() / 'journal.db'}'}}"):
        return obstacle
    if not file.parent.exists():
        return wrong(JOURNAL, f"its folder {file.parent} does not exist", f"mkdir -p {_quoted(file.parent)}")
    if not file.exists():
        return None
    if not _is_writable(file):
        return wrong(JOURNAL, f"{file} is read-only", _make_writable(file))
    with file.open("rb") as start:
        head = start.read(len(_SQLITE))
    if head not in (_SQLITE, b""):
        text = f"{file} is no SQLite database, so no journal; move it away, or set journal.url to another file"
        return wrong(JOURNAL, text, f"mv {_quoted(file, file.with_name(file.name + '.old'))}")
    return None


def _unwritable(subject: str, folder: Path, elsewhere: str) -> Finding | None:
    """Why nothing can be written in a folder, or the folder not be made; `elsewhere`: what to write in the file."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not there.is_dir():
        return wrong(subject, f"{there} is a file, not a folder: choose another place", elsewhere)
    if _on_read_only_disk(there):
        return wrong(subject, f"{there} lies where nothing can be written: choose another place", elsewhere)
    if not _is_writable(there):
        text = f"{there} is read-only" + (f", so {folder} cannot be made" if there != folder else "")
        return wrong(subject, text, _make_writable(there))
    return None


def _on_read_only_disk(folder: Path) -> bool:
    kernel = any(folder.is_relative_to(place) for place in ("/proc", "/sys"))
    return kernel or bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _make_writable(path: Path) -> str:
    """Its owner may change its mode; anybody else must be given it."""
    if path.stat().st_uid == os.geteuid():
        return f"chmod u+w {_quoted(path)}"
    return f"sudo chown $(id -u) {_quoted(path)}"


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


def examine_folder(key: str, folder: Path, usual: str) -> Finding:
    """Whether files of games can be written there; it is created when the first one is. `usual`: the folder's name."""
    elsewhere = f"{key}: {{folder: '{Path.home() / usual}'}}"
    return _unwritable(key, folder, elsewhere) or Finding(key, f"games go to {folder}")


def _quoted(*paths: Path) -> str:
    return shlex.join(map(str, paths))
