"""The arena's seam for faults, by orders in a line of text (`fault_orders`)."""

import asyncio
import random
import time
from collections.abc import Callable, Iterable, Sequence

from bridge.arena.fault_orders import STREAMS, Order
from bridge.arena.faults import Answer
from bridge.arena.hall import Hall
from bridge.arena.streams import Fate, LineStream, StreamName


class OrderedFaults:
    """Does them. Nothing happens before `run`."""

    def __init__(self, orders: Sequence[Order], dice: Callable[[], float] = random.random) -> None:
        self._orders = orders
        self._dice = dice
        self._hall: Hall | None = None
        self._done = [0] * len(orders)
        self._next_s = [0.0] * len(orders)
        self._past_ply: set[tuple[int, str]] = set()

    async def run(self, hall: Hall) -> None:
        """Do them, for ever."""
        self._hall = hall
        now_s = time.monotonic()
        self._next_s = [now_s + (order.every_s or 0.0) for order in self._orders]
        timed = [at for at, order in enumerate(self._orders) if order.status is None and order.every_s is not None]
        while True:
            for at in timed:
                self._break_off(at, hall.audience.open)
            await asyncio.sleep(0.05)

    def before(self, kind: str, account: str, path: str) -> Answer | None:
        for at, order in enumerate(self._orders):
            wanted = order.status is not None and order.where == kind and order.account in (None, account)
            if wanted and self._comes(at, path.split("/")):
                return order.answer()
        return None

    def on_line(self, stream: StreamName) -> Fate:
        for at, order in enumerate(self._orders):
            wanted = order.status is None and order.every_s is None and _concerns(order, stream)
            if wanted and self._comes(at, (stream.topic,)):
                return order.fate
        return Fate.PASS

    def _break_off(self, at: int, streams: Iterable[LineStream]) -> None:
        order = self._orders[at]
        mine = [stream for stream in streams if _concerns(order, stream.name)]
        mine = [stream for stream in mine if order.ply is None or self._plies((stream.name.topic,)) >= order.ply]
        if mine and self._comes(at, [stream.name.topic for stream in mine]):
            for stream in mine:
                stream.break_off(order.fate)

    def _comes(self, at: int, topics: Sequence[str]) -> bool:
        """Whether it is time for it; counts it then."""
        order, now_s = self._orders[at], time.monotonic()
        if self._hall is None or (order.times is not None and self._done[at] >= order.times):
            return False
        if order.every_s is not None and now_s < self._next_s[at]:
            return False
        if order.ply is not None and not self._at_ply(at, order.ply, topics):
            return False
        if order.share is not None and self._dice() >= order.share:
            return False
        self._done[at] += 1
        self._next_s[at] = now_s + (order.every_s or 0.0)
        return True

    def _at_ply(self, at: int, ply: int, topics: Sequence[str]) -> bool:
        """Whether a game has come so far; once each, unless the order comes every so often."""
        if self._plies(topics) < ply:
            return False
        if self._orders[at].every_s is not None:
            return True
        key = (at, next(topic for topic in topics if self._hall is not None and topic in self._hall.games))
        fresh = key not in self._past_ply
        self._past_ply.add(key)
        return fresh

    def _plies(self, topics: Sequence[str]) -> int:
        games = self._hall.games if self._hall is not None else {}
        return max((games[topic].plies for topic in topics if topic in games), default=-1)


def _concerns(order: Order, name: StreamName) -> bool:
    return STREAMS.get(order.where) == name.kind and order.account in (None, name.account)
