"""The bounds of the table, by the program's own figures: everywhere else they are made quicker."""

import asyncio
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest

from bridge.platforms.lichess.timings import Timings

OWN = Timings()
REOPENED_S, SILENCE_S, BUSY_S = 1.0, 16.0, 1.0
"""BUSY_S: what this machine may take beside."""


def openings(table: Any, game: Any) -> dict[str, int]:
    """How often each stream was opened."""
    paths = {"event": "/api/stream/event", "game": f"/api/bot/game/stream/{game.id}"}
    return {
        kind: sum(line.path == path and line.status == 200 for line in table.requests) for kind, path in paths.items()
    }


async def reopened_s(table: Any, game: Any, kinds: tuple[str, ...], lose: Callable[[str], None]) -> float:
    """How long it takes until all these streams are open once more."""
    before, began_s = openings(table, game), time.monotonic()
    for kind in kinds:
        lose(kind)
    await table.until(lambda: all(openings(table, game)[kind] > before[kind] for kind in kinds), what="open again")
    return time.monotonic() - began_s


@pytest.mark.parametrize("kind", ["event", "game"])
async def test_a_lost_stream_is_open_again_within_a_second(table: Any, kind: str) -> None:
    await table.run(timings=OWN)
    game = table.pair()
    await table.play(game, 4)
    waits_s = []
    for fault in (table.faults.end, table.faults.drop, table.faults.end):
        waits_s.append(await reopened_s(table, game, (kind,), fault))
        await table.play(game, game.plies + 2)
        await asyncio.sleep(OWN.reopen_s)
    assert statistics.median(waits_s) <= REOPENED_S, waits_s


async def test_silence_is_noticed_within_sixteen_seconds(table: Any) -> None:
    """Of both streams at once; what is played meanwhile is made up for."""
    await table.run(timings=OWN)
    game = table.pair()
    await table.play(game, 4)
    assert await reopened_s(table, game, ("event", "game"), table.faults.silence) <= SILENCE_S + BUSY_S
    await table.play(game, 8)
    await table.resign(game)
    await table.check_undisturbed(game)


def test_the_waits_that_are_too_long_to_try() -> None:
    assert OWN.rate_limit_s == 60.0
    assert OWN.backoff_s == (1.0, 30.0)
    assert OWN.release_s == 0.1, "ten a second"
