"""A few games never wait, many share their transactions."""

from hypothesis import given
from hypothesis import strategies as st

from bridge.journal.spacing import GAP_S, MANY, WITHIN_S, Spacing


def begun(wanted: list[tuple[float, str]]) -> list[float]:
    """When each wanted transaction, (when, game), begins."""
    spacing, now_s, begun_s = Spacing(), 0.0, list[float]()
    for at_s, game in wanted:
        now_s = max(now_s, at_s)
        now_s += spacing.wait_s(now_s)
        spacing.begins(now_s, [game])
        begun_s.append(now_s)
    return begun_s


def test_a_few_games_do_not_wait_however_fast_they_are() -> None:
    assert begun([(0.0, f"g{number % (MANY - 1)}") for number in range(100)]) == [0.0] * 100


def test_many_that_are_slow_do_not_wait() -> None:
    steady = [WITHIN_S / (MANY - 1) * 1.01 * number for number in range(100)]
    assert begun([(at_s, f"g{number}") for number, at_s in enumerate(steady)]) == steady


def test_many_share_theirs() -> None:
    begun_s = begun([(0.0, f"g{number}") for number in range(10 * MANY)])
    gaps = [after - before for before, after in zip(begun_s[MANY:], begun_s[MANY + 1 :], strict=False)]
    assert gaps
    assert all(abs(gap - GAP_S) < 1e-9 for gap in gaps)


@given(st.lists(st.tuples(st.floats(0, 2), st.sampled_from("abcdefghijklmn")), max_size=100).map(sorted))
def test_none_is_held_up_for_longer_than_the_gap(wanted: list[tuple[float, str]]) -> None:
    now_s, spacing = 0.0, Spacing()
    for at_s, game in wanted:
        now_s = max(now_s, at_s)
        assert 0 <= spacing.wait_s(now_s) <= GAP_S
        spacing.begins(now_s, [game])


def test_it_is_crowded_only_while_many_games_write() -> None:
    spacing = Spacing()
    spacing.begins(0.0, [f"g{number}" for number in range(MANY - 1)])
    assert not spacing.crowded
    spacing.begins(0.0, ["another"])
    assert spacing.crowded
    assert spacing.wait_s(2 * WITHIN_S) == 0
    assert not spacing.crowded
