"""What the tests of engines share: games to think about, limits, and a look at the processes around."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge.interfaces import Limit
from bridge.rules.events import Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup


def make_game(
    fen: str | None = None, moves: str = "", *, chess960: bool = False, pool: str = "anchor", game_id: str = "game0001"
) -> Ledger:
    """A ledger after `moves` (UCI, blanks between), each made without thinking."""
    ledger = Ledger(Setup(game_id, named(pool), "think", 0, start_fen=fen, chess960=chess960))
    for uci in moves.split():
        ledger.apply(Moved(uci, 0))
    return ledger


def make_limit(clock_ms: int = 2_000, deadline_ms: int = 5_000, *, nodes: int | None = None) -> Limit:
    """Both sides with the same clock and no increment."""
    return Limit(clock_ms, clock_ms, 0, 0, deadline_ms, nodes)


def _all_processes() -> list[str]:
    return [folder.name for folder in Path("/proc").iterdir() if folder.name.isdigit()]


def _stat(pid: str) -> list[str]:
    try:
        # The name in brackets may hold anything; what follows it may not.
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def list_children() -> list[int]:
    """The process ids of this process's children, dead ones that nobody has asked for included."""
    own = str(os.getpid())
    return [int(pid) for pid in _all_processes() if _stat(pid)[1:2] == [own]]


def list_running(marker: str) -> list[int]:
    """The living processes whose command line holds `marker`."""
    found = []
    for pid in _all_processes():
        try:
            line = Path("/proc", pid, "cmdline").read_bytes().decode("utf-8", "replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if marker in line and int(pid) != os.getpid() and _stat(pid)[:1] not in ([], ["Z"]):
            found.append(int(pid))
    return found


@pytest.fixture
def game() -> Callable[..., Ledger]:
    return make_game


@pytest.fixture
def limit() -> Callable[..., Limit]:
    return make_limit


@pytest.fixture
def children() -> Callable[[], list[int]]:
    return list_children


@pytest.fixture
def running() -> Callable[[str], list[int]]:
    return list_running
