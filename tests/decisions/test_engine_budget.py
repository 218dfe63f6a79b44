"""Whether the engines of one more game fit."""

import pytest

from bridge.decisions.engine_budget import Budget, Cost, fits

STOCKFISH, SMALL, NONE = Cost(1, 400), Cost(1, 160), Cost()


@pytest.mark.parametrize(
    ("budget", "running", "one_more", "room"),
    [
        (Budget(), [(STOCKFISH, 99)], STOCKFISH, True),
        (Budget(processes=2), [(STOCKFISH, 1)], STOCKFISH, True),
        (Budget(processes=2), [(STOCKFISH, 1), (SMALL, 1)], STOCKFISH, False),
        (Budget(memory_mb=960), [(STOCKFISH, 2)], SMALL, True),
        (Budget(memory_mb=959), [(STOCKFISH, 2)], SMALL, False),
        (Budget(processes=1, memory_mb=1), [(STOCKFISH, 1)], NONE, True),
    ],
)
def test_all_accounts_share_it(budget: Budget, running: list[tuple[Cost, int]], one_more: Cost, room: bool) -> None:
    assert fits(budget, running, one_more) is room
