"""The machine's clock steps by an hour, forward or back: durations are right, nothing falls, nothing is given up."""

import time
from typing import Any

import pytest

from bridge import event_types


class WallClock:
    """The date, with a step that a test chooses; the steady clock is left alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.step_s = 0
        date_s, date_ns = time.time, time.time_ns
        monkeypatch.setattr(time, "time", lambda: date_s() + self.step_s)
        monkeypatch.setattr(time, "time_ns", lambda: date_ns() + 1_000_000_000 * self.step_s)


@pytest.mark.parametrize("steps_s", [(3600, -3600), (-3600, 3600)], ids=["forward", "back"])
async def test_a_step_of_an_hour_in_a_game(
    table: Any, steps_s: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """K01: a step of the wall clock while either side thinks."""
    clock = WallClock(monkeypatch)
    await table.run(pool="winder", abort_time=2)
    game = table.pair(limit_s=300)
    idle = table.pair()
    await table.play(game, 4)
    clock.step_s = steps_s[0]  # while the opponent thinks
    await table.play(game, 6)
    table.engine.delay_s = 0.3
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    clock.step_s += 2 * steps_s[1]  # while the engine does
    await table.until(lambda: game.plies == 8)
    table.engine.delay_s = 0.0
    await table.play(game, 12)
    await table.resign(game)
    assert not table.recorder.of(event_types.FLAG_PROVISIONAL)
    assert all(limit.deadline_ms > 0 and limit.white_ms <= 60_000 for limit in table.engine.limits)
    assert table.openings == 1, "no stream was taken for dead"
    assert table.daemon.alive
    await table.until(lambda: idle.over)
    assert idle.status.key == "aborted"
    await table.until(lambda: len(table.recorder.of(event_types.VERDICT_FINAL)) == 2)
    (final,) = table.recorder.of(event_types.VERDICT_FINAL, game.id)
    live: Any = final.data["verdict"]
    expected = table.undisturbed(game, "winder")
    assert (live["result"], live["white_ms"], live["black_ms"]) == ("0-1", expected.white_ms, expected.black_ms)


async def test_the_abort_timer_outlasts_a_step(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = WallClock(monkeypatch)
    await table.run(abort_time=1)
    game = table.pair()
    await table.until(lambda: table.recorder.of(event_types.GAME_STARTED))
    clock.step_s = 3600
    assert not game.over
    started = time.monotonic()
    await table.until(lambda: game.over, 3.0)
    assert 0.3 < time.monotonic() - started < 2.0
