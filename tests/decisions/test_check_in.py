"""Correspondence: which games are looked at again, and how long a move may take."""

import pytest

from bridge.decisions.check_in import DaysTerms, Standing, due, move_time

HOUR_MS = 3_600_000
MINE, THEIRS = Standing(my_turn=True, left_ms=24 * HOUR_MS), Standing(my_turn=False, left_ms=HOUR_MS)


def test_only_our_moves_are_made_and_the_least_time_comes_first() -> None:
    running = {"a": MINE, "b": THEIRS, "c": Standing(True, 2 * HOUR_MS), "d": Standing(True)}
    found = due("abcd", running, whole=True, free=2, urgent_ms=60_000)
    assert found.games == ("c", "a") and found.waiting
    assert not due("abcd", running, whole=True, free=3, urgent_ms=60_000).waiting


def test_two_that_would_be_lost_wait_for_no_slot() -> None:
    """Thirty games, two of them with four minutes left, and a live game in the only slot."""
    running = {f"{number}": MINE for number in range(28)} | dict.fromkeys(("x", "y"), Standing(True, 240_000))
    found = due(tuple(running), running, whole=True, free=0, urgent_ms=DaysTerms().urgent_ms)
    assert set(found.games) == {"x", "y"} and found.waiting
    assert move_time(DaysTerms(), 240_000, 200).move_ms == pytest.approx(60_000, rel=0.01)


def test_what_is_not_in_the_whole_list_is_over_and_else_unknown() -> None:
    assert due("ab", {"b": THEIRS}, whole=True, free=0, urgent_ms=0).games == ("a",)
    assert due("ab", {"b": MINE}, whole=False, free=0, urgent_ms=0).games == ()
    assert due("ab", {"b": MINE}, whole=False, free=2, urgent_ms=0).games == ("b", "a")


@pytest.mark.parametrize(("left_ms", "move_ms"), [(None, 60_000), (10**9, 60_000), (40_200, 10_000), (5, 5), (-9, 5)])
def test_a_move_leaves_time_for_a_second_try(left_ms: int | None, move_ms: int) -> None:
    own = move_time(DaysTerms(), left_ms, 200)
    assert own.move_ms == move_ms and own.deadline_ms >= move_ms and own.clock_ms > 0
