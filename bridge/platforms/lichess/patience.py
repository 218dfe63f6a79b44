"""How long to wait before asking again (API §1.1, §4)."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import structlog

from bridge.errors import RateLimited, Refused, Unreachable
from bridge.platforms.lichess.timings import Timings

T = TypeVar("T")

log = structlog.get_logger("kirichess_lichess")


def doubling(first_s: float, most_s: float) -> Iterator[float]:
    """Waits that double up to `most_s`, each shortened by up to a half, so that many clients do not come at once."""
    wait_s = first_s
    while True:
        yield wait_s * random.uniform(0.5, 1.0)
        wait_s = min(most_s, 2 * wait_s)


def held_s(error: RateLimited, timings: Timings) -> float:
    """How long a 429 holds: the figure it gave and a little more, else a minute."""
    wait_s = timings.rate_limit_s if error.retry_after_s is None else error.retry_after_s
    return wait_s * random.uniform(1.0, 1.05)


async def until_answered(ask: Callable[[], Awaitable[T]], timings: Timings, gives_up: Callable[[], bool]) -> T:
    """The answer to a question that may be asked as often as it takes.

    Raises:
        Refused: 4xx; a 404 only after `believed_after` of them.
        Unreachable: and `gives_up` says so.
    """
    waits, missing = doubling(*timings.backoff_s), 0
    while True:
        try:
            return await ask()
        except RateLimited as error:
            wait_s, cause = held_s(error, timings), str(error)
        except Unreachable as error:
            if gives_up():
                raise
            wait_s, cause = next(waits), str(error)
        except Refused as error:
            missing += error.status == 404
            if error.status != 404 or missing >= timings.believed_after:
                raise
            # A proxy may have said it: nothing to worry about yet, and if it stays so the caller is told.
            wait_s = next(waits)
            log.info("not_there_it_says", cause=str(error), again_in_s=round(wait_s, 2))
            await asyncio.sleep(wait_s)
            continue
        log.warning("no_answer_yet", cause=cause, again_in_s=round(wait_s, 2))
        await asyncio.sleep(wait_s)
