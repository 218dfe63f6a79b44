"""Faults on order: answers in place of real ones, and streams that end, break or fall silent.

The server asks before every request and before every stream line; anything with these two methods can take the place
of `Faults`.
"""

import json
from collections import defaultdict, deque
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
    """Faults in order of their ordering; none unless ordered."""

    def __init__(self, streams: Callable[[], Iterable[LineStream]] = tuple) -> None:
        self._streams = streams
        self._answers: dict[str, deque[Answer]] = defaultdict(deque)
        self._fates: list[tuple[str, str, Fate]] = []

    def next(
        self,
        kind: str,
        *,
        status: int,
        body: object = None,
        times: int = 1,
        headers: dict[str, str] | None = None,
        after: bool = False,
        delay_s: float = 0.0,
    ) -> None:
        """The next `times` requests of this kind get this answer. A `str` body goes out as HTML, others as JSON."""
        html = isinstance(body, str)
        text = body if isinstance(body, str) else json.dumps({"error": "Too many requests"} if body is None else body)
        answer = Answer(
            status, text.encode(), "text/html" if html else "application/json", headers or {}, after, delay_s
        )
        self._answers[kind].extend([answer] * times)

    def end(self, kind: str, topic: str = "") -> None:
        """End the open streams of this kind cleanly; `topic` is a game id, or an account's for event streams."""
        self._break_off(kind, topic, Fate.END)

    def drop(self, kind: str, topic: str = "") -> None:
        """Reset the connections of the open streams of this kind."""
        self._break_off(kind, topic, Fate.RESET)

    def silence(self, kind: str, topic: str = "") -> None:
        """The open streams of this kind write nothing any more and stay open."""
        self._break_off(kind, topic, Fate.SILENCE)

    def at_next_line(self, kind: str, topic: str, fate: Fate) -> None:
        """The next line of such a stream is lost, and this happens instead."""
        self._fates.append((kind, topic, fate))

    def _break_off(self, kind: str, topic: str, fate: Fate) -> None:
        for stream in list(self._streams()):
            if _concerns(stream.name, kind, topic):
                stream.break_off(fate)

    def before(self, kind: str, account: str, path: str) -> Answer | None:
        waiting = self._answers.get(kind)
        return waiting.popleft() if waiting else None

    def on_line(self, stream: StreamName) -> Fate:
        for order in self._fates:
            if _concerns(stream, order[0], order[1]):
                self._fates.remove(order)
                return order[2]
        return Fate.PASS


def _concerns(name: StreamName, kind: str, topic: str) -> bool:
    return name.kind == kind and topic in ("", name.topic, name.account)
