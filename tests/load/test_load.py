"""The load scripts in little: the same processes and counts, with bounds that a busy machine can keep."""

from pathlib import Path

import pytest

from tests.load import played, watched
from tests.load.league import Round


@pytest.mark.timeout(300)
async def test_many_games_at_once_are_all_played_to_their_ends(tmp_path: Path) -> None:
    outcome = await played.run(tmp_path, games=40, seconds=15, every_s=1.5, echo_games=5)
    assert outcome.games >= 40
    assert outcome.plies > 40
    assert outcome.broken(cpu_ms=4, ratio=100, drift=0.25) == [], outcome.show()


@pytest.mark.timeout(300)
async def test_many_watched_games_all_get_their_verdicts(tmp_path: Path) -> None:
    outcome = await watched.run(tmp_path, Round(games=200, seconds=20, every_s=0.7))
    assert outcome.games == 200
    assert outcome.live >= 8
    assert outcome.requests["/api/stream/games/…"] == 1
    assert outcome.requests["/api/games/export/_ids"] <= 20
    assert outcome.broken(drift=0.5) == [], outcome.show()
