"""One gate per account: what may be asked of Lichess at the same time, and what must wait (API §4)."""

import asyncio
import enum
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from bridge.errors import DailyLimit, RateLimited
from bridge.traffic import Traffic


class Lane(enum.IntEnum):
    """By urgency. No lane waits for a request in another one."""

    MOVE = 0
    """One request in flight a game, and at most `moves_at_once` an account."""
    CLAIM = 1
    """Resignations, claims and whatever else ends a game or answers an offer. One at a time, as all lanes below."""
    ACCEPT = 2
    CHAT = 3
    """Chat and polling start only while no more urgent request waits for its turn."""
    POLL = 4


@dataclass(eq=False, slots=True)
class _Passage:
    """Of one request: `turn` is done once it may pass, and it keeps its place while the block runs."""

    gate: "Gate"
    lane: Lane
    kind: str
    game_id: str
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def __aenter__(self) -> None:
        self.gate.check_hold(self.kind)
        self.gate.line_up(self)
        try:
            await self.turn
            self.gate.check_hold(self.kind)
        except BaseException:
            self.gate.leave(self)
            raise

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, RateLimited):
            self.gate.refused(self, error)
        self.gate.leave(self)


class Gate:
    """Requests pass in order of their lanes, in a lane in order of their coming."""

    def __init__(
        self,
        rate_limit_s: float = 60.0,
        *,
        moves_at_once: int = 8,
        clock: Callable[[], float] = time.monotonic,
        traffic: Traffic | None = None,
    ) -> None:
        self._rate_limit_s = rate_limit_s
        self._moves_at_once = moves_at_once
        self._clock = clock
        self._waiting: dict[Lane, deque[_Passage]] = {lane: deque() for lane in Lane}
        self._passing: Counter[Lane] = Counter()
        self._games_moving: set[str] = set()
        self._held_until: dict[str, float] = {}
        self._traffic = traffic or Traffic()
        self._traffic.limited.update({lane.name.lower(): 0 for lane in Lane})
        self._traffic.waiting = self._waiting_by_lane

    def hold(self, kind: str, seconds: float) -> None:
        """Let no request of this kind (of endpoint) pass for so long: the platform said 429."""
        self._held_until[kind] = max(self._clock() + seconds, self._held_until.get(kind, 0.0))

    def passage(self, lane: Lane, kind: str = "", game_id: str = "") -> AbstractAsyncContextManager[None]:
        """Wait for one's turn, keep it while the block runs.

        `kind`: of endpoint; a RateLimited out of the block holds it, for the figure given or `rate_limit_s`. "": none.

        Raises:
            RateLimited: this kind is held; the block was not run.
        """
        return _Passage(self, lane, kind, game_id)

    def line_up(self, waiter: _Passage) -> None:
        """Behind the others of its lane."""
        self._waiting[waiter.lane].append(waiter)
        self._admit()

    def refused(self, waiter: _Passage, error: RateLimited) -> None:
        """The platform said 429 to it."""
        self._traffic.limited[waiter.lane.name.lower()] += 1
        if waiter.kind and not isinstance(error, DailyLimit):
            self.hold(waiter.kind, self._rate_limit_s if error.retry_after_s is None else error.retry_after_s)

    def leave(self, waiter: _Passage) -> None:
        """It is done, or does not wait any more."""
        if waiter.turn.done() and not waiter.turn.cancelled():
            self._passing[waiter.lane] -= 1
            if waiter.lane is Lane.MOVE:
                self._games_moving.discard(waiter.game_id)
        else:
            self._waiting[waiter.lane].remove(waiter)
        self._admit()

    def check_hold(self, kind: str) -> None:
        """Raises RateLimited while this kind is held."""
        left_s = self._held_until.get(kind, 0.0) - self._clock()
        if left_s > 0:
            raise RateLimited(f"{kind}: the platform asked us to wait {left_s:.0f} s more", retry_after_s=left_s)
        self._held_until.pop(kind, None)

    def _waiting_by_lane(self) -> dict[str, int]:
        return {lane.name.lower(): len(waiting) for lane, waiting in self._waiting.items()}

    def _admit(self) -> None:
        crowded = False
        for lane, waiting in self._waiting.items():
            if not waiting:
                continue
            if crowded and lane >= Lane.CHAT:
                return
            while (waiter := self._next(lane)) is not None:
                waiting.remove(waiter)
                self._passing[lane] += 1
                if lane is Lane.MOVE:
                    self._games_moving.add(waiter.game_id)
                waiter.turn.set_result(None)
            crowded = crowded or any(self._is_held_up(waiter) for waiter in waiting)

    def _next(self, lane: Lane) -> _Passage | None:
        """Who passes now. A full lane is not looked through: hundreds may wait there, and each who leaves asks."""
        if self._passing[lane] >= (self._moves_at_once if lane is Lane.MOVE else 1):
            return None
        moving = self._games_moving if lane is Lane.MOVE else ()
        return next((each for each in self._waiting[lane] if not each.turn.done() and each.game_id not in moving), None)

    def _is_held_up(self, waiter: _Passage) -> bool:
        """Whether it waits for others, not for a move of its own game; one that is canceled is about to leave."""
        return not waiter.turn.done() and waiter.game_id not in self._games_moving
