"""Elo, its error, and the sequential test."""

import math
import random

import pytest

from bridge.lab.statistics import Sprt, elo, estimate, expected, pentanomial


@pytest.mark.parametrize(("score", "rating"), [(0.5, 0), (0.64, 100), (0.76, 200), (0.36, -100)])
def test_a_score_means_a_rating(score: float, rating: float) -> None:
    assert elo(score) == pytest.approx(rating, abs=1)
    assert expected(rating) == pytest.approx(score, abs=0.002)


def test_equals_have_no_sign() -> None:
    assert f"{elo(0.5):+.0f}" == "+0"


def test_nothing_lost_is_no_finite_rating() -> None:
    assert elo(1) == math.inf
    assert elo(0) == -math.inf


def test_pairs_are_counted_in_five_classes() -> None:
    assert pentanomial([0, 0.25, 0.5, 0.5, 0.75, 1, 1]) == (1, 1, 2, 1, 2)


def test_the_error_is_that_of_the_pairs_not_of_the_games() -> None:
    split = estimate([0.5] * 50)
    assert (split.score, split.margin) == (0.5, 0)
    swept = estimate([0.0, 1.0] * 25)
    assert swept.margin == pytest.approx(1.96 * 0.505 / math.sqrt(50), rel=0.01)
    assert swept.elo_low < 0 < swept.elo_high


def test_without_pairs_nothing_is_known() -> None:
    assert estimate([]).margin == 0.5


@pytest.mark.parametrize(("advantage", "decision"), [(0.1, "H1"), (-0.1, "H0")])
def test_the_sequential_test_finds_what_is_so(advantage: float, decision: str) -> None:
    lot = random.Random(3)
    test = Sprt(0, 20)
    pairs: list[float] = []
    while test.decision(pairs) is None and len(pairs) < 2_000:
        pairs.append(lot.choices((0, 0.25, 0.5, 0.75, 1), (1 - advantage * 4, 1, 3, 1, 1 + advantage * 4))[0])
    assert test.decision(pairs) == decision


def test_the_sequential_test_errs_rarely() -> None:
    """Under H0 it accepts H1 in about `alpha` of the runs."""
    lot, wrong = random.Random(5), 0
    for _ in range(100):
        test = Sprt(0, 40)
        pairs: list[float] = []
        while (decision := test.decision(pairs)) is None:
            pairs.append(lot.choice((0.0, 0.5, 0.5, 1.0)))
        wrong += decision == "H1"
    assert wrong <= 12


def test_a_few_equal_pairs_decide_nothing() -> None:
    assert Sprt(0, 10).decision([0.5] * 5) is None
    assert Sprt(0, 10).decision([]) is None
