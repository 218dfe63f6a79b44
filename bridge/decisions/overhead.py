"""Move overhead as it is measured: the round trip of our moves, of which nearly all are no longer."""

import math
from collections import deque

_KEPT = 40
_LONGEST_MS = 3_000
"""A longer one was an outage, not a way: an engine must not be robbed of its time for that."""


class Overhead:
    """The last round trips of an account's moves."""

    def __init__(self) -> None:
        self._trips_ms: deque[int] = deque(maxlen=_KEPT)

    def add(self, trip_ms: int) -> None:
        """A move was answered after so long."""
        if trip_ms <= _LONGEST_MS:
            self._trips_ms.append(trip_ms)

    @property
    def p95_ms(self) -> int | None:
        """95 of 100 moves are answered within this; None: nothing was measured."""
        if not self._trips_ms:
            return None
        return sorted(self._trips_ms)[math.ceil(0.95 * len(self._trips_ms)) - 1]

    def ms(self, least_ms: int) -> int:
        """What is kept back from every move; `least_ms` is the start and the floor."""
        return max(least_ms, self.p95_ms or 0)
