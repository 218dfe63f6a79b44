"""How close together transactions may follow: each costs the same, whether it holds one event or twenty."""

from collections import deque

MANY = 8
WITHIN_S = 0.2
GAP_S = 0.012
"""Once MANY transactions have begun WITHIN_S, the next ones begin GAP_S apart: a few games never wait, hundreds share."""


class Spacing:
    """When the next transaction may begin, in seconds of the loop's clock."""

    def __init__(self) -> None:
        self._begun_s: deque[float] = deque(maxlen=MANY)

    def wait_s(self, now_s: float) -> float:
        """How long to wait; 0 where there is room."""
        if len(self._begun_s) < MANY or self._begun_s[0] < now_s - WITHIN_S:
            return 0.0
        return max(0.0, self._begun_s[-1] + GAP_S - now_s)

    def begins(self, now_s: float) -> None:
        """A transaction begins."""
        self._begun_s.append(now_s)
