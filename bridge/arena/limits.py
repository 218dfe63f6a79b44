"""Limits: so many in a sliding window, so many at a time. Pure, time passed in."""

from collections import defaultdict, deque

from bridge.arena.happenings import Rejected


class Window:
    """At most `limit` units in any `window_ms`, each key by itself."""

    def __init__(self, limit: int, window_ms: int) -> None:
        self.limit = limit
        self.window_ms = window_ms
        self._spent: defaultdict[str, deque[tuple[int, int]]] = defaultdict(deque)

    def used(self, key: str, now_ms: int) -> int:
        spent = self._spent[key]
        while spent and spent[0][0] <= now_ms - self.window_ms:
            spent.popleft()
        return sum(cost for _, cost in spent)

    def free_in_s(self, key: str, now_ms: int) -> int:
        """Whole seconds until the oldest unit leaves the window."""
        self.used(key, now_ms)
        spent = self._spent[key]
        return -(-(spent[0][0] + self.window_ms - now_ms) // 1000) if spent else self.window_ms // 1000

    def take(self, key: str, now_ms: int, cost: int = 1) -> bool:
        """False, and nothing taken, when the limit would be passed."""
        if self.used(key, now_ms) + cost > self.limit:
            return False
        self._spent[key].append((now_ms, cost))
        return True

    def count(self, key: str, now_ms: int) -> None:
        """Take one whatever the limit says."""
        self._spent[key].append((now_ms, 1))


class Concurrency:
    """At most `limit` at a time, each key by itself; a place is held inside `with`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._held: defaultdict[str, int] = defaultdict(int)

    def hold(self, key: str) -> "Place":
        if self._held[key] >= self.limit:
            raise Rejected(f"Please only run {self.limit} request(s) at a time", status=429)
        return Place(self, key)

    def enter(self, key: str) -> None:
        self._held[key] += 1

    def leave(self, key: str) -> None:
        self._held[key] -= 1


class Place:
    """One of the places of a `Concurrency`."""

    def __init__(self, places: Concurrency, key: str) -> None:
        self._places = places
        self._key = key

    def __enter__(self) -> None:
        self._places.enter(self._key)

    def __exit__(self, *_: object) -> None:
        self._places.leave(self._key)
