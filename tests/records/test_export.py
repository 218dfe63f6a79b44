"""Lichess export JSON: units, the last entry of `clocks`, berserk, names, and what is refused (API §1.8, §2.3)."""

from typing import Any

import chess
import pytest

from bridge.errors import RecordError
from bridge.records.export import ExportedGame, read_export
from bridge.rules.pools import named
from bridge.rules.snapshot import TimeControl
from bridge.rules.verdict import Verdict


def export(**changes: Any) -> dict[str, Any]:
    return {
        "id": "abcdefgh",
        "rated": False,
        "variant": "standard",
        "speed": "blitz",
        "status": "resign",
        "winner": "white",
        "players": {
            "white": {"user": {"id": "ann", "name": "Ann", "title": "BOT"}, "rating": 1800},
            "black": {"aiLevel": 3},
        },
        "moves": "e4 e5 Nf3 Nc6",
        "clocks": [18000, 18000, 17750, 18150, 16150],
        "clock": {"initial": 180, "increment": 2, "totalTime": 260},
        **changes,
    }


def verdict(game: ExportedGame) -> Verdict:
    return game.game(place="file: game 1").judge(named("anchor"))


def test_clocks_are_centiseconds_and_the_last_one_is_the_side_to_moves() -> None:
    """White's third move: 180 s − 177.5 s + 2 s = 4.5 s; at the end he had thought 177.5 − 161.5 = 16 s more."""
    game = read_export(export())
    assert (game.source, game.precision_ms, game.time_control) == ("export", 40, TimeControl(180_000, 2_000))
    assert (game.snapshot.white_ms, game.snapshot.black_ms) == (161_500, None)
    judged = verdict(game)
    assert [row.think_ms for row in judged.rows] == [0, 0, 4_500, 500]
    assert judged.white_ms == 360_000 - 1_000 - 4_500 - 2_000 - 16_000


def test_black_moves_first_from_his_own_position() -> None:
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"
    game = read_export(export(variant="fromPosition", initialFen=fen, moves="e5 e4 Nc6", clocks=[18000] * 3 + [15000]))
    assert (game.start_fen, game.snapshot.moves) == (fen, ["e7e5", "e2e4", "b8c6"])
    assert (game.snapshot.white_ms, game.snapshot.black_ms) == (150_000, None)


def test_castling_is_spelled_as_the_platform_spells_it() -> None:
    moves = "e4 e5 Nf3 Nf6 Bc4 Bc5 O-O"
    assert read_export(export(moves=moves, clocks=None)).snapshot.moves[-1] == "e1g1"
    assert read_export(export(moves=moves, clocks=None, variant="chess960")).snapshot.moves[-1] == "e1h1"


def test_first_moves_are_free_and_the_site_is_the_servers() -> None:
    game = read_export(export()).game(place="x", site="http://127.0.0.1:9663/")
    assert (game.free_first_moves, game.site) == (True, "http://127.0.0.1:9663/abcdefgh")
    assert read_export(export()).game(place="x").site == "https://lichess.org/abcdefgh"


def test_players_of_every_kind_have_names() -> None:
    game = read_export(export())
    assert (game.white.id, game.white.name, game.white.title, game.white.rating) == ("ann", "Ann", "BOT", 1800)
    assert game.black.name == "Stockfish level 3"
    anonymous = read_export(export(players={"white": {}, "black": {"userId": "bob", "rating": 1500}}))
    assert (anonymous.white.name, anonymous.black.name) == ("", "bob")


def test_berserk_is_taken_from_the_players_and_halves_no_kirichess_clock() -> None:
    players = {"white": {"user": {"name": "Ann"}, "berserk": True}, "black": {"user": {"name": "Bob"}}}
    game = read_export(export(players=players, clocks=[9000, 18000, 8750, 18150, 8750]))
    assert game.snapshot.berserk == {chess.WHITE}
    judged = verdict(game)
    assert [row.think_ms for row in judged.rows] == [0, 0, 2_500, 500]
    assert [note.kind for note in judged.anomalies] == ["berserk"]


@pytest.mark.parametrize("missing", [{"clocks": None}, {"clock": None, "clocks": None}, {"clock": None}])
def test_without_clocks_or_a_control_the_moves_are_alone(missing: dict[str, None]) -> None:
    game = read_export(export(**missing))
    assert (game.source, game.precision_ms) == ("none", None)
    judged = verdict(game)
    assert (judged.certain, judged.white_ms) == (False, 357_000)
    assert [note.kind for note in judged.anomalies] == (["time_control"] if "clock" in missing else [])


def test_a_mate_leaves_no_extra_clock() -> None:
    game = read_export(
        export(moves="f3 e5 g4 Qh4#", clocks=[18000, 18000, 17000, 17000], status="mate", winner="black")
    )
    assert (game.snapshot.white_ms, game.snapshot.black_ms) == (None, None)
    judged = verdict(game)
    assert [row.think_ms for row in judged.rows] == [0, 0, 12_000, 10_000], "no increment for the move that ends it"


@pytest.mark.parametrize(("key", "given"), [("status", {"id": 31, "name": "resign"}), ("variant", {"key": "standard"})])
def test_streams_give_objects_for_status_and_variant(key: str, given: dict[str, object]) -> None:
    assert read_export(export(**{key: given})).snapshot.status == "resign"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"variant": "crazyhouse"}, "unsupported variant 'crazyhouse'"),
        ({"moves": "e4 e5 Ke3", "clocks": None}, "illegal move 'Ke3' at ply 3"),
        ({"moves": "e4 --", "clocks": None}, "null move at ply 2"),
        ({"clocks": [18000] * 3}, "lengths disagree: 4 moves, 3 clocks"),
        ({"clocks": [18000] * 6}, "lengths disagree: 4 moves, 6 clocks"),
        ({"clocks": [18000, 18000, 17000, "x"]}, "clock 4 must be centiseconds"),
        ({"clocks": [18000, 18000, 17000, -1]}, "clock 4 must be centiseconds"),
        ({"clocks": {}}, "clocks must be an array"),
        ({"clock": {"initial": "x"}}, "clock must be"),
        ({"clock": 3}, "clock must be"),
        ({"winner": "grey"}, "winner must be"),
        ({"initialFen": "nonsense"}, "bad FEN"),
        ({"players": []}, "players must be"),
        ({"status": 31}, "status must be"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(RecordError, match=says):
        read_export(export(**changes))
