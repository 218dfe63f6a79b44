"""The one budget of engine processes and memory that all accounts share.

It counts the slots that are taken, so there is nothing to give back, and nothing that could be lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bridge.decisions.engine_budget import Budget, Cost, fits
from bridge.slots import Slots


@dataclass(frozen=True, slots=True)
class _Share:
    slots: Slots
    cost: Cost
    admit: Callable[[], None]


class EngineBudget:
    """Admits games of several accounts."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._shares: list[_Share] = []

    def share(self, slots: Slots, cost: Cost, admit: Callable[[], None]) -> None:
        """Let an account's games count, each at this cost; `admit` looks at those that wait for a slot of it."""
        share = _Share(slots, cost, admit)
        self._shares.append(share)
        slots.room = partial(self._room, cost)
        slots.freed = partial(self._freed, share, slots.freed)

    def _room(self, cost: Cost) -> bool:
        return fits(self.budget, [(share.cost, share.slots.taken) for share in self._shares], cost)

    def _freed(self, share: _Share, own: Callable[[], None]) -> None:
        """What one account gives back, another one may be waiting for."""
        own()
        for other in self._shares:
            if other is not share:
                other.admit()
