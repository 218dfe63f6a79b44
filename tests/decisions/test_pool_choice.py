"""Which pool a time control means."""

import pytest

from bridge.decisions.pool_choice import (
    DEFAULT_BY_TIME_CONTROL,
    ChallengeRule,
    PoolRules,
    Terms,
    choose_pool,
    parse_time_control,
    safer_control,
)
from bridge.rules.budget import safe_platform_ms
from bridge.rules.pools import POOLS
from bridge.rules.snapshot import TimeControl


@pytest.mark.parametrize(
    ("label", "control"),
    [
        ("6+0", TimeControl(360_000, 0)),
        ("3+2", TimeControl(180_000, 2000)),
        ("0.5+1", TimeControl(30_000, 1000)),
        ("½+0", TimeControl(30_000, 0)),
        ("1/4+0", TimeControl(15_000, 0)),
        ("1.5+0", TimeControl(90_000, 0)),
        ("0+1", TimeControl(0, 1000)),
    ],
)
def test_labels_are_minutes_and_seconds(label: str, control: TimeControl) -> None:
    assert parse_time_control(label) == control


@pytest.mark.parametrize("label", ["6:00", "360", "6+", "+0", "6+0+0", "6+0.5", "-6+0", "six+0", "", "6+-1", "٦+0x"])
def test_anything_else_is_refused_with_the_form_it_must_have(label: str) -> None:
    with pytest.raises(ValueError, match=r"minutes\+seconds"):
        parse_time_control(label)


def test_every_pool_is_reached_and_has_time_enough_or_its_own_control() -> None:
    assert set(DEFAULT_BY_TIME_CONTROL.values()) == set(POOLS)
    for label, pool in DEFAULT_BY_TIME_CONTROL.items():
        initial_ms = parse_time_control(label).initial_ms
        assert initial_ms == POOLS[pool].base_s * 1000 or initial_ms >= safe_platform_ms(POOLS[pool])


def test_the_exact_control_wins() -> None:
    assert choose_pool(DEFAULT_BY_TIME_CONTROL, TimeControl(240_000, 0)) == "ratchet"
    assert choose_pool(DEFAULT_BY_TIME_CONTROL, TimeControl(900_000, 0)) == "mainspring"


def test_one_name_is_for_every_game_and_a_table_only_for_its_own() -> None:
    assert choose_pool("anchor", None) == "anchor"
    assert choose_pool({"½+0": "winder"}, TimeControl(30_000, 0)) == "winder"
    assert choose_pool({"½+0": "winder"}, TimeControl(30_000, 1000)) is None
    assert choose_pool({"½+0": "winder"}, None) is None


TEN = TimeControl(600_000, 0)
RULES = PoolRules(
    {"10+0": "fulcrum"},
    {"friend": "winder"},
    (
        ChallengeRule("eclipse", variant="chess960", opponent="human"),
        ChallengeRule("ratchet", variant="chess960"),
        ChallengeRule("anchor", speed="classical"),
    ),
)


@pytest.mark.parametrize(
    ("terms", "pool"),
    [
        (Terms(TEN, "friend", variant="chess960"), "winder"),
        (Terms(TEN, "other", variant="chess960"), "eclipse"),
        (Terms(TEN, "other", from_bot=True, variant="chess960"), "ratchet"),
        (Terms(TimeControl(1_800_000, 0), "other", speed="classical"), "anchor"),
        (Terms(TEN, "other", speed="rapid"), "fulcrum"),
        (Terms(TimeControl(1_000_000, 0), "other", speed="rapid"), None),
        (Terms(None, "friend"), None),
    ],
)
def test_the_opponent_comes_first_then_the_first_rule_that_fits_then_the_clock(terms: Terms, pool: str | None) -> None:
    assert RULES.choose(terms) == pool


def test_a_longer_platform_clock_is_named_only_where_this_one_may_end_first() -> None:
    assert safer_control(POOLS["anchor"], TimeControl(360_000, 0)) == "9+0"
    assert safer_control(POOLS["anchor"], TimeControl(540_000, 0)) is None
    assert safer_control(POOLS["mainspring"], TimeControl(900_000, 0)) is None
    assert safer_control(POOLS["anchor"], None) is None
