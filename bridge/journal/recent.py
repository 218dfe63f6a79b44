"""The newest entries in memory, so that followers at the end never touch the disk."""

from collections import deque
from collections.abc import Sequence

from bridge.interfaces import Entry

MOST = 500
MOST_CHARACTERS = 500_000
"""Of JSON, which takes several times as much in memory. A ply has some hundreds, a verdict with its ledger tens of
thousands: a round that ends would else take as much room as all that is played."""


class Recent:
    """Consecutive entries, the last ones that were stored."""

    def __init__(self) -> None:
        self._entries: deque[tuple[Entry, int]] = deque()
        self._characters = 0

    def add(self, entries: Sequence[Entry], characters: int) -> None:
        """The next ones, of so many characters each at most; the oldest make room. The very last one always stays."""
        for entry in entries:
            self._entries.append((entry, characters))
            self._characters += characters
        while len(self._entries) > MOST or (self._characters > MOST_CHARACTERS and len(self._entries) > 1):
            self._characters -= self._entries.popleft()[1]

    def after(self, seq: int, most: int) -> list[Entry] | None:
        """Up to so many that follow a number; None where some of them are not here any more."""
        if not self._entries or seq + 1 < self._entries[0][0].seq:
            return None
        # Counted from the end, where most followers are: a deque is slow in its middle.
        behind = self._entries[-1][0].seq - seq
        return [self._entries[-place][0] for place in range(behind, max(0, behind - most), -1)]
