"""Blocking look-ups beside the event loop: a disk that hangs holds up nothing, not even the end of the program."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Aside:
    """Runs one look-up at a time; while one of them hangs, nothing more is looked up."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._turn = asyncio.Lock()
        self._busy = threading.Lock()

    async def run(self, look: Callable[[], T]) -> T | None:
        """What `look` returns or raises, each in its turn; None where an earlier one was given up and still runs."""
        async with self._turn:
            return await self._run(look)

    async def _run(self, look: Callable[[], T]) -> T | None:
        if not self._busy.acquire(blocking=False):
            return None
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T | None] = loop.create_future()
        # A daemon thread, not one of a pool: the interpreter waits for those when it ends.
        threading.Thread(target=self._work, args=(look, loop, answer), name=self._name, daemon=True).start()
        return await answer

    def _work(self, look: Callable[[], T], loop: asyncio.AbstractEventLoop, answer: "asyncio.Future[T | None]") -> None:
        found: T | None
        error: Exception | None
        try:
            found, error = look(), None
        except Exception as raised:  # noqa: BLE001 it is raised again where it was asked for
            found, error = None, raised
        self._busy.release()

        def tell() -> None:
            if not answer.done():
                answer.set_result(found) if error is None else answer.set_exception(error)

        # The loop has ended: nobody waits for it any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(tell)
