"""Tasks that end together: what a game or an account has going on beside the stream it reads."""

import asyncio
import contextvars
from collections.abc import Coroutine
from contextlib import suppress

import structlog

from bridge.errors import BridgeError

log = structlog.get_logger("kirichess_tasks")


class Tasks:
    """A set of tasks. One that fails is told and leaves the others alone; `end` cancels the rest and waits for it.

    They log in the name of whoever made the set (a game, say), not of whoever happens to start one.
    """

    def __init__(self) -> None:
        self._context = contextvars.copy_context()
        self._running: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run it beside the caller."""
        task = asyncio.create_task(work, context=self._context.copy())
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if task.cancelled():
            # It keeps the error that ended it until somebody asks, and with that all that it worked on.
            with suppress(asyncio.CancelledError):
                task.result()
        elif (error := task.exception()) is not None:
            # An error of ours says what is wrong; any other one is a fault to be mended, and told with its trace.
            trace = None if isinstance(error, BridgeError) else error
            log.error("task_failed", cause=str(error) or type(error).__name__, exc_info=trace)

    async def end(self) -> None:
        """Cancel all of them and wait until they have ended."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
