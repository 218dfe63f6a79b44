"""The first request to a server: whether there is one, and whether it will do."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential_jitter

from bridge.errors import RateLimited, ServerError, Unreachable

T = TypeVar("T")

log = structlog.get_logger("kirichess_daemon")

_LONGEST_PAUSE_S = 30.0
_RATE_LIMIT_S = 60.0
"""After a 429 without a figure (Lichess API, limits)."""
_doubling = wait_exponential_jitter(initial=1, max=_LONGEST_PAUSE_S, jitter=0.5)


async def first_answer(url: str, ask: Callable[[], Awaitable[T]]) -> T:
    """The first answer of a server. Where something answers that it cannot (5xx, 429), it is waited for, as later.

    Raises:
        Refused: it answers, and refuses this token.
        Unreachable: nothing answers: the address may be wrong, which whoever has just typed it should hear.
    """
    retrying = AsyncRetrying(
        retry=retry_if_exception_type((ServerError, RateLimited)), wait=_wait_s, before_sleep=_told, reraise=True
    )
    try:
        answer: T = await retrying(ask)
        return answer
    except Unreachable as error:
        raise Unreachable(f"{url} does not answer; is the address right? ({error})") from None


def _wait_s(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    if isinstance(error, RateLimited):
        return _RATE_LIMIT_S if error.retry_after_s is None else error.retry_after_s
    return _doubling(state)


def _told(state: RetryCallState) -> None:
    assert state.outcome is not None and state.next_action is not None, "it has been tried and is tried again"
    cause = str(state.outcome.exception())
    log.warning("not_started_yet", cause=cause, again_in_s=round(state.next_action.sleep, 1))
