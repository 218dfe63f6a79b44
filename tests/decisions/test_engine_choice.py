"""Which engine plays which game."""

from dataclasses import replace

import pytest

from bridge.decisions.engine_choice import EngineRule, Occasion, choose_engine
from bridge.rules.snapshot import TimeControl

GAME = Occasion("anchor", "rapid", "standard", "human", 1500, "white")
RULES = [
    EngineRule("pool", pool="anchor"),
    EngineRule("weak", opponent="human", max_rating=1200),
    EngineRule("strong", opponent="bot", min_rating=2000, color="black"),
    EngineRule("speed", speed="bullet", pool="anchor"),
    EngineRule("late", pool="anchor"),
    EngineRule("960", variant="chess960"),
    EngineRule("three", time_control=TimeControl(180_000, 2_000), mode="rated"),
    EngineRule("arena", mode="rated", tournament=True),
]


@pytest.mark.parametrize(
    ("game", "engine"),
    [
        (GAME, "pool"),
        (replace(GAME, pool="standard"), "usual"),
        (replace(GAME, rating=1200), "weak"),
        (replace(GAME, rating=None), "pool"),
        (replace(GAME, opponent="bot", rating=2000, color="black"), "strong"),
        (replace(GAME, opponent="bot", rating=1999, color="black"), "pool"),
        (replace(GAME, speed="bullet"), "speed"),
        (replace(GAME, pool="standard", variant="chess960"), "960"),
        (replace(GAME, pool="standard", mode="rated", time_control=TimeControl(180_000, 2_000)), "three"),
        (replace(GAME, pool="standard", time_control=TimeControl(180_000, 2_000)), "usual"),
        (replace(GAME, pool="standard", mode="rated", tournament=True), "arena"),
    ],
)
def test_the_longest_match_counts_and_the_first_of_equals(game: Occasion, engine: str) -> None:
    assert choose_engine("usual", RULES, game) == engine
