"""How long to think, and why."""

import chess
import pytest

from bridge.engines.time_plan import LEAST_MS, explain_time, plan_time, stockfish_share
from bridge.rules.pools import POOLS, parse_dials

START = chess.Board()


def test_where_captures_burn_the_tolls_to_come_are_set_aside() -> None:
    board = chess.Board("r2q1rk1/pp3ppp/2n2n2/3p4/3P4/2N2N2/PP3PPP/R2Q1RK1 w - - 0 12")
    plan = plan_time(board, 600_000, POOLS["ratchet"])
    assert plan.tolls_ms > 60_000
    assert plan.captures_ms < 0
    assert plan.think_ms == pytest.approx(plan.disposable_ms / plan.moves_left, rel=0.1)
    dear = parse_dials({"pool": "ratchet", "toll_multiplier": 1.3}).dials
    assert plan_time(board, 600_000, dear).think_ms < plan.think_ms
    rich = parse_dials({"pool": "ratchet", "increment_s": 1}).dials
    assert plan_time(board, 600_000, rich, increment_ms=1_000).think_ms > plan.think_ms


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("share", [1.0, 0.3, 0.05, 0.005, 0.0])
def test_never_more_than_a_part_of_the_clock(pool: str, share: float) -> None:
    dials = POOLS[pool]
    clock_ms = round(dials.prices.base_ms * share)
    plan = plan_time(START, clock_ms, dials)
    assert LEAST_MS <= plan.think_ms <= max(LEAST_MS, clock_ms // 8)


def test_what_the_next_hit_can_take_is_kept() -> None:
    queen_hangs = chess.Board("3rk3/8/8/8/8/8/8/3QK3 w - - 0 1")
    plan = plan_time(queen_hangs, 31_400, POOLS["anchor"])
    assert plan.bound == "the next hit"
    assert plan.hit_ms == 27_000
    assert plan.clock_ms - plan.think_ms >= 27_000 + 4_000


def test_a_short_platform_clock_bounds_it() -> None:
    plan = plan_time(START, 240_000, POOLS["ratchet"], platform_ms=6_000)
    assert (plan.think_ms, plan.bound) == (round(6_000 * stockfish_share(0)), "the platform's clock")


def test_it_explains_itself_in_one_line() -> None:
    text = explain_time(plan_time(START, 240_000, POOLS["ratchet"]))
    assert "\n" not in text
    assert "of 4:00" in text
    assert "moves to come cost" in text
    assert "bound by disposable time" in text
