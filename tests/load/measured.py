"""A daemon in a process of its own, and what it takes: processor time and resident memory, read from /proc."""

import asyncio
import os
import signal
import sqlite3
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import yaml

_TICKS_A_S = os.sysconf("SC_CLK_TCK")
_STOP_S = 60


@dataclass(frozen=True, slots=True)
class Sample:
    """What the process has taken so far, `at_s` of a steady clock."""

    at_s: float
    cpu_s: float
    resident_mib: float


def usage(pid: int) -> Sample:
    """Of a running process, all its threads together."""
    place = Path(f"/proc/{pid}")
    fields = (place / "stat").read_text().rpartition(")")[2].split()
    cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS_A_S
    resident = [line for line in (place / "status").read_text().splitlines() if line.startswith("VmRSS")]
    if not resident:
        raise ProcessLookupError(f"process {pid} has ended")
    return Sample(time.monotonic(), cpu_s, int(resident[0].split()[1]) / 1024)


class MeasuredDaemon:
    """`kirichess-bridge run` with a configuration and a journal in `folder`."""

    def __init__(self, folder: Path, config: Mapping[str, object]) -> None:
        self.samples: list[Sample] = []
        self._folder = folder
        self._config = {"journal": {"url": "sqlite:///journal.db"}, "monitor": {"listen": "127.0.0.1:0"}, **config}
        self._process: asyncio.subprocess.Process | None = None

    @property
    def log(self) -> str:
        """What it wrote to stderr."""
        return (self._folder / "log").read_text(errors="replace")

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        file = self._folder / "config.yml"
        file.write_text(yaml.safe_dump(self._config))
        with (self._folder / "log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *_command(), "run", "-c", str(file), stdout=asyncio.subprocess.DEVNULL, stderr=log
            )

    def sample(self) -> Sample:
        assert self._process is not None, "it has not been started"
        found = usage(self._process.pid)
        self.samples.append(found)
        return found

    async def watch(self, every_s: float = 1.0) -> None:
        """Sample for as long as it runs."""
        while self.is_running:
            # It may end at any moment.
            with suppress(ProcessLookupError, FileNotFoundError):
                self.sample()
            await asyncio.sleep(every_s)

    async def stop(self) -> int:
        """Ask it to end; its exit status."""
        assert self._process is not None, "it has not been started"
        if self.is_running:
            self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_S):
                return await self._process.wait()
        except TimeoutError:
            self._process.kill()
            return await self._process.wait()

    async def until_event(self, name: str, patience_s: float = 60) -> None:
        """Wait until its journal has such an event."""
        async with asyncio.timeout(patience_s):
            while not self._has(name):
                assert self.is_running, self.log
                await asyncio.sleep(0.2)

    def _has(self, name: str) -> bool:
        try:
            return bool(self.rows(f"SELECT 1 FROM event WHERE type = 'kirichess.{name}' LIMIT 1"))
        except sqlite3.OperationalError:
            return False  # it is not that far yet: there is no file, or no table in it

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """From its journal, while it runs or after."""
        with closing(sqlite3.connect(f"file:{self._folder / 'journal.db'}?mode=ro", uri=True)) as journal:
            return journal.execute(query).fetchall()

    def judged(self) -> set[str]:
        """The games that have their final verdict."""
        return {str(game) for (game,) in self.rows("SELECT subject FROM event WHERE type = 'kirichess.verdict.final'")}

    def plies(self) -> dict[str, int]:
        """How many plies of each game are stored."""
        query = "SELECT subject, count(*) FROM event WHERE type = 'kirichess.game.ply' GROUP BY subject"
        return {str(game): int(str(count)) for game, count in self.rows(query)}


def _command() -> list[str]:
    installed = Path(sys.executable).with_name("kirichess-bridge")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "bridge.cli.main"]


def drift(samples: Sequence[Sample], after_s: float) -> tuple[float, float, float]:
    """Memory once it should be flat: its median in MiB over the minute after `after_s`, and how far it went below and
    above that afterwards, as shares of it."""
    begin_s = samples[0].at_s + after_s
    settled = [sample for sample in samples if sample.at_s >= begin_s] or list(samples[-1:])
    level = statistics.median(sample.resident_mib for sample in settled if sample.at_s < settled[0].at_s + 60)
    found = [sample.resident_mib / level - 1 for sample in settled]
    return level, min(found), max(found)


def percentile(values: Sequence[float], share: float) -> float:
    """0 for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def table(rows: Sequence[tuple[str, str, str]]) -> str:
    """Measure, value and bound, in columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def machine() -> str:
    """What else the machine has to do."""
    one, five, fifteen = os.getloadavg()
    return f"{os.cpu_count()} cores, load average {one:.1f} {five:.1f} {fifteen:.1f}, CPython {sys.version.split()[0]}"
