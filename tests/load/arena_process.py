"""An arena in a process of its own, asked over a pipe."""

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")


class ArenaProcess:
    """`serve` runs in the process; it answers every question but `leave`, which ends it."""

    def __init__(self, serve: Callable[..., None], *arguments: object) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._ours, theirs = spawning.Pipe()
        self._process = spawning.Process(target=serve, args=(theirs, *arguments), daemon=True)
        self._process.start()

    async def ask(self, question: str, kind: type[T]) -> T:
        answer = await asyncio.to_thread(_ask, self._ours, question)
        assert isinstance(answer, kind)
        return answer

    def close(self) -> None:
        self._ours.send("leave")
        self._process.join(5)


def _ask(connection: Connection, question: str) -> object:
    connection.send(question)
    return connection.recv()
