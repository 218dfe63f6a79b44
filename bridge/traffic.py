"""What one account's streams and requests have come to, as plain numbers that whoever measures may read."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

_KINDS = {
    "/api/stream/event": "event",
    "/api/bot/game/stream/": "game",
    "/api/board/game/stream/": "board",
    "/api/stream/game/": "spectator",
    "/api/stream/games-by-users": "users",
    "/api/stream/games/": "list",
    "/api/tv/": "tv",
}
"""What a path begins with → the kind of stream (Lichess API §1)."""


class Signs:
    """The signs of life of one stream, over all its connections."""

    def __init__(self, kind: str, reconnects: Counter[str], now_s: Callable[[], float]) -> None:
        self.kind = kind
        self.last_s: float | None = None
        self._reconnects = reconnects
        self._now_s = now_s

    def opened(self) -> None:
        """It is open; every time but the first counts as a reconnect."""
        if self.last_s is not None:
            self._reconnects[self.kind] += 1
        self.last_s = self._now_s()

    def lives(self) -> None:
        """A line came, or a keep-alive."""
        self.last_s = self._now_s()


class Traffic:
    """`limited`: 429s by lane (`stream` for streams) · `reconnects` by kind of stream · `waiting`: requests by lane."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self.limited: Counter[str] = Counter(stream=0)
        self.reconnects: Counter[str] = Counter()
        self.waiting: Callable[[], Mapping[str, int]] = dict
        self._now_s = now_s
        self._streams: list[Signs] = []

    @contextmanager
    def stream(self, path: str) -> Iterator[Signs]:
        """A stream that is followed while the block runs."""
        kind = next((kind for start, kind in _KINDS.items() if path.startswith(start)), "other")
        signs = Signs(kind, self.reconnects, self._now_s)
        self._streams.append(signs)
        try:
            yield signs
        finally:
            self._streams.remove(signs)

    def followed(self) -> dict[str, int]:
        """How many streams of each kind are followed."""
        return dict(Counter(signs.kind for signs in self._streams))

    def ages_s(self) -> dict[str, float]:
        """By kind: the seconds since the last sign of life of the stream that has been silent longest."""
        now_s = self._now_s()
        ages_s: dict[str, float] = {}
        for signs in self._streams:
            if signs.last_s is not None:
                ages_s[signs.kind] = max(ages_s.get(signs.kind, 0.0), now_s - signs.last_s)
        return ages_s
