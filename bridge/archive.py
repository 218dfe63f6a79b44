"""Asking the platform's archive about a game that is over: it can lag behind the stream, fail, or tell us to wait."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import structlog

from bridge.errors import PlatformError, RateLimited

T = TypeVar("T")

log = structlog.get_logger("kirichess_archive")

_PATIENCE_S = 240.0
"""From the first try to the last; less than `journal verify` allows a final verdict to take."""


async def from_archive(ask: Callable[[], Awaitable[T]], pauses_s: Sequence[float]) -> T | None:
    """What the archive answers; None: it did not, in as many tries as there are pauses before them.

    A 429 is waited out for the figure it gave. What `ask` raises beside PlatformError is raised.
    """
    loop = asyncio.get_running_loop()
    began_s, held_s = loop.time(), 0.0
    for pause_s in pauses_s:
        wait_s = max(pause_s, held_s)
        if loop.time() + wait_s - began_s > _PATIENCE_S:
            break
        await asyncio.sleep(wait_s)
        try:
            return await ask()
        except PlatformError as error:
            held_s = (error.retry_after_s or 0.0) if isinstance(error, RateLimited) else 0.0
            log.info("archive_not_ready", cause=str(error))
    return None
