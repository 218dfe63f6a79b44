"""`[%keff …]`: what a ply did to both KiriChess clocks, written, read back and held against the moves."""

import io

import chess
import chess.pgn
import pytest

from bridge.records.game import Game
from bridge.records.pgn_writer import to_pgn
from bridge.records.reader import read_lines
from bridge.rules.pools import named, parse_dials
from bridge.rules.snapshot import Setup, Snapshot
from bridge.rules.verdict import Verdict, judge

SCHOLAR = ["e2e4", "e7e5", "d1h5", "b8c6", "h5f7"]


def verdict_of(moves: list[str], pool: str = "anchor", **dials: object) -> Verdict:
    setup = Setup("g", parse_dials({"pool": pool, **dials}), "think", 0)
    return judge(setup, Snapshot(moves, "resign", chess.WHITE, think_ms=[0] * len(moves)))


def game_of(text: str) -> Game:
    (game,) = read_lines(enumerate(text.split("\n"), 1), "x")
    assert isinstance(game, Game), game
    return game


def comments(text: str) -> list[str]:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    return [" ".join(node.comment.split()) for node in game.mainline()]


def test_a_ply_tells_its_layers_by_mover_and_opponent_in_the_order_of_the_rules() -> None:
    told = comments(to_pgn(verdict_of(SCHOLAR)))
    assert told[0].endswith("[%keff toll:-1000/0]")
    assert told[4].endswith("[%keff capture=p:+5000/-5000 toll:-4000/0 chip:+2000/-2000]")


def test_what_is_repeated_is_guarded_and_an_increment_is_still_paid() -> None:
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"]
    told = comments(to_pgn(verdict_of(shuffle, increment_s=1.5)))
    assert told[0].endswith("[%keff toll:-2000/0 increment:+1500/0]")
    assert told[3].endswith("[%keff guard increment:+1500/0]")


def test_plies_after_the_kirichess_end_have_none() -> None:
    told = comments(to_pgn(verdict_of(["e2e4", "e7e5"], base_s=1)))
    assert "[%keff toll:-1000/0]" in told[0]
    assert told[1] == ""


def test_what_we_wrote_agrees_with_its_moves() -> None:
    verdict = verdict_of(SCHOLAR)
    assert game_of(to_pgn(verdict)).judge(named("anchor")).anomalies == verdict.anomalies == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("capture=p:+5000/-5000", "capture=p:+25000/-25000"),
        ("capture=p:+5000/-5000 ", ""),
        ("capture=p:+5000/-5000", "capture=p"),
    ],
)
def test_effects_that_are_not_those_of_the_moves_are_noted(old: str, new: str) -> None:
    text = to_pgn(verdict_of(SCHOLAR)).replace(old, new)
    verdict = game_of(text).judge(named("anchor"))
    (anomaly,) = verdict.anomalies
    assert (anomaly.kind, anomaly.ply) == ("effects_mismatch", 5)
    assert "capture=p:+5000/-5000" in anomaly.note
    assert (verdict.white_ms, verdict.black_ms) == (verdict_of(SCHOLAR).white_ms, verdict_of(SCHOLAR).black_ms)


def test_other_rules_than_those_it_was_written_under_are_nothing_odd() -> None:
    assert game_of(to_pgn(verdict_of(SCHOLAR))).judge(named("eclipse")).anomalies == ()


def test_effects_of_a_ply_that_did_not_count_are_noted() -> None:
    text = to_pgn(verdict_of(["e2e4", "e7e5"])).replace('KiriRules "{\\"base_s\\":360', 'KiriRules "{\\"base_s\\":1')
    game = game_of(text)
    (anomaly,) = game.judge(parse_dials(game.rules or {})).anomalies
    assert (anomaly.kind, anomaly.ply) == ("effects_mismatch", 2)
