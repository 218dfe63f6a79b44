"""Few transactions begin at once, many share theirs."""

from hypothesis import given
from hypothesis import strategies as st

from bridge.journal.spacing import BURST, BURST_S, Spacing


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
    assert begun([0.0] * BURST) == [0.0] * BURST
    assert begun([0.1 * number for number in range(40)]) == [0.1 * number for number in range(40)]


@given(st.lists(st.floats(0, 2), max_size=100).map(sorted))
def test_no_more_than_the_burst_begin_within_its_time(wanted_s: list[float]) -> None:
    begun_s = begun(wanted_s)
    for first, after in zip(begun_s, begun_s[BURST:], strict=False):
        assert after - first >= BURST_S - 1e-9
    assert all(
        at_s <= wanted + BURST_S * (1 + index // BURST)
        for index, (wanted, at_s) in enumerate(zip(wanted_s, begun_s, strict=True))
    )
