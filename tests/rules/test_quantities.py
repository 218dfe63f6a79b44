"""Derived quantities of rules §7, by the figures that the rules text names."""

from fractions import Fraction

import pytest

from bridge.rules import NAMED, POOLS
from bridge.rules.budget import effective_ceiling_s, gap_ms, safe_platform_ms, thinking_budget_s

BUDGETS = {"winder": 1.4, "ratchet": 2.1, "fulcrum": 5.5, "anchor": 7, "mainspring": 16.7, "eclipse": 20.5}
CEILINGS_MIN = {"winder": 1.8, "ratchet": 2.8, "fulcrum": 7.3, "anchor": 9.3, "mainspring": 22, "eclipse": 27}
SAFE_S = {"winder": 195, "ratchet": 240, "fulcrum": 570, "anchor": 495, "mainspring": 900, "eclipse": 1440}


@pytest.mark.parametrize("pool", POOLS)
def test_budget_ceiling_and_safe_clock(pool: str) -> None:
    dials = POOLS[pool]
    assert abs(thinking_budget_s(dials) - Fraction(BUDGETS[pool])) <= Fraction(5, 100)
    assert abs(effective_ceiling_s(dials) / 60 - Fraction(CEILINGS_MIN[pool])) <= Fraction(35, 100)
    assert safe_platform_ms(dials) == SAFE_S[pool] * 1000


def test_the_gap_is_mine_minus_yours() -> None:
    assert gap_ms(61_000, 58_000) == 3_000


def test_check_swings_by_the_piece_moved() -> None:
    """Gap swing of a check: Q 0, R +1, N/B +2, P +3, castling +1; double check K +7, N, B +6, R +5."""
    prices = POOLS["anchor"].prices
    pawn, knight, bishop, rook, queen, king = prices.toll_ms[1:]
    single = [2 * prices.chip_ms - toll for toll in (queen, rook, knight, bishop, pawn, prices.castling_ms)]
    assert single == [0, 1_000, 2_000, 2_000, 3_000, 1_000]
    assert [2 * prices.double_chip_ms - toll for toll in (king, knight, bishop, rook)] == [7_000, 6_000, 6_000, 5_000]


def test_presets_are_no_rated_pools() -> None:
    assert set(NAMED) - set(POOLS) == {"first-edition-eclipse", "first-edition-fulcrum"}
