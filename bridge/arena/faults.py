"""Faults on order: answers in place of real ones, and streams that end, break or fall silent.

The server asks before every request and before every stream line; anything with these two methods can take the place
of `Faults`.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from bridge.arena.streams import Fate, LineStream, StreamName


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer given in place of the real one; `status` 0 tears the connection down without any."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    """The request takes effect first: the answer alone is wrong."""
    delay_s: float = 0.0


class FaultSeam(Protocol):
    def before(self, kind: str, account: str, path: str) -> Answer | None:
        """An answer instead of the real one; `kind` is the route's name, `account` an id or empty."""
        ...

    def on_line(self, stream: StreamName) -> Fate: ...


class Faults:
    """Faults in order of their ordering; none unless ordered.

    Kinds of requests are the routes' names (`move`, `chat`, `event_stream`, …), kinds of streams those of `StreamName`.
    An empty account or topic means any; accounts are ids, topics are game ids.
    """

    def __init__(self, streams: Callable[[], Iterable[LineStream]] = tuple) -> None:
        self._streams = streams
        self._answers: list[tuple[str, str, Answer]] = []
        self._fates: list[tuple[StreamName, Fate]] = []

    def next(
        self,
        kind: str,
        *,
        status: int,
        body: object = None,
        times: int = 1,
        account: str = "",
        headers: dict[str, str] | None = None,
        after: bool = False,
        delay_s: float = 0.0,
    ) -> None:
        """The next `times` requests of this kind get this answer. A `str` body goes out as HTML, others as JSON."""
        html = isinstance(body, str)
        text = body if isinstance(body, str) else json.dumps({"error": "Too many requests"} if body is None else body)
        content_type = "text/html" if html else "application/json"
        answer = Answer(status, text.encode(), content_type, headers or {}, after, delay_s)
        self._answers += [(kind, account.lower(), answer)] * times

    def end(self, kind: str, topic: str = "", *, account: str = "") -> None:
        """End such open streams cleanly."""
        self._break_off(StreamName(kind, account.lower(), topic), Fate.END)

    def drop(self, kind: str, topic: str = "", *, account: str = "") -> None:
        """Reset the connections of such open streams."""
        self._break_off(StreamName(kind, account.lower(), topic), Fate.RESET)

    def silence(self, kind: str, topic: str = "", *, account: str = "") -> None:
        """Such open streams write nothing any more and stay open."""
        self._break_off(StreamName(kind, account.lower(), topic), Fate.SILENCE)

    def at_next_line(self, fate: Fate, kind: str, topic: str = "", *, account: str = "") -> None:
        """The next line of such a stream is lost, and this happens instead."""
        self._fates.append((StreamName(kind, account.lower(), topic), fate))

    def _break_off(self, wanted: StreamName, fate: Fate) -> None:
        for stream in list(self._streams()):
            if _concerns(wanted, stream.name):
                stream.break_off(fate)

    def before(self, kind: str, account: str, path: str) -> Answer | None:
        for order in self._answers:
            if order[0] == kind and order[1] in ("", account):
                self._answers.remove(order)
                return order[2]
        return None

    def on_line(self, stream: StreamName) -> Fate:
        for order in self._fates:
            if _concerns(order[0], stream):
                self._fates.remove(order)
                return order[1]
        return Fate.PASS


def _concerns(wanted: StreamName, name: StreamName) -> bool:
    return wanted.kind == name.kind and wanted.account in ("", name.account) and wanted.topic in ("", name.topic)
