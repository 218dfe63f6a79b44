"""Move overhead is measured: the setting is where it starts and its floor."""

from bridge.decisions.overhead import Overhead


def test_the_setting_is_start_and_floor() -> None:
    overhead = Overhead()
    assert (overhead.p95_ms, overhead.ms(200)) == (None, 200)
    overhead.add(50)
    assert (overhead.p95_ms, overhead.ms(200)) == (50, 200)


def test_a_slow_way_is_kept_back_for_and_one_outlier_is_not() -> None:
    overhead = Overhead()
    for trip_ms in (*[300] * 39, 2_900):
        overhead.add(trip_ms)
    assert overhead.ms(200) == 300
    for _ in range(3):
        overhead.add(900)
    assert overhead.ms(200) == 900


def test_an_outage_is_no_round_trip() -> None:
    overhead = Overhead()
    overhead.add(60_000)
    assert overhead.ms(200) == 200
