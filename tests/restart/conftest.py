"""The program itself in a process of its own, on an arena."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from bridge.arena import Account, Arena, ArenaSettings, RequestLine

Program: TypeAlias = asyncio.subprocess.Process
RunProgram: TypeAlias = Callable[..., AbstractAsyncContextManager[Program]]


@pytest.fixture
def requests() -> list[RequestLine]:
    return []


@pytest.fixture
async def arena(requests: list[RequestLine]) -> AsyncIterator[Arena]:
    accounts = [Account("Kiri", "tokenKiri", title="BOT"), Account("Human", "tokenHuman")]
    async with Arena(accounts, ArenaSettings(keep_alive_s=0.5), request_log=requests) as running:
        yield running


async def until(so: Callable[[], object], what: str, patience_s: float = 15.0) -> None:
    """Wait until something is so."""
    try:
        async with asyncio.timeout(patience_s):
            while not so():
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not within {patience_s} s: {what}") from None


@pytest.fixture
def run_program(arena: Arena, tmp_path: Path) -> RunProgram:
    """`async with run_program(variables={…}, drain_s=…) as process`: settings are keys of the file."""

    @asynccontextmanager
    async def run(variables: dict[str, str] | None = None, **settings: Any) -> AsyncIterator[Program]:
        play = {"engine": "main", "pool": "anchor", "greeting": False, "concurrency": 8}
        account = {"platform": "lichess", "url": arena.url, "token": "tokenKiri", "play": play}
        config = {
            "accounts": [account],
            "engines": {"main": {"kind": "random"}},
            "journal": {"url": "sqlite:///journal.db"},
            **settings,
        }
        file = tmp_path / "config.yml"
        file.write_text(yaml.safe_dump(config))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bridge.cli.main", "run", "-c", str(file)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **(variables or {})},
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()

    return run


@pytest.fixture
def wait_until() -> Callable[..., Any]:
    """`await wait_until(so, what)`."""
    return until
