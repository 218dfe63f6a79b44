"""A daemon with its accounts on an arena, and the commands as a user types them."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest

from bridge.arena import Account, Arena, ArenaSettings
from bridge.daemon import Daemon
from bridge.event_types import VERDICT_FINAL
from bridge.interfaces import Entry
from bridge.platforms.lichess.timings import Timings
from bridge.settings.models import Settings

Config: TypeAlias = Mapping[str, object]


@dataclass
class Recorder:
    """A sink that keeps what it is given; `final` waits for the next final verdict."""

    name: str = "recorder"
    entries: list[Entry] = field(default_factory=list)
    finals: asyncio.Queue[Entry] = field(default_factory=asyncio.Queue)

    async def write(self, entry: Entry) -> None:
        self.entries.append(entry)
        if entry.type == VERDICT_FINAL:
            self.finals.put_nowait(entry)

    async def close(self) -> None:
        pass

    async def final(self, timeout_s: float = 250) -> dict[str, object]:
        async with asyncio.timeout(timeout_s):
            entry = await self.finals.get()
        verdict = entry.data["verdict"]
        assert isinstance(verdict, dict)
        return verdict

    def of(self, kind: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.type == kind]


@dataclass
class Bridge:
    """A running daemon; `work` is its task."""

    daemon: Daemon
    recorder: Recorder
    work: "asyncio.Task[None]"


RunBridge: TypeAlias = Callable[..., AbstractAsyncContextManager[Bridge]]
RunCommand: TypeAlias = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
async def arena() -> AsyncIterator[Arena]:
    bots = [Account(name, f"token{name}", title="BOT") for name in ("Fish", "Kiri")]
    settings = ArenaSettings(board_min_speed="bullet")  # Winder is one minute
    async with Arena([*bots, Account("Human", "tokenHuman")], settings) as running:
        yield running


@pytest.fixture
def run_bridge() -> RunBridge:
    @asynccontextmanager
    async def run(
        config: Config, *, think_cap_ms: int | None = 60, kill: bool = False, poll_s: float = 5.0, gather_s: float = 0.3
    ) -> AsyncIterator[Bridge]:
        recorder = Recorder()
        settings, timings = Settings.model_validate(config), Timings(poll_s=poll_s, gather_s=gather_s)
        daemon = Daemon(settings, sinks=[recorder], think_cap_ms=think_cap_ms, timings=timings)
        work = asyncio.create_task(daemon.run())
        ready = asyncio.create_task(daemon.ready.wait())
        await asyncio.wait({work, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if work.done():
            work.result()
        try:
            yield Bridge(daemon, recorder, work)
        finally:
            daemon.drain()
            if kill:
                work.cancel()
            await asyncio.wait({work}, timeout=20)
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    return run


@pytest.fixture
def run_command() -> RunCommand:
    async def run(*arguments: str, cwd: Path | None = None) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bridge.cli.main",
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
        )
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    return run


def account(arena: Arena, name: str, engine: str, **play: object) -> Config:
    """One account of a configuration."""
    settings = {"engine": engine, "move_overhead": 20, "concurrency": 8, **play}
    return {"platform": "lichess", "url": arena.url, "token": f"token{name}", "play": settings}


@pytest.fixture
def bot(arena: Arena) -> Callable[..., Config]:
    def make(name: str, engine: str, **play: object) -> Config:
        return account(arena, name, engine, **play)

    return make


def verdicts(text: str) -> Sequence[dict[str, object]]:
    """The verdicts of `--format jsonl`."""
    return [json.loads(line) for line in text.splitlines()]
