"""A stream that is always there: opened again after whatever ends it (API §1.1, §1.3, §1.5).

A clean end, a reset, silence, 5xx and junk are one case. The first opening after a stream that brought anything comes
at once; openings that bring nothing are spaced out. A 429 is waited out.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from typing import Protocol, TypeVar

import structlog

from bridge.errors import PlatformError, RateLimited, Refused, Unreachable
from bridge.interfaces import Connected, Disconnected
from bridge.platforms.lichess.answers import Senseless
from bridge.platforms.lichess.client import Client
from bridge.platforms.lichess.outage import Openings
from bridge.platforms.lichess.patience import doubling, held_s
from bridge.platforms.lichess.shapes import WireError
from bridge.platforms.lichess.timings import Timings

T = TypeVar("T", covariant=True)

log = structlog.get_logger("kirichess_lichess")


class _Pace:
    """When to open next."""

    def __init__(self, timings: Timings) -> None:
        self._timings = timings
        self._waits: Iterator[float] | None = None
        self._doubts = doubling(*timings.backoff_s)
        self._opened_at = time.monotonic()
        self._reason = ""

    def opens(self) -> None:
        self._opened_at = time.monotonic()

    def lives(self) -> None:
        self._waits = None
        self._reason = ""

    def next_s(self) -> float:
        if self._waits is None:
            self._waits = doubling(*self._timings.backoff_s)
            spacing_s = self._timings.reopen_s * random.uniform(0.5, 1.0)
            return max(0.0, self._opened_at + spacing_s - time.monotonic())
        return next(self._waits)

    def doubtful_s(self) -> float:
        return next(self._doubts)

    def log(self, path: str, reason: str, wait_s: float) -> None:
        """Once for what goes on for the same reason; the tries after it are details."""
        tell = log.debug if reason == self._reason else log.info
        tell("stream_lost", stream=path, cause=reason, again_in_s=round(wait_s, 2))
        self._reason = reason


class Reader(Protocol[T]):
    """Makes messages of the lines of one stream, over all its connections."""

    def opened(self) -> None:
        """A new connection begins: the stream starts again from its first line."""
        ...

    def lives(self) -> None:
        """A line is about to be read, or a keep-alive came: nothing that was said before it is missing."""
        ...

    def read(self, line: bytes) -> Iterable[T]:
        """Raises WireError: skip this line. Senseless: open the stream again."""
        ...

    def ended(self) -> Iterable[T]:
        """The stream has ended cleanly."""
        ...


async def follow(
    client: Client,
    path: str,
    reader: Reader[T],
    *,
    silence_s: float,
    openings: Openings = Openings(),  # noqa: B008 it has no state
    body: Callable[[], str] | None = None,
) -> AsyncGenerator[T | Connected | Disconnected]:
    """What a stream says for ever, with Connected after each opening and Disconnected after each loss.

    Ends when the client is closed. `openings` says when the stream may be opened, and hears what became of it. `body`:
    what is posted to open it, if it is not simply got.

    Raises:
        Refused: 4xx; a 404 only after `believed_after` of them in a row.
    """
    pace = _Pace(client.timings)
    missing = 0
    with client.traffic.stream(path) as signs:
        while not client.closed:
            await openings.turn()
            pace.opens()
            lost: PlatformError | None = None
            rest: Callable[[float], Awaitable[None]] = asyncio.sleep
            try:
                async with client.lines(path, silence_s=silence_s, body=None if body is None else body()) as lines:
                    missing = 0
                    reader.opened()
                    openings.opened(silence_s)
                    signs.opened()
                    yield Connected()
                    async for line in lines:
                        pace.lives()
                        reader.lives()
                        signs.lives()
                        openings.opened(silence_s)
                        for message in _read(reader, line, path):
                            yield message
                for message in reader.ended():
                    yield message
                reason, wait_s = "the stream ended", pace.next_s()
            except RateLimited as error:
                client.traffic.limited["stream"] += 1
                lost, reason, wait_s = error, str(error), held_s(error, client.timings)
            except Senseless as error:
                lost, reason, wait_s = error, str(error), pace.doubtful_s()
            except Unreachable as error:
                lost, reason, wait_s, rest = error, str(error), pace.next_s(), openings.rest
            except Refused as error:
                missing += error.status == 404
                if error.status != 404 or missing >= client.timings.believed_after:
                    raise
                lost, reason, wait_s = error, str(error), pace.next_s()
            if not client.closed:
                openings.lost(lost, wait_s)
                pace.log(path, reason, wait_s)
                yield Disconnected(reason)
                await rest(wait_s)


def _read(reader: Reader[T], line: bytes, path: str) -> Iterable[T]:
    if not line.strip():
        return ()  # a keep-alive
    try:
        return reader.read(line)
    except WireError as error:
        log.warning("line_skipped", stream=path, cause=str(error))
        return ()
