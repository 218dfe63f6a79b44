"""What a match proves: Elo with error bars from pair scores, and a sequential test that may end it early.

A pair is one opening played twice with colours swapped. Its two games are not independent, so pairs are what is
counted: five possible scores, hence "pentanomial".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

_CERTAIN = 1.959964
"""Standard errors to either side of a 95 % interval."""
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
Decision: TypeAlias = Literal["H0", "H1"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean score between 0 and 1 over pairs, half the width of its 95 % interval, and the same in Elo."""

    pairs: int
    score: float
    margin: float
    elo: float
    elo_low: float
    elo_high: float
    pentanomial: tuple[int, int, int, int, int]


def elo(score: float) -> float:
    """The rating difference that a score means."""
    if score <= 0:
        return -math.inf
    return math.inf if score >= 1 else 400 * math.log10(score / (1 - score))


def expected(rating: float) -> float:
    """The score that a rating difference means."""
    return 1 / (1 + 10 ** (-rating / 400))


def pentanomial(pairs: Sequence[float]) -> tuple[int, int, int, int, int]:
    """How often each pair score came up, from 0 to 1 in quarters; `pairs` are mean scores."""
    counts = [sum(1 for score in pairs if round(score * 4) == quarter) for quarter in range(5)]
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def estimate(pairs: Sequence[float]) -> Estimate:
    """From the mean score of every pair; without pairs nothing is known."""
    count = len(pairs)
    if not count:
        return Estimate(0, 0.5, 0.5, 0.0, -math.inf, math.inf, (0, 0, 0, 0, 0))
    mean = sum(pairs) / count
    margin = _CERTAIN * math.sqrt(_variance(pairs, mean) / count) if count > 1 else 0.5
    low, high = elo(mean - margin), elo(mean + margin)
    return Estimate(count, mean, margin, elo(mean), low, high, pentanomial(pairs))


def _variance(pairs: Sequence[float], mean: float) -> float:
    return sum((score - mean) ** 2 for score in pairs) / max(1, len(pairs) - 1)


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential probability ratio test of `elo0` against `elo1`, with error rates `alpha` and `beta`."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """At or below the first H0 is accepted, at or above the second H1."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, pairs: Sequence[float]) -> float:
        """The log-likelihood ratio, by the normal approximation with the variance of the pair scores.

        Half a pair is added to each of the five scores' counts beforehand, so that a start of equal pairs decides
        nothing.
        """
        if not pairs:
            return 0.0
        counts = [count + 0.5 for count in pentanomial(pairs)]
        total = sum(counts)
        mean = sum(score * count for score, count in zip(PAIR_SCORES, counts, strict=True)) / total
        variance = sum(count * (score - mean) ** 2 for score, count in zip(PAIR_SCORES, counts, strict=True)) / total
        score0, score1 = expected(self.elo0), expected(self.elo1)
        return len(pairs) * (score1 - score0) * (2 * mean - score0 - score1) / (2 * variance)

    def decision(self, pairs: Sequence[float]) -> Decision | None:
        """Which hypothesis is accepted, or None: go on."""
        low, high = self.bounds
        ratio = self.ratio(pairs)
        if ratio <= low:
            return "H0"
        return "H1" if ratio >= high else None
