"""How a PGN says it ended → reason, result and anomalies (rules §5, every row)."""

import pytest

from bridge.records.game import Game
from bridge.records.reader import read_lines
from bridge.rules.pools import named
from bridge.rules.verdict import Verdict

OPEN = "1. e4 e5 2. Nf3 Nc6"
MATE = "1. f3 e5 2. g4 Qh4#"
STALEMATE_FEN = "7k/8/5KQ1/8/8/8/8/8 b - - 0 1"
REPEATED = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8"


def judged(moves: str, **tags: str) -> Verdict:
    lines = [f'[{name} "{value}"]' for name, value in {"TimeControl": "300+3", **tags}.items()]
    (game,) = read_lines(enumerate([*lines, "", f"{moves} {tags.get('Result', '*')}"], 1), "games.pgn")
    assert isinstance(game, Game), game
    return game.judge(named("anchor"))


def kinds(verdict: Verdict) -> set[str]:
    return {anomaly.kind for anomaly in verdict.anomalies}


ROWS = [
    # result, Termination, moves → status, reason, result, anomalies
    ("0-1", "Normal", MATE, "mate", "checkmate", "0-1", set()),
    ("0-1", "anon won by checkmate", MATE, "mate", "checkmate", "0-1", set()),
    ("1-0", "Normal", OPEN, "resign", "resignation", "1-0", set()),
    ("0-1", "Normal", OPEN, "resign", "resignation", "0-1", set()),
    ("1-0", "anon won by resignation", OPEN, "resign", "resignation", "1-0", set()),
    ("1/2-1/2", "Normal", OPEN, "draw", "agreement", "1/2-1/2", set()),
    ("1/2-1/2", "Game drawn by agreement", OPEN, "draw", "agreement", "1/2-1/2", set()),
    ("1/2-1/2", "Game drawn by repetition", OPEN, "draw", "agreement", "1/2-1/2", {"platform_draw_rule"}),
    ("1/2-1/2", "Game drawn by repetition", REPEATED, "draw", "threefold", "1/2-1/2", set()),
    ("1/2-1/2", "Game drawn by stalemate", OPEN, "draw", "agreement", "1/2-1/2", {"platform_draw_rule"}),
    ("1/2-1/2", "Game drawn by insufficient material", OPEN, "draw", "agreement", "1/2-1/2", {"platform_draw_rule"}),
    ("1/2-1/2", "Game drawn by 50-move rule", OPEN, "draw", "agreement", "1/2-1/2", {"platform_draw_rule"}),
    (
        "1/2-1/2",
        "Game drawn by timeout vs insufficient material",
        OPEN,
        "draw",
        "agreement",
        "1/2-1/2",
        {"platform_draw_rule"},
    ),
    ("0-1", "Time forfeit", OPEN, "outoftime", "platform_timeout", "0-1", {"platform_clock_too_short"}),
    ("0-1", "anon won on time", OPEN, "outoftime", "platform_timeout", "0-1", {"platform_clock_too_short"}),
    ("1/2-1/2", "Time forfeit", OPEN, "outoftime", "platform_timeout", "0-1", {"platform_clock_too_short"}),
    ("1-0", "Abandoned", OPEN, "noStart", "abandonment", "1-0", set()),
    ("1-0", "anon won - game abandoned", OPEN, "timeout", "abandonment", "1-0", set()),
    ("1/2-1/2", "Abandoned", OPEN, "timeout", "abandonment", "1/2-1/2", {"no_winner"}),
    ("1-0", "Rules infraction", OPEN, "cheat", "forfeit", "1-0", {"forfeit"}),
    ("1-0", "", OPEN, "resign", "resignation", "1-0", {"termination_unknown"}),
    ("1/2-1/2", "", OPEN, "draw", "agreement", "1/2-1/2", {"termination_unknown"}),
    ("1/2-1/2", "", REPEATED, "draw", "threefold", "1/2-1/2", set()),
    ("1-0", "adjudication", OPEN, "resign", "resignation", "1-0", {"termination_unknown"}),
    ("1-0", "win by resignation", OPEN, "resign", "resignation", "1-0", set()),
    ("1/2-1/2", "draw by agreement", OPEN, "draw", "agreement", "1/2-1/2", set()),
    ("1-0", "anon won by checkmate", OPEN, "resign", "resignation", "1-0", {"termination_unknown"}),
    ("*", "Abandoned", OPEN, "unknownFinish", "unfinished", "*", {"platform_end"}),
    ("*", "Unterminated", OPEN, "unknownFinish", "unfinished", "*", {"platform_end"}),
    ("*", "", OPEN, "unknownFinish", "unfinished", "*", {"platform_end"}),
]


