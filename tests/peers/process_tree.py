"""Memory and processor time of a program and everything it started, engines left out, from /proc."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class ProcessTree:
    """Looks at it every so often; `engine` is a part of an engine's command line."""

    def __init__(self, root: int, engine: str) -> None:
        self._root = root
        self._engine = engine
        self._members = {root}
        self._engines: set[int] = set()
        self._used_ms: dict[int, float] = {}
        self._before: set[int] = set()
        self.peak_bytes = 0

    async def watch(self, every_s: float = 0.2) -> None:
        while True:
            self.look()
            await asyncio.sleep(every_s)

    @property
    def used_ms(self) -> float:
        """User and system time so far; what a process used after its last look is missing."""
        return sum(self._used_ms.values())

    def look(self) -> None:
        parents = dict(_parents())
        # Children of members are members; those whose parent has gone have been seen before.
        grown = True
        while grown:
            fresh = {pid for pid, parent in parents.items() if parent in self._members} - self._members
            self._members |= fresh
            grown = bool(fresh)
        # An engine is its parent's copy until it has become another program: asked anew each time.
        alive = self._members & parents.keys()
        for pid in alive - self._engines:
            if _is_engine(pid, self._engine):
                self._engines.add(pid)
                self._used_ms.pop(pid, None)
        ours = alive - self._engines
        size = {pid: self._look_at(pid) for pid in ours}
        # A process that has just been made may be its parent's copy, about to become an engine.
        self.peak_bytes = max(self.peak_bytes, sum(size[pid] for pid in ours & self._before))
        self._before = ours

    def _look_at(self, pid: int) -> int:
        with suppress(OSError):  # it ended meanwhile
            fields = _stat(pid)
            self._used_ms[pid] = (int(fields[11]) + int(fields[12])) * _TICK_MS
            return int(fields[21]) * _PAGE
        return 0


def _parents() -> list[tuple[int, int]]:
    found = []
    for folder in os.listdir("/proc"):  # noqa: PTH208 (the cheapest way, five times a second)
        if folder.isdigit():
            with suppress(OSError):  # it ended meanwhile
                found.append((int(folder), int(_stat(int(folder))[1])))
    return found


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from `state` on: the name before it may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()


def _is_engine(pid: int, engine: str) -> bool:
    with suppress(OSError):  # it ended meanwhile
        return engine in Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    return False
