"""Actions that are owed: sent until accepted, or until they no longer make sense (API §1.4, §4).

What the platform answers is no proof. After an answer that did not come, the request may have taken effect; the game's
stream tells, and only a request that still fits what it last said is sent again. So a move is never played twice and
never late in another position. While the stream makes no sense nothing is sent at all. One that fell silent may be far
behind; most moves are refused by then, since their piece has left its square. Those that may be legal again are sent
again only after a sign of life (`tried`).
"""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Iterator

import structlog

from bridge.errors import RateLimited, Refused, Unreachable
from bridge.platforms.lichess.client import Client
from bridge.platforms.lichess.gate import Gate, Lane
from bridge.platforms.lichess.outage import Outage
from bridge.platforms.lichess.patience import doubling
from bridge.platforms.lichess.timings import Timings

log = structlog.get_logger("kirichess_lichess")

_PIECES_S = 0.1
"""How long what a stream had held back may take to come in, once it speaks again."""


class Owed:
    """One request that must get through; `superseded` tells when it is no longer wanted.

    It waits for the end of an `outage`, and for `in_step`: that the game's stream can be believed; `tried`, called
    after each try, may take that back. Besides, whoever runs it cancels it as soon as the stream shows another state.
    """

    def __init__(
        self,
        client: Client,
        gate: Gate,
        superseded: Callable[[], bool],
        in_step: asyncio.Event,
        outage: Outage,
        tried: Callable[[], None] = lambda: None,
    ) -> None:
        self._client = client
        self._gate = gate
        self._superseded = superseded
        self._in_step = in_step
        self._outage = outage
        self._tried = tried

    async def move(self, path: str, game_id: str) -> None:
        """A move, with `move_s` for each try. A 400 or 404 is tried again before it is believed.

        Raises:
            Refused: and no earlier try can have taken effect.
            Unreachable: the client was closed.
        """
        timings = self._client.timings
        await self._post(path, Lane.MOVE, game_id, timings.move_s, {400: timings.believed_after})

    async def claim(self, path: str, game_id: str) -> None:
        """A resignation or a claim. Raises Refused like `move`, on the first 400."""
        await self._post(path, Lane.CLAIM, game_id, self._client.timings.request_s, {400: 1})

    async def _post(self, path: str, lane: Lane, game_id: str, timeout_s: float, patience: dict[int, int]) -> None:
        """`patience`: how many answers of a status are needed to believe it."""
        timings = self._client.timings
        holds, retries = _holds(timings), doubling(*timings.move_retry_s)
        patience = {404: timings.believed_after, **patience}
        uncertain, told = False, ""
        while not self._superseded():
            await self._believable()
            rest: Callable[[float], Awaitable[None]] = asyncio.sleep
            try:
                async with self._gate.passage(lane, game_id=game_id):
                    if self._superseded():
                        break  # while it waited for its turn
                    if not self._in_step.is_set():
                        continue
                    await self._try(path, timeout_s)
                return
            except RateLimited as error:
                wait_s, cause = _figure_or(error, holds), str(error)
            except Unreachable as error:
                if self._client.closed:
                    raise
                uncertain = True
                wait_s, cause, rest = next(retries), str(error), self._outage.rest
            except Refused as error:
                patience[error.status] = patience.get(error.status, 1) - 1
                if patience[error.status] <= 0:
                    if self._superseded() or (uncertain and error.status == 400):
                        break  # an earlier try took effect, or the game has moved on: the stream tells
                    raise
                wait_s, cause = next(retries), str(error)
            tell = log.debug if cause == told else log.warning
            tell("still_owed", path=path, cause=cause, again_in_s=round(wait_s, 2))
            told = cause
            await rest(wait_s)
        log.info("no_longer_owed", path=path)

    async def _believable(self) -> None:
        await self._outage.over()
        if not self._in_step.is_set():
            await self._in_step.wait()
            await asyncio.sleep(_PIECES_S)

    async def _try(self, path: str, timeout_s: float) -> None:
        try:
            with self._outage.asking():
                await self._client.post(path, timeout_s=timeout_s)
        finally:
            self._tried()


def _holds(timings: Timings) -> Iterator[float]:
    seconds = itertools.chain(timings.move_holds_s, itertools.repeat(timings.move_holds_s[-1]))
    return (each * random.uniform(0.9, 1.1) for each in seconds)


def _figure_or(error: RateLimited, holds: Iterator[float]) -> float:
    if error.retry_after_s is None:
        return next(holds)
    return error.retry_after_s * random.uniform(1.0, 1.05)
