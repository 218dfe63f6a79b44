"""A PGN written again with what KiriChess makes of it: what others wrote stays, our reader finds the same verdict."""

import io
from pathlib import Path

import chess
import chess.pgn
import pytest

from bridge.records.annotated import annotated
from bridge.records.game import Game
from bridge.records.pgn_writer import to_pgn
from bridge.records.reader import read_games, read_lines
from bridge.rules.pools import named, parse_dials

ROOT = Path(__file__).parents[2]
RICH = r"""
[Event "Club \"Tal\" match"]
[Site "https://lichess.org/abcdefgh"]
[Date "2024.01.31"]
[Round "3.1"]
[White "Ann"]
[Black "Bob \\ B."]
[Result "1-0"]
[WhiteElo "1900"]
[ECO "C50"]
[TimeControl "300+3"]
[Termination "Normal"]

{ A quiet start. } 1. e4 $1 { [%eval 0.3,20] [%clk 0:05:00] best by test } e5 { [%clk 0:05:00] }
2. Nf3 $2 $14 { [%clk 0:04:58] [%csl Gf3] } ( 2. f4 $5 { the gambit } exf4 ( 2... d5 ) 3. Nf3 ) 2... Nc6
{ [%clk 0:04:51] [%emt 0:00:12] } 3. Bc4 { [%clk 0:04:40] } 1-0
"""


def read(text: str) -> Game:
    (game,) = read_lines(enumerate(text.split("\n"), 1), "x.pgn")
    assert isinstance(game, Game), game
    return game


def parsed(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert game.errors == []
    return game


def test_tags_comments_signs_and_variations_stay() -> None:
    given = read(RICH)
    text = annotated(given, given.judge(named("anchor")))
    told, before = parsed(text), parsed(RICH)
    assert {name: told.headers[name] for name in before.headers} == dict(before.headers)
    assert told.headers["KiriPool"] == "anchor"
    assert told.comment == "A quiet start."
    nodes, old = list(told.mainline()), list(before.mainline())
    assert [node.nags for node in nodes] == [node.nags for node in old]
    assert [node.clock() for node in nodes] == [node.clock() for node in old]
    assert (nodes[0].eval(), nodes[0].eval_depth()) == (old[0].eval(), 20)
    assert nodes[0].comment.endswith("best by test")
    assert "[%csl Gf3]" in nodes[2].comment and "[%emt 0:00:12]" in nodes[3].comment
    assert all("[%kclk" in node.comment and "[%keff" in node.comment for node in nodes)
    assert all(node.comment.count("[%clk") == 1 for node in nodes)
    (gambit,) = nodes[1].variations[1:]
    assert (gambit.san(), gambit.nags, gambit.comment) == ("f4", {5}, "the gambit")
    assert [child.san() for child in gambit.variations[0].variations] == ["Nf3"]
    assert [child.san() for child in gambit.variations] == ["exf4", "d5"]


@pytest.mark.parametrize("text", [RICH, (ROOT / "config" / "sample.pgn").read_text()])
def test_it_is_read_back_to_the_same_verdict_and_written_again_is_the_same(text: str) -> None:
    given = read(text)
    verdict = given.judge(named("ratchet"))
    again = read(annotated(given, verdict))
    judged = again.judge(parse_dials(again.rules or {}))
    assert (judged.rows, judged.outcome, judged.certain) == (verdict.rows, verdict.outcome, verdict.certain)
    assert (judged.setup.source, judged.setup.precision_ms) == (verdict.setup.source, verdict.setup.precision_ms)
    assert annotated(again, judged) == annotated(given, verdict)


def test_another_pool_replaces_what_was_told_of_the_first() -> None:
    given = read(RICH)
    first = read(annotated(given, given.judge(named("anchor"))))
    assert annotated(first, first.judge(named("eclipse"))) == annotated(given, given.judge(named("eclipse")))


def test_what_is_no_pgn_is_written_as_our_own() -> None:
    for game in list(read_games(ROOT / "tests" / "data" / "conformance" / "hand.jsonl"))[:40]:
        assert isinstance(game, Game)
        verdict = game.judge(parse_dials(game.rules or {}))
        assert annotated(game, verdict) == to_pgn(verdict)


def test_variations_that_cannot_be_read_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    given = read('[Event "x"]\n\n1. e4 $1 { good } ( 1. d4 d5 2. Qh8 c5 ) 1... e5 { too } *\n')
    told = parsed(annotated(given, given.judge(named("anchor"))))
    nodes = list(told.mainline())
    assert [(node.san(), node.nags, node.comment.split()[-1]) for node in nodes] == [
        ("e4", {1}, "good"),
        ("e5", set(), "too"),
    ]
    assert len(told.variations) == 1
    assert not caplog.records
