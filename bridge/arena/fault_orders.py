"""Faults in a line of text, for rehearsals: `arena --faults 'move:429:0.1,event_stream:reset:every=30s'`.

An order is `WHERE:WHAT[:HOW…]`; orders are parted by commas. WHERE is the name of a route or of a stream, WHAT what
happens to its requests or to its open streams, HOW how often. `parse_orders` reads them, `OrderedFaults` does them.
"""

import asyncio
import difflib
import json
import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from bridge.arena.faults import Answer
from bridge.arena.hall import Hall
from bridge.arena.streams import Fate, LineStream, StreamName
from bridge.errors import UsageError

STREAMS = {
    "event_stream": "event",
    "game_stream": "game",
    "watch": "watch",
    "games_by_ids": "games",
    "games_by_users": "games",
    "tv_feed": "tv",
}
"""Routes that answer with a stream, and the streams' own kind."""
FATES = {"end": Fate.END, "reset": Fate.RESET, "silence": Fate.SILENCE}
ANSWERS = ("reset", "lost", "late", "page")
HOW = ("every", "times", "ply", "account", "wait")


@dataclass(frozen=True, slots=True)
class Order:
    """One fault. `status` of requests, 0: no answer; None: `fate` of open streams. Seconds are wall time."""

    where: str
    status: int | None = None
    fate: Fate = Fate.PASS
    page: bool = False
    after: bool = False
    share: float = 1.0
    every_s: float | None = None
    times: int | None = None
    ply: int | None = None
    account: str = ""
    wait_s: float | None = None

    def answer(self) -> Answer:
        """What a request gets in place of the real answer."""
        headers = {}
        if self.page:
            return Answer(self.status or 200, b"<html>A page in place of an answer</html>", "text/html")
        body: dict[str, object] = {"error": f"Fault on order: {self.status}"} if self.status != 200 else {"ok": True}
        if self.status == 429 and self.wait_s is not None:
            body["ratelimit"] = {"key": "fault.on.order", "seconds": self.wait_s}
            headers["Retry-After"] = str(round(self.wait_s))
        delay_s = (10.0 if self.wait_s is None else self.wait_s) if self.status == 200 else 0.0
        return Answer(self.status or 0, json.dumps(body).encode(), headers=headers, after=self.after, delay_s=delay_s)


# -- reading ---------------------------------------------------------------------------------------------------------


def parse_orders(text: str, routes: Iterable[str]) -> tuple[Order, ...]:
    """The orders of a line; `routes` are the names there are. Raises UsageError: one line with the nearest word."""
    known = sorted({*routes, *STREAMS})
    return tuple(_order(part.strip(), known) for part in text.split(",") if part.strip())


def _order(text: str, routes: Sequence[str]) -> Order:
    where, *rest = (word.strip() for word in re.split("[:@]", text))
    if where not in routes:
        _unknown("place", where, routes, text)
    if not rest or not rest[0]:
        raise UsageError(f"--faults: {text!r} says where and not what; such as {where}:503")
    order = _what(where, rest[0], text)
    for how in rest[1:]:
        order = _how(order, how, text)
    return order


def _what(where: str, what: str, text: str) -> Order:
    if re.fullmatch(r"[45]\d\d", what):
        return Order(where, int(what))
    if where in STREAMS and what in FATES:
        return Order(where, fate=FATES[what])
    words = (*(FATES if where in STREAMS else ()), *ANSWERS)
    if what not in words:
        _unknown(f"fault of {where}", what, (*dict.fromkeys(words), "429", "503"), text)
    status = 200 if what in ("late", "page") else 0
    return Order(where, status, page=what == "page", after=what in ("lost", "late"))


def _how(order: Order, how: str, text: str) -> Order:
    name, equals, value = how.partition("=")
    share = _number(how)
    if share is not None and 0 < share <= 1 and not equals:
        return _with(order, share=share)
    number = _number(value.removesuffix("s"))
    match name:
        case "account" if value:
            return _with(order, account=value.lower())
        case "every" | "wait" if number is not None and number > 0:
            return _with(order, **{f"{name}_s": number})
        case "times" | "ply" if number is not None and number == int(number) and number >= 1:
            return _with(order, **{name: int(number)})
        case "every" | "wait" | "times" | "ply" | "account":
            raise UsageError(
                f"--faults: {how!r} in {text!r}: {name} wants a value above 0, such as {name}={_such(name)}"
            )
    if not equals and share is not None:
        raise UsageError(f"--faults: {how!r} in {text!r}: a share lies above 0 and is at most 1")
    return _unknown("word", name, HOW, text)


def _such(name: str) -> str:
    return {"every": "30s", "wait": "5s", "account": "KiriBot"}.get(name, "3")


def _with(order: Order, **changes: object) -> Order:
    values = {name: getattr(order, name) for name in Order.__slots__}
    return Order(**{**values, **changes})


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(\.\d*)?|\.\d+", text) else None


def _unknown(what: str, given: str, known: Sequence[str], text: str) -> NoReturn:
    near = difflib.get_close_matches(given.lower(), known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"--faults: unknown {what} {given!r} in {text!r}{hint} (known: {', '.join(known)})")


# -- doing -----------------------------------------------------------------------------------------------------------


class OrderedFaults:
    """The arena's seam for faults, by orders. Nothing happens before `run`."""

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
            wanted = order.status is not None and order.where == kind and order.account in ("", account)
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
        if mine and self._comes(at, ("",)):
            for stream in mine:
                stream.break_off(order.fate)

    def _comes(self, at: int, topics: Sequence[str]) -> bool:
        """Whether it is time for it; counts it then."""
        order, now_s = self._orders[at], time.monotonic()
        if self._hall is None or (order.times is not None and self._done[at] >= order.times):
            return False
        if order.every_s is not None and now_s < self._next_s[at]:
            return False
        if order.ply is not None and order.every_s is None and not self._at_ply(at, order.ply, topics):
            return False
        if order.share < 1 and self._dice() >= order.share:
            return False
        self._done[at] += 1
        self._next_s[at] = now_s + (order.every_s or 0.0)
        return True

    def _at_ply(self, at: int, ply: int, topics: Sequence[str]) -> bool:
        """Once a game, as soon as it has come so far."""
        if self._plies(topics) < ply:
            return False
        key = (at, next(topic for topic in topics if self._hall is not None and topic in self._hall.games))
        fresh = key not in self._past_ply
        self._past_ply.add(key)
        return fresh

    def _plies(self, topics: Sequence[str]) -> int:
        games = self._hall.games if self._hall is not None else {}
        return max((games[topic].plies for topic in topics if topic in games), default=-1)


def _concerns(order: Order, name: StreamName) -> bool:
    return STREAMS.get(order.where) == name.kind and order.account in ("", name.account)
