"""What the settings of matchmaking, tournaments and the engines' budget mean."""

from pathlib import Path

import pytest

from bridge.decisions.engine_budget import Cost
from bridge.decisions.matchmaking import Kind
from bridge.engines import kiri
from bridge.errors import SettingsError
from bridge.rules.snapshot import TimeControl
from bridge.settings import load
from bridge.settings.engine_limits import cost_of_values
from bridge.settings.play import Play

FILE = """\
accounts:
  - {{platform: lichess, token: "${{TOKEN}}", play: {{{engine}, {play}}}}}
engines: {{main: {{kind: uci, path: stockfish, options: {{hash: 100}}}}, small: {{kind: random}}}}
{more}
"""


def kinds(**matchmaking: object) -> dict[str, Kind]:
    play = Play.model_validate({"engine": "main", "matchmaking": {"allow_matchmaking": True, **matchmaking}})
    policy = play.matchmaking.policy(play.pool_clocks, play.has_pool)
    return {kind.name: kind for kind in policy.kinds}


def read(tmp_path: Path, play: str, more: str = "", engine: str = "engine: main") -> list[str]:
    file = tmp_path / "c.yml"
    file.write_text(FILE.format(engine=engine, play=play, more=more))
    said: list[str] = []
    load(file, mode="check", warn=said.append, variables={"TOKEN": "a"})
    return said


def test_it_is_off_and_offers_casual_games_at_the_clocks_of_the_pools() -> None:
    assert not Play.model_validate({"engine": "main"}).matchmaking.allow_matchmaking
    (kind,) = kinds().values()
    assert kind.modes == (False,) and kind.variants == ("standard",)
    assert TimeControl(360_000, 0) in kind.clocks and len(kind.clocks) == 9
    assert (kind.min_rating, kind.max_rating, kind.weight) == (600, 4000, None)


def test_casual_games_have_only_clocks_that_have_a_pool_and_rated_ones_any() -> None:
    assert kinds(challenge_initial_time=[180, 360])[""].clocks == (TimeControl(360_000, 0),)
    rated = kinds(challenge_initial_time=180, challenge_increment=[0, 2], challenge_mode="rated")[""]
    assert rated.clocks == (TimeControl(180_000, 0), TimeControl(180_000, 2_000)) and rated.modes == (True,)
    assert kinds(challenge_days=3, challenge_mode="rated")[""].days == (3,)


def test_types_stand_alone_and_overrides_beside_what_the_keys_say() -> None:
    found = kinds(opponent_min_rating=1000, types={"a": {"weight": 3}, "b": {"opponent_min_rating": 2000}})
    assert {name: (kind.min_rating, kind.weight) for name, kind in found.items()} == {
        "a": (1000, 3.0),
        "b": (2000, None),
    }
    beside = kinds(overrides={"strong": {"pairs": True}})
    assert set(beside) == {"", "strong"} and beside[""].weight == beside["strong"].weight, "neither is crowded out"


@pytest.mark.parametrize(
    ("play", "cause"),
    [
        ("matchmaking: {allow_matchmaking: true, challenge_initial_time: 180}", "nothing to offer"),
        ("matchmaking: {allow_matchmaking: true, challenge_days: 3}", "nothing to offer"),
        ("matchmaking: {challenge_initial_time: 100}", "100 s"),
        ("matchmaking: {allow_matchmakin: true}", "allow_matchmaking"),
        ("tournaments: {join: [short]}", "8 letters"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, play: str, cause: str) -> None:
    with pytest.raises(SettingsError, match=cause):
        read(tmp_path, play)


def test_a_programs_cost_is_a_process_its_hash_and_itself() -> None:
    assert cost_of_values({"kind": "uci", "options": {"Hash": 64}}) == Cost(1, 214)
    assert cost_of_values({"kind": "xboard", "options": {}}) == Cost(1, 166)
    assert cost_of_values({"kind": "kiri", "options": {}}) == Cost(1, 150 + int(kiri._DEFAULTS["Hash"]))
    assert cost_of_values({"kind": "kiri", "builtin": True}) == Cost() == cost_of_values({"kind": "random"})


def test_more_games_than_the_engines_have_room_for_are_doubtful(tmp_path: Path) -> None:
    assert read(tmp_path, "concurrency: 4", "engine_limits: {processes: 4, memory_mb: 1000}") == []
    (processes,) = read(tmp_path, "concurrency: 5", "engine_limits: {processes: 4}")
    assert "c.yml:2:" in processes and "5 games" in processes and "processes is 4" in processes
    (memory,) = read(tmp_path, "concurrency: 5", "engine_limits: {memory_mb: 1000}")
    assert "are 1250, and engine_limits: memory_mb is 1000" in memory


def test_an_engine_that_never_fits_is_told_as_that(tmp_path: Path) -> None:
    """No game of the account begins then, whichever of its engines it is."""
    (memory,) = read(tmp_path, "concurrency: 1", "engine_limits: {memory_mb: 200}")
    assert "no game of it can begin: one needs 250, and engine_limits: memory_mb is 200" in memory
    some = "engine: small, engines: [{engine: main, speed: blitz}]"
    (again,) = read(tmp_path, "concurrency: 2", "engine_limits: {memory_mb: 300}", some)
    assert "2 games at 250 each are 500" in again