@pytest.mark.parametrize(("result", "termination", "moves", "status", "reason", "kiri", "anomalies"), ROWS)
def test_a_termination_means(
    result: str, termination: str, moves: str, status: str, reason: str, kiri: str, anomalies: set[str]
) -> None:
    tags = {"Result": result} | ({"Termination": termination} if termination else {})
    verdict = judged(moves, **tags)
    assert verdict.platform is not None
    assert (verdict.platform.status, verdict.outcome.reason, verdict.outcome.result) == (status, reason, kiri)
    assert kinds(verdict) == anomalies


def test_stalemate_on_the_board_needs_no_word_for_it() -> None:
    verdict = judged("", FEN=STALEMATE_FEN, Result="1/2-1/2", Termination="Normal")
    assert verdict.platform is not None
    assert (verdict.platform.status, verdict.outcome.reason, kinds(verdict)) == ("stalemate", "stalemate", set())


def test_a_result_tag_that_says_nothing_gives_way_to_the_result_after_the_moves() -> None:
    lines = ['[Result "?"]', '[TimeControl "60"]', '[Termination "Normal"]', "", "1. e4 e5 0-1"]
    (game,) = read_lines(enumerate(lines, 1), "games.pgn")
    assert isinstance(game, Game)
    assert game.judge(named("anchor")).outcome.result == "0-1"


def test_without_clocks_the_platforms_flag_takes_no_thinking_time_with_it() -> None:
    """Moves alone: what the loser's clock held is not taken for his last thinking time (rules §6)."""
    verdict = judged(OPEN, Result="0-1", Termination="Time forfeit", TimeControl="3600+0")
    assert verdict.outcome.reason == "platform_timeout"
    assert verdict.white_ms == 360_000 - 3_000


DRAWN_ON_TIME = "Game drawn by timeout vs insufficient material"
CLOCKED = "1. e4 {[%clk 0:04:59]} e5 {[%clk 0:04:58]} 2. Nf3 {[%clk 0:04:50]}"


@pytest.mark.parametrize(
    ("pool", "reason", "result", "black_ms"),
    [("winder", "flag", "1-0", 59_000 - 2_000 - 298_000), ("mainspring", "agreement", "1/2-1/2", 897_000 - 298_000)],
)
def test_a_clock_that_ran_out_is_charged_before_the_platforms_draw(
    pool: str, reason: str, result: str, black_ms: int
) -> None:
    lines = [f'[Termination "{DRAWN_ON_TIME}"]', '[TimeControl "300"]', '[Result "1/2-1/2"]', "", f"{CLOCKED} 1/2-1/2"]
    (game,) = read_lines(enumerate(lines, 1), "games.pgn")
    assert isinstance(game, Game)
    verdict = game.judge(named(pool))
    assert (verdict.outcome.reason, verdict.outcome.result, verdict.black_ms) == (reason, result, black_ms)


@pytest.mark.parametrize(
    ("tag", "token", "contradicts"),
    [
        ("1-0", "0-1", True),
        ("0-1", "1/2-1/2", True),
        ("1/2-1/2", "1-0", True),
        ("1-0", "1-0", False),
        ("1/2-1/2", "1/2", False),
        ("½-½", "1/2-1/2", False),
        ("1-0", "*", False),
        ("1-0", "", False),
        ("*", "0-1", False),
    ],
)
def test_a_result_that_contradicts_its_tag_is_told_and_the_tag_wins(tag: str, token: str, contradicts: bool) -> None:
    (game,) = read_lines(enumerate([f'[Result "{tag}"]', '[TimeControl "60"]', "", f"1. e4 e5 {token}"], 1), "x")
    assert isinstance(game, Game)
    verdict = game.judge(named("anchor"))
    assert verdict.outcome.result == {"*": token, "½-½": token}.get(tag, tag)
    assert [note.ply for note in verdict.anomalies if note.kind == "result_mismatch"] == [2] * contradicts
