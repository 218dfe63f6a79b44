"""Simulated thinking: how long a side thinks, without waiting for it.

Figures here are random draws, so they are floats; what reaches a clock is whole milliseconds.
"""

import math
import random
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bridge.engines.time_plan import stockfish_share
from bridge.rules.budget import thinking_budget_s
from bridge.rules.dials import Dials

SIGMA = 0.5
SHARE = 25
"""Nobody thinks longer than this part of the clock, by the `budget` model."""
TimeModel: TypeAlias = Literal["budget", "own", "none", "wall"]
"""`budget`: both sides min(the pool's budget, clock ÷ 25), nodes fixed. `own`: each side's own plan, nodes proportional
to the time it takes. `none`: no thinking time. `wall`: as measured."""
_PLIES = 1_200


@dataclass(frozen=True, slots=True)
class Noise:
    """What each ply's plan is multiplied by: lognormal, the same for both games of a pair."""

    factors: tuple[float, ...]

    @classmethod
    def of(cls, seed: int, pair: int, sigma: float = SIGMA) -> "Noise":
        """The noise of one pair."""
        lot = random.Random(f"{seed}/{pair}")
        return cls(tuple(math.exp(lot.gauss(0, sigma)) for _ in range(_PLIES)))

    def at(self, ply: int) -> float:
        """`ply` counts from 0."""
        return self.factors[ply % _PLIES]


def budget_ms(dials: Dials, clock_ms: int) -> float:
    """What both sides plan by the `budget` model; nothing where the dials leave nothing."""
    return min(max(0.0, float(thinking_budget_s(dials)) * 1000), clock_ms / SHARE)


def stockfish_ms(clock_ms: int, ply: int) -> float:
    """Stockfish's own optimum in sudden death, without its feedback from the search; `ply` is the board's."""
    return clock_ms * stockfish_share(ply)


def drawn_ms(plan_ms: float, factor: float) -> int:
    """A plan with its noise, as a clock is charged for it."""
    return max(0, round(plan_ms * factor))


def nodes_for(think_ms: int, dials: Dials, nodes: int) -> int:
    """Nodes proportional to time: `nodes` buy the pool's budget, or any time where the dials leave none. Never 0, which
    means "without end" to an engine."""
    whole_ms = float(thinking_budget_s(dials)) * 1000
    return max(1, round(nodes * think_ms / whole_ms)) if whole_ms > 0 else nodes
