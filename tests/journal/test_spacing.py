"""A few transactions begin at once, many share theirs."""

from hypothesis import given
from hypothesis import strategies as st

from bridge.journal.spacing import GAP_S, MANY, WITHIN_S, Spacing


def begun(wanted_s: list[float]) -> list[float]:
    spacing, begun_s = Spacing(), list[float]()
    now_s = 0.0
    for at_s in wanted_s:
        now_s = max(now_s, at_s)
        now_s += spacing.wait_s(now_s)
        spacing.begins(now_s)
        begun_s.append(now_s)
    return begun_s


def test_a_few_do_not_wait() -> None:
    assert begun([0.0] * MANY) == [0.0] * MANY
    steady = [WITHIN_S / MANY * 1.1 * number for number in range(100)]
    assert begun(steady) == steady


def test_many_share_theirs() -> None:
    begun_s = begun([0.0] * 100)
    gaps = [after - before for before, after in zip(begun_s[MANY - 1 :], begun_s[MANY:], strict=False)]
    assert all(abs(gap - GAP_S) < 1e-9 for gap in gaps)


@given(st.lists(st.floats(0, 2), max_size=100).map(sorted))
def test_none_is_held_up_for_longer_than_the_gap(wanted_s: list[float]) -> None:
    now_s, spacing = 0.0, Spacing()
    for at_s in wanted_s:
        now_s = max(now_s, at_s)
        assert 0 <= spacing.wait_s(now_s) <= GAP_S
        spacing.begins(now_s)
