"""Dials that cannot be: every one is named, with the nearest that can (interfaces, "Dials")."""

import pytest

from bridge.errors import DialError
from bridge.rules import POOLS, named, parse_dials


@pytest.mark.parametrize(
    ("dials", "told"),
    [
        ({"tol_multiplier": 2}, "unknown dial 'tol_multiplier'; did you mean 'toll_multiplier'?"),
        ({"pool": "ancor"}, "unknown pool 'ancor'; did you mean 'anchor'?"),
        ({"pool": 5}, "unknown pool '5'"),
        ({"economy": "stel"}, "unknown economy 'stel'; did you mean 'steal'?"),
        ({"economy": {"gain": 1}}, "economy must be one of steal, bounty, burn or {gain, loss}"),
        ({"economy": {"gain": -1, "loss": 0}}, "economy.gain must be 0 or more, not -1"),
        ({"base_s": 0}, "base_s must be above 0, not 0"),
        ({"base_s": 0.0005}, "base_s must be a millisecond (0.001) at least, not 0.0005"),
        ({"base_s": 1e-7}, "base_s must be a millisecond (0.001) at least, not 1e-07"),
        ({"base_s": "360"}, "base_s must be a number, not '360'"),
        ({"increment_s": True}, "increment_s must be a number, not True"),
        ({"increment_s": float("nan")}, "increment_s must be 0 or more, not nan"),
        ({"chip_s": -2}, "chip_s must be 0 or more, not -2"),
        ({"chip_s": 1e12}, "chip_s is too large"),
        ({"values_s": {"kween": 1}}, "unknown piece in values_s 'kween'; did you mean 'queen'?"),
        ({"values_s": {"king": 1}}, "unknown piece in values_s 'king'"),
        ({"tolls_s": {"castling": -1}}, "tolls_s.castling must be 0 or more, not -1"),
        ({"tolls_s": 3}, "tolls_s must be a table of piece: seconds, not 3"),
        ({"double_flag": "both"}, "double_flag must be one of stack, mover_loses, draw, not 'both'"),
        ({"berserk": None}, "berserk must be one of ignore, halve, not None"),
        ({"f_mode": 2, "chip_multiplier": 1}, "leave out chip_multiplier, or f_mode"),
        ({"pool": "first-edition-eclipse", "toll_multiplier": 1}, "leave out toll_multiplier, or set f_mode: null"),
        ({"f_mode": -1}, "f_mode must be 0 or more, not -1"),
    ],
)
def test_what_is_wrong_is_named(dials: dict[str, object], told: str) -> None:
    with pytest.raises(DialError) as caught:
        parse_dials(dials)
    assert [problem for problem in caught.value.problems if problem.startswith(told) or told in problem]
    assert "\n" not in str(caught.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(DialError) as caught:
        parse_dials({"base_s": -1, "chip": 2, "economy": "none", "values_s": {"pawn": "five"}})
    assert len(caught.value.problems) == 4


def test_a_pool_keeps_its_name_until_a_dial_differs() -> None:
    assert parse_dials({}).pool == "anchor"
    assert parse_dials({"pool": "Eclipse"}).pool == "eclipse"
    assert parse_dials({"pool": "eclipse", "capture_multiplier": 4}).pool == "eclipse"
    assert parse_dials({"pool": "eclipse", "chip_s": 2.5}).pool is None
    assert named("WINDER").dials == POOLS["winder"]


def test_own_pools_answer_to_their_names() -> None:
    own = {**POOLS, "club": parse_dials({"pool": "anchor", "base_s": 600}).dials}
    assert parse_dials({"pool": "club"}, own).dials.base_s == 600
    with pytest.raises(DialError, match="unknown pool 'club'"):
        named("club")


def test_a_preset_without_its_f_mode_keeps_the_multipliers() -> None:
    rules = parse_dials({"pool": "first-edition-eclipse", "f_mode": None, "toll_multiplier": 1})
    assert rules.pool is None
    assert rules.dials.f_mode is None
    assert rules.dials.capture_multiplier == 4
    assert rules.dials.toll_multiplier == 1


def test_shares_that_look_like_seconds_warn() -> None:
    assert parse_dials({"economy": {"gain": 5, "loss": 0}}).dials.warnings()
    assert not parse_dials({"economy": {"gain": 4.9, "loss": 0}}).dials.warnings()
