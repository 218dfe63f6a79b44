"""An archive that keeps silent when a game is judged is asked again later, by itself, at the next start too."""

from typing import Any

import pytest
from click.testing import CliRunner

from bridge import event_types
from bridge.cli.main import main


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.session._ARCHIVE_PAUSES_S", (0.0, 0.05))
    monkeypatch.setattr("bridge.late_archive._AGAIN_MS", (500, 1000, 60_000))


async def judged_with_a_gap(table: Any) -> Any:
    """A game of which two plies came in one line, and of which the archive told nothing in time."""
    game = table.pair()
    await table.play(game, 4)
    await table.silence_in_thought(game)
    await table.until(lambda: game.plies == 6)
    table.move(game, table.LINE[6])
    await table.play(game, 12)
    await table.resign(game)
    assert not (await table.final(game))["certain"]
    return game


def silent(table: Any, times: int) -> None:
    for _ in range(times):
        table.faults.next("export", status=404, body={"error": "Not found"})


async def check_certain(table: Any, game: Any) -> None:
    await table.until(lambda: table.recorder.of(event_types.VERDICT_CHANGED, game.id), what="it is judged again")
    [changed] = table.recorder.of(event_types.VERDICT_CHANGED, game.id)
    verdict, expected = changed.data["verdict"], table.undisturbed(game)
    assert verdict["certain"]
    assert abs(verdict["white_ms"] - expected.white_ms) <= 40 and abs(verdict["black_ms"] - expected.black_ms) <= 40
    assert changed.data["cause"] == "judged again once the archive answered, from the source stream"


def asked(table: Any) -> int:
    return len([line for line in table.requests if "/game/export/" in line.path])


async def test_it_is_asked_again_by_and_by(table: Any) -> None:
    await table.run()
    silent(table, 3)
    game = await judged_with_a_gap(table)
    await check_certain(table, game)
    assert asked(table) == 4
    # What is judged for good by now is asked for no more, whenever the program starts.
    await table.kill()
    await table.run()
    await table.play(table.pair(), 4)
    assert asked(table) == 4
    await table.kill()
    told = CliRunner().invoke(main, ["journal", "verify", "--journal", str(table.journal)])
    assert (told.exit_code, told.stderr) == (0, ""), told.stdout


async def test_it_is_asked_at_the_next_start(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.late_archive._AGAIN_MS", (3_600_000,))
    await table.run()
    silent(table, 2)
    game = await judged_with_a_gap(table)
    await table.kill()
    assert asked(table) == 2
    monkeypatch.setattr("bridge.late_archive._AGAIN_MS", (1,))
    await table.run()
    await check_certain(table, game)
    assert asked(table) == 3
