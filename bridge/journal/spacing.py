"""How close together transactions may follow: each costs the same, whether it holds one event or twenty."""

from collections.abc import Iterable

MANY = 8
GAP_S = 0.04
WITHIN_S = MANY * GAP_S
"""Once MANY games have written WITHIN_S, the next transactions begin GAP_S apart: few games, however fast, never wait,
and hundreds share theirs."""


class Spacing:
    """When the next transaction may begin, in seconds of the loop's clock."""

    def __init__(self) -> None:
        self._wrote_s: dict[str, float] = {}
        self._begun_s = 0.0

    @property
    def crowded(self) -> bool:
        """Whether many games have written shortly before the last transaction began."""
        return len(self._wrote_s) >= MANY

    def wait_s(self, now_s: float) -> float:
        """How long to wait; 0 where there is room."""
        self._wrote_s = {game: at_s for game, at_s in self._wrote_s.items() if at_s > now_s - WITHIN_S}
        return max(0.0, self._begun_s + GAP_S - now_s) if self.crowded else 0.0

    def begins(self, now_s: float, games: Iterable[str]) -> None:
        """A transaction begins, with events of these games."""
        self._begun_s = now_s
        self._wrote_s.update(dict.fromkeys(games, now_s))
