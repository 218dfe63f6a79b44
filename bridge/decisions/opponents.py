"""Against whom a habit holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opponents:
    """`humans` False: bots alone. `min_rating`: no weaker ones; one without a rating is none."""

    humans: bool = True
    min_rating: int | None = None

    def include(self, *, bot: bool, rating: int | None) -> bool:
        """Whether an opponent is among them."""
        weak = self.min_rating is not None and rating is not None and rating < self.min_rating
        return (bot or self.humans) and not weak
