"""How close together transactions may follow: each costs the same, whether it holds one event or twenty."""

from collections import deque

BURST = 8
BURST_S = 0.08
"""At most BURST transactions within so long: a few games never wait, hundreds share theirs."""


class Spacing:
    """When the next transaction may begin, in seconds of the loop's clock."""

    def __init__(self) -> None:
        self._begun_s: deque[float] = deque(maxlen=BURST)

    def wait_s(self, now_s: float) -> float:
        """How long to wait; 0 where there is room."""
        if len(self._begun_s) < BURST:
            return 0.0
        return max(0.0, self._begun_s[0] + BURST_S - now_s)

    def begins(self, now_s: float) -> None:
        """A transaction begins."""
        self._begun_s.append(now_s)
