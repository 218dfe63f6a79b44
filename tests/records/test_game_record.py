"""Game records `kirichess.game/1`: what they say, and every way to contradict oneself."""

from typing import Any

import chess
import pytest

from bridge.errors import RecordError
from bridge.records.game import Game
from bridge.records.game_record import is_game_record, read_game_record
from bridge.rules.pools import named
from bridge.rules.snapshot import RECORD_END, TimeControl


def record(**changes: Any) -> Game:
    given = {"id": "r", "moves": ["e2e4", "e7e5"], **changes}
    return read_game_record(given, place="file: game 1, line 1", name="file#1")


def test_thinking_times_are_exact_and_used_as_given() -> None:
    game = record(think_ms=[1_000, None], final_think_ms=500, site="https://lichess.org/x")
    assert (game.source, game.precision_ms, game.free_first_moves) == ("think", 0, True)
    verdict = game.judge(named("anchor"))
    assert [row.think_ms for row in verdict.rows] == [1_000, None], "also on Lichess's free first move (R2)"
    assert (verdict.white_ms, verdict.certain) == (360_000 - 1_000 - 1_000 - 500, False)


def test_the_last_thinking_time_counts_only_where_no_end_has_occurred() -> None:
    mate = record(moves=["f2f3", "e7e5", "g2g4", "d8h4"], think_ms=[0] * 4, final_think_ms=9_999)
    assert mate.judge(named("anchor")).white_ms == 358_000


@pytest.mark.parametrize("status", ["created", "started"])
def test_the_last_thinking_time_counts_in_a_game_that_the_platform_goes_on_with(status: str) -> None:
    running = record(think_ms=[0, 0], final_think_ms=400_000, platform={"status": status}).judge(named("anchor"))
    assert (running.outcome.reason, running.white_ms, running.final) == ("flag", 359_000 - 400_000, False)
    standing = record(think_ms=[0, 0], final_think_ms=4_000, platform={"status": status}).judge(named("anchor"))
    assert (standing.outcome.reason, standing.white_ms, standing.platform) == ("unfinished", 355_000, None)


def test_clocks_with_their_control() -> None:
    control = {"initial_ms": 60_000, "increment_ms": 1_000}
    game = record(clocks_ms=[59_000, None], time_control=control)
    assert (game.source, game.precision_ms, game.time_control) == ("clocks", 0, TimeControl(60_000, 1_000))
    assert [row.think_ms for row in game.judge(named("anchor")).rows] == [2_000, None]
    free = record(clocks_ms=[60_000, 60_000], time_control=control, site="https://lichess.org/x")
    assert [row.think_ms for row in free.judge(named("anchor")).rows] == [0, 0]


def test_without_times_the_moves_are_alone_and_without_platform_nothing_is_known_of_it() -> None:
    game = record()
    assert (game.source, game.precision_ms, game.snapshot.status) == ("none", None, RECORD_END)
    verdict = game.judge(named("anchor"))
    assert (verdict.platform, verdict.outcome.reason, verdict.final) == (None, "unfinished", True)


def test_platform_berserk_and_names() -> None:
    game = record(platform={"status": "resign", "winner": "black"}, berserk=["white"], white="Ann", black=None)
    assert (game.snapshot.winner, game.snapshot.berserk) == (chess.BLACK, frozenset({chess.WHITE}))
    assert (game.white, game.black) == ("Ann", "")
    assert game.judge(named("anchor")).outcome.reason == "resignation"


def test_rules_are_its_own_even_when_empty() -> None:
    assert record().rules is None
    assert record(rules={}).rules == {}
    assert record(rules={"pool": "winder"}).rules == {"pool": "winder"}


def test_an_id_of_its_own_or_its_place_in_the_file() -> None:
    assert record().game_id == "r"
    assert record(id=None).game_id == "file#1"


def test_keys_it_does_not_know_are_left_alone_but_not_another_schema() -> None:
    assert record(comment="fine").game_id == "r"
    assert is_game_record({"schema": "kirichess.game/1"})
    assert not is_game_record({"schema": "kirichess.verdict/1", "moves": []})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"moves": None}, "moves are missing"),
        ({"moves": "e2e4"}, "moves must be an array"),
        ({"moves": [1]}, "moves must be UCI strings"),
        ({"think_ms": [1]}, "lengths disagree: 2 moves, 1 think_ms"),
        ({"clocks_ms": [1, 2, 3], "time_control": {"initial_ms": 1}}, "lengths disagree: 2 moves, 3 clocks_ms"),
        ({"think_ms": [1, 2], "clocks_ms": [1, 2], "time_control": {"initial_ms": 1}}, "give one of them"),
        ({"clocks_ms": [1, 2]}, "clocks_ms need a time_control"),
        ({"think_ms": [1, -2]}, "think_ms of ply 2 must be whole milliseconds"),
        ({"think_ms": [1.5, 2]}, "think_ms of ply 1 must be whole milliseconds"),
        ({"think_ms": [True, 2]}, "think_ms of ply 1 must be whole milliseconds"),
        ({"think_ms": [1, "2"]}, "think_ms of ply 2 must be whole milliseconds"),
        ({"final_think_ms": -1}, "final_think_ms must be whole milliseconds"),
        ({"time_control": {}}, "time_control needs initial_ms"),
        ({"time_control": 60}, "time_control must be an object"),
        ({"chess960": "yes"}, "chess960 must be true or false"),
        ({"start_fen": 3}, "start_fen must be a string"),
        ({"berserk": ["grey"]}, "berserk must be white or black"),
        ({"platform": {}}, "platform needs a status"),
        ({"platform": {"status": "resign", "winner": "1-0"}}, "platform.winner must be white or black"),
        ({"rules": "anchor"}, "rules must be an object"),
        ({"id": 7}, "id must be a string"),
    ],
)
def test_contradictions_are_named_by_their_key(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(RecordError, match=says):
        record(**changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"moves": ["e2e4", "e7e4"]}, "illegal move 'e7e4'"),
        ({"moves": [], "start_fen": "nonsense"}, "bad FEN 'nonsense'"),
    ],
)
def test_what_only_the_board_can_tell_comes_with_the_place_when_it_is_judged(
    changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(RecordError, match=f"^file: game 1, line 1: {says}"):
        record(**changes).judge(named("anchor"))
