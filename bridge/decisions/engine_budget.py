"""Whether the engines of one more game fit into what the machine gives them: pure figures."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """What the engine of one game needs: processes of its own, and megabytes."""

    processes: int = 0
    memory_mb: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """What all engines of this program may have together; None: no bound."""

    processes: int | None = None
    memory_mb: int | None = None


def fits(budget: Budget, running: Sequence[tuple[Cost, int]], one_more: Cost) -> bool:
    """Whether one more game can begin beside those that run: of each cost so many."""
    processes = one_more.processes + sum(cost.processes * games for cost, games in running)
    memory_mb = one_more.memory_mb + sum(cost.memory_mb * games for cost, games in running)
    within = budget.processes is None or one_more.processes == 0 or processes <= budget.processes
    return within and (budget.memory_mb is None or one_more.memory_mb == 0 or memory_mb <= budget.memory_mb)
