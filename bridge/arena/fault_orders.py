"""Faults in a line of text, for rehearsals: `arena --faults 'move:429:0.1,event_stream:reset:every=30s'`.

An order is `WHERE:WHAT[:HOW…]`; orders are parted by commas. WHERE is the name of a route or of a stream, WHAT what
happens to its requests or to its open streams, HOW how often. `ordered_faults` does them.
"""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from bridge.arena.faults import Answer
from bridge.arena.streams import Fate
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
_FATES = {"end": Fate.END, "reset": Fate.RESET, "silence": Fate.SILENCE}
_IN_REQUESTS = ("page", "reset", "lost", "late")
_IN_STREAMS = ("page", *_FATES)
"""A stream has no effect that an answer could be missing for, and is never done: neither `lost` nor `late`."""
_STATUS = re.compile(r"[45]\d\d")
_STATUSES = "a status from 400 to 599 such as 400, 429, 503"


@dataclass(frozen=True, slots=True)
class Order:
    """One fault. `status` of requests, 0: no answer; None: `fate` of open streams. Seconds are wall time."""

    where: str
    what: str
    status: int | None = None
    fate: Fate = Fate.PASS
    share: float | None = None
    every_s: float | None = None
    times: int | None = None
    ply: int | None = None
    account: str | None = None
    wait_s: float | None = None

    def answer(self) -> Answer:
        """What a request gets in place of the real answer."""
        headers = {}
        after = self.what in ("lost", "late")
        if self.what == "page":
            return Answer(200, b"<html>A page in place of an answer</html>", "text/html")
        body: dict[str, object] = {"error": f"Fault on order: {self.status}"} if self.status != 200 else {"ok": True}
        if self.status == 429 and self.wait_s is not None:
            body["ratelimit"] = {"key": "fault.on.order", "seconds": self.wait_s}
            headers["Retry-After"] = str(round(self.wait_s))
        delay_s = (10.0 if self.wait_s is None else self.wait_s) if self.what == "late" else 0.0
        return Answer(self.status or 0, json.dumps(body).encode(), headers=headers, after=after, delay_s=delay_s)


@dataclass(frozen=True, slots=True)
class _How:
    """A word that says how often: how its value is read (None: it is none), and an example."""

    field: str
    read: Callable[[str], object]
    such: str


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(\.\d*)?|\.\d+", text) else None


def _seconds(text: str) -> float | None:
    return _number(text.removesuffix("s")) or None


def _count(text: str) -> int | None:
    return int(text) or None if re.fullmatch(r"\d{1,9}", text) else None


_HOW = {
    "every": _How("every_s", _seconds, "30s"),
    "times": _How("times", _count, "3"),
    "ply": _How("ply", _count, "20"),
    "account": _How("account", lambda name: name.lower() or None, "KiriBot"),
    "wait": _How("wait_s", _seconds, "5s"),
}


def parse_orders(text: str, routes: Iterable[str], in_games: Iterable[str] = ()) -> tuple[Order, ...]:
    """The orders of a line. `routes`: the names there are, `in_games`: those that have a game in their path.

    Raises UsageError: one line that says what is wrong and what is allowed.
    """
    if not text.strip(" ,"):
        raise UsageError("--faults: no order is given; such as move:429:0.1")
    known, games = sorted({*routes, *STREAMS}), frozenset(in_games)
    return tuple(_order(part.strip(), known, games, text) for part in text.split(","))


def _order(text: str, routes: Sequence[str], games: frozenset[str], line: str) -> Order:
    if not text:
        raise UsageError(f"--faults: a comma parts two orders, and one is missing in {line!r}")
    where, *rest = (word.strip() for word in re.split("[:@]", text))
    if where not in routes:
        _unknown("place", where, routes, text)
    if not rest or not rest[0]:
        raise UsageError(f"--faults: {text!r} says where and not what; such as {where}:503")
    order = _what(where, rest[0], text)
    for how in rest[1:]:
        order = _with(order, how, text)
    for wrong, why in _contradictions(order, games):
        if wrong:
            raise UsageError(f"--faults: {text!r}: {why}")
    return order


def _what(where: str, what: str, text: str) -> Order:
    if _STATUS.fullmatch(what):
        return Order(where, what, int(what))
    words = _IN_STREAMS if where in STREAMS else _IN_REQUESTS
    if what not in words:
        _unknown(f"fault of {where}", what, (*words, _STATUSES), text)
    if where in STREAMS and what in _FATES:
        return Order(where, what, fate=_FATES[what])
    return Order(where, what, 200 if what in ("late", "page") else 0)


def _with(order: Order, how: str, text: str) -> Order:
    name, equals, value = (part.strip() for part in how.partition("="))
    share = None if equals else _number(name)
    if share is None and name not in _HOW:
        _unknown("word", name, ("a share above 0 and at most 1", *(f"{key}={_HOW[key].such}" for key in _HOW)), text)
    if share is not None and not 0 < share <= 1:
        raise UsageError(f"--faults: {how!r} in {text!r}: a share lies above 0 and is at most 1")
    field = "share" if share is not None else _HOW[name].field
    given: Any = share if share is not None else _HOW[name].read(value)
    if given is None:
        raise UsageError(
            f"--faults: {how!r} in {text!r}: {name} wants a value above 0, such as {name}={_HOW[name].such}"
        )
    if getattr(order, field) is not None:
        raise UsageError(f"--faults: {text!r} says {name if equals else 'a share'} twice; once is allowed")
    return replace(order, **{field: given})


def _contradictions(order: Order, games: frozenset[str]) -> Iterable[tuple[bool, str]]:
    """Words that say nothing together, and why."""
    waits = order.what in ("429", "late")
    yield order.wait_s is not None and not waits, f"wait= goes with 429 and late, not with {order.what}"
    twice = order.share is not None and order.every_s is not None
    yield twice, "a share and every= both say how often; one of them is allowed"
    aimless = order.ply is not None and order.where not in games
    yield aimless, f"{order.where} is about no game that could be at a ply; ply= goes with {', '.join(sorted(games))}"


def _unknown(what: str, given: str, known: Sequence[str], text: str) -> NoReturn:
    words = {word.partition("=")[0]: word for word in known}
    near = difflib.get_close_matches(given.lower(), words, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"--faults: unknown {what} {given!r} in {text!r}{hint} (known: {', '.join(known)})")
