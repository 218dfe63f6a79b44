"""The command line as a person uses it, from inside a test: output, errors and exit status."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner

from bridge.cli.main import main


@dataclass(frozen=True)
class Said:
    """What a command printed, and how it ended."""

    stdout: str
    stderr: str
    status: int


Say: TypeAlias = Callable[..., Said]
SayAsync: TypeAlias = Callable[..., Coroutine[None, None, Said]]


def _say(*args: str, stdin: str = "", **variables: str) -> Said:
    result = CliRunner().invoke(main, list(args), input=stdin, env={**variables, "PATH": os.environ["PATH"]})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Said(result.stdout, result.stderr, result.exit_code)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can look into; pytest's own are for one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def say() -> Say:
    """Run one command; keywords are added to the environment, `stdin` is typed."""
    return _say


@pytest.fixture
def say_async() -> SayAsync:
    """The same in a thread, while a server of the test runs."""

    async def say_in_thread(*args: str, stdin: str = "", **variables: str) -> Said:
        return await asyncio.to_thread(lambda: _say(*args, stdin=stdin, **variables))

    return say_in_thread
