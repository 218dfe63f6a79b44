"""`[%eval]` in our PGN: what python-chess and Lichess read, from White's side and of the position after the move."""

import io

import chess
import chess.pgn
import pytest

from bridge.errors import RecordError
from bridge.records.evaluations import Evaluation, by_ply, from_line, to_line
from bridge.records.game import Game
from bridge.records.pgn_writer import to_pgn
from bridge.records.reader import read_lines
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup, Snapshot, TimeControl
from bridge.rules.verdict import Verdict, judge

MOVES = ["e2e4", "e7e5", "g1f3", "b8c6"]


def played() -> Verdict:
    setup = Setup("g", named("anchor"), "stream", 10, time_control=TimeControl(540_000, 0), free_first_moves=True)
    return judge(setup, Snapshot(MOVES, "resign", chess.WHITE, clocks_ms=[540_000, 540_000, 530_250, 520_000]))


def nodes(*evaluations: Evaluation) -> list[chess.pgn.ChildNode]:
    text = to_pgn(played(), evaluations=evaluations)
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    return list(game.mainline())


@pytest.mark.parametrize(
    ("ply", "score_cp", "shown"),
    [
        (3, 35, "+35"),
        (4, 35, "-35"),
        (4, -1234, "+1234"),
        (3, 99_997, "#+2"),
        (4, 99_997, "#-2"),
        (3, -99_997, "#-3"),
        (4, -99_997, "#+3"),
        (3, 100_000, "+100000"),
    ],
)
def test_python_chess_reads_score_and_depth(ply: int, score_cp: int, shown: str) -> None:
    node = nodes(Evaluation(ply, MOVES[ply - 1], score_cp, 12))[ply - 1]
    score = node.eval()
    assert score is not None
    assert str(score.white()) == shown
    assert node.eval_depth() == 12


def test_mate_on_the_board_needs_no_evaluation() -> None:
    assert nodes(Evaluation(4, MOVES[3], 99_999, 12))[3].eval() is None


def test_a_depth_that_is_not_known_is_left_out_and_other_plies_have_none() -> None:
    told = nodes(Evaluation(3, MOVES[2], 20))
    assert "[%eval 0.20]" in told[2].comment
    assert [node.eval() for node in (told[0], told[1], told[3])] == [None] * 3


def test_our_reader_judges_the_same_with_them() -> None:
    text = to_pgn(played(), evaluations=[Evaluation(3, MOVES[2], 20, 9)])
    (game,) = read_lines(enumerate(text.split("\n"), 1), "x")
    assert isinstance(game, Game), game
    assert game.judge(named("anchor")).rows == played().rows


def test_only_the_moves_that_stand_are_told_of_and_the_last_word_counts() -> None:
    thought = [
        Evaluation(1, "e2e4", 10, 5),
        Evaluation(3, "d2d4", 50, 5),
        Evaluation(1, "e2e4", 20),
        Evaluation(9, "a2a3", 1),
    ]
    assert by_ply(thought, MOVES) == {1: Evaluation(1, "e2e4", 20)}


def test_what_a_later_version_kept_is_read_and_what_is_none_is_told() -> None:
    assert from_line(b'{"ply":1,"uci":"e2e4","score_cp":5,"nodes":9}') == Evaluation(1, "e2e4", 5)
    for line in (b"", b"[]", b"{}", b"7"):
        with pytest.raises(RecordError, match="cannot be read"):
            from_line(line)


@pytest.mark.parametrize("evaluation", [Evaluation(1, "e2e4", -10, 5), Evaluation(300, "a7a8q", 99_999)])
def test_what_is_kept_comes_back(evaluation: Evaluation) -> None:
    assert from_line(to_line(evaluation)) == evaluation
