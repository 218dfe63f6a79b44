"""Where thinking time comes from, how fine it is, and when there is none (rules §6)."""

import pytest

from bridge.records.clock_comments import parse_duration, parse_time_control
from bridge.records.game import Game, is_lichess
from bridge.records.reader import read_lines
from bridge.rules.pools import named
from bridge.rules.snapshot import TimeControl


def read(moves: str, control: str | None = "180+2", site: str = "https://lichess.org/abcdefgh") -> Game:
    tags = [f'[Site "{site}"]'] + ([] if control is None else [f'[TimeControl "{control}"]'])
    (game,) = read_lines(enumerate([*tags, "", f"{moves} *"], 1), "games.pgn")
    assert isinstance(game, Game), game
    return game


def thinks(game: Game) -> list[int | None]:
    return [row.think_ms for row in game.judge(named("anchor")).rows]


CLK = (
    "1. e4 {[%clk 0:03:00]} e5 {[%clk 0:03:00]} "
    "2. Nf3 {[%eval 0.2] [%clk 0:02:57]} Nc6 {nice [%clk 0:03:01] move} 3. Bb5 {[%clk 0:02:59]}"
)


def test_clk_on_lichess_first_moves_are_free() -> None:
    game = read(CLK)
    assert (game.source, game.precision_ms, game.free_first_moves) == ("clk", 500, True)
    assert thinks(game) == [0, 0, 5_000, 1_000, 0]


def test_clk_elsewhere_the_clock_runs_and_pays_from_move_one() -> None:
    game = read(CLK, site="Chess.com")
    assert not game.free_first_moves
    assert thinks(game) == [2_000, 2_000, 5_000, 1_000, 0]


@pytest.mark.parametrize("reading", ["0:02:57.4", "0:02:57.42", "0:02:57.40"])
def test_one_fraction_anywhere_makes_the_whole_game_fine(reading: str) -> None:
    game = read(f"1. e4 {{[%clk 0:03:00]}} e5 {{[%clk 0:03:00]}} 2. Nf3 {{[%clk {reading}]}}")
    assert (game.source, game.precision_ms) == ("clk", 100)
    assert (game.snapshot.clocks_ms or [])[2] in (177_400, 177_420)


def test_a_ply_without_a_reading_is_unknown() -> None:
    game = read("1. e4 {[%clk 0:03:00]} e5 {[%clk 0:03:00]} 2. Nf3 Nc6 {[%clk 0:02:59]}", site="?")
    assert thinks(game) == [2_000, 2_000, None, 3_000]
    assert not game.judge(named("anchor")).certain


@pytest.mark.parametrize("missing", [{1}, {2, 3}, {5, 6}, {1, 2, 3, 4, 5, 6}, {3, 5}])
@pytest.mark.parametrize("site", ["https://lichess.org/abcdefgh", "?"])
def test_what_a_missing_reading_hides_is_in_the_sides_next_one(missing: set[int], site: str) -> None:
    readings = ["3:00", "3:00", "2:50", "2:58", "2:47", "2:44", "2:40", "2:41"]
    sans = ["1. e4", "e5", "2. Nf3", "Nc6", "3. Bc4", "Bc5", "4. O-O", "Nf6"]
    told = [f"{san} {{[%clk 0:0{reading}]}}" for san, reading in zip(sans, readings, strict=True)]
    holes = [sans[ply] if ply + 1 in missing else comment for ply, comment in enumerate(told)]
    whole, part = (read(" ".join(plies), site=site).judge(named("eclipse")) for plies in (told, holes))
    assert (part.white_ms, part.black_ms, part.outcome) == (whole.white_ms, whole.black_ms, whole.outcome)
    free = {1, 2} if site != "?" else set()
    assert {row.ply for row in part.rows if row.think_ms is None} == missing - free


@pytest.mark.parametrize(
    "comments",
    [
        "{[%emt 0:00:01.5]} e5 {[%emt 0:00:02]}",
        "{[%emt 1.5]} e5 {[%emt 2.0]}",
    ],
)
def test_emt_with_decimals_is_exact(comments: str) -> None:
    game = read(f"1. e4 {comments}")
    assert (game.source, game.precision_ms) == ("think", 0)
    assert thinks(game) == [1_500, 2_000]


def test_emt_in_whole_seconds_adds_its_errors_up() -> None:
    """Three moves of White, two of Black: 3 × 500 ms."""
    game = read(
        "1. e4 {[%emt 0:00:01]} e5 {[%emt 00:00:02]} 2. d4 {[%emt 0:00:03]} d5 {[%emt 0:00:04]} 3. c4 {[%emt 0:00:00]}"
    )
    assert (game.source, game.precision_ms) == ("think", 1_500)
    assert thinks(game) == [1_000, 2_000, 3_000, 4_000, 0]


def test_the_first_reading_of_a_ply_counts() -> None:
    game = read("1. e4 {[%clk 0:03:00] [%clk 0:02:00]} {[%clk 0:01:00]} e5 {[%clk 0:02:59]} *")
    assert game.snapshot.clocks_ms == [180_000, 179_000]


def test_clocks_inside_a_variation_are_not_the_games() -> None:
    game = read("1. e4 {[%clk 0:03:00]} e5 (1... c5 {[%clk 0:00:01]}) {[%clk 0:02:59]} *")
    assert game.snapshot.clocks_ms == [180_000, 179_000]


def test_emt_counts_only_where_there_is_no_clk() -> None:
    game = read("1. e4 {[%clk 0:03:00] [%emt 0:00:09]} e5 {[%emt 0:00:02]}")
    assert game.source == "clk"
    assert game.snapshot.think_ms is None


@pytest.mark.parametrize("comment", ["[%timestamp 32]", "[%kclk 359000]", "[%cal Ge2e4]", "nothing", "[%clk ?:??]"])
def test_other_comments_are_no_clock(comment: str) -> None:
    game = read(f"1. e4 {{{comment}}} e5 {{{comment}}}")
    assert (game.source, game.precision_ms, game.snapshot.clocks_ms) == ("none", None, None)
    verdict = game.judge(named("anchor"))
    assert (verdict.certain, verdict.white_ms) == (False, 359_000)


@pytest.mark.parametrize(
    ("control", "says"),
    [
        (None, "no time control"),
        ("-", "no time control"),
        ("?", "no time control"),
        ("soon", "unreadable"),
        ("40/5400+30:1800+30", "several periods"),
        ("40/80, SD30; +30", "several periods"),
        ("40/1980:40/1980:40/1980", "several periods"),
        ("60+5d", "delay"),
        ("G/60 d/5", "delay"),
        ("*180", "hourglass"),
        ("1/86400", "correspondence"),
    ],
)
def test_controls_that_leave_the_moves_alone(control: str | None, says: str) -> None:
    game = read("1. e4 {[%clk 0:01:00]} e5 {[%clk 0:01:00]}", control)
    assert (game.source, game.precision_ms, game.time_control) == ("none", None, None)
    (anomaly,) = [note for note in game.judge(named("anchor")).anomalies if note.kind == "time_control"]
    assert says in anomaly.note
    assert "moves alone" in anomaly.note


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("300+3", TimeControl(300_000, 3_000)),
        ("300", TimeControl(300_000, 0)),
        ("10+0.05", TimeControl(10_000, 50)),
        ("0+1", TimeControl(0, 1_000)),
        (" 60+0 ", TimeControl(60_000, 0)),
    ],
)
def test_plain_controls(text: str, control: TimeControl) -> None:
    assert parse_time_control(text) == control


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("0:05:00", (300_000, False)),
        ("00:05:00", (300_000, False)),
        ("0:04:59.9", (299_900, True)),
        ("0:04:59,9", (299_900, True)),
        ("1:02", (62_000, False)),
        ("62", (62_000, False)),
        ("1.337", (1_337, True)),
        ("0:00:-32", (-32_000, False)),
        ("01:56:25", (6_985_000, False)),
        ("1:2:3:4", None),
        ("", None),
        ("?", None),
        ("9" * 40, None),
    ],
)
def test_durations(text: str, duration: tuple[int, bool] | None) -> None:
    assert parse_duration(text) == duration


def test_a_comment_may_break_inside_the_clock() -> None:
    lines = ['[TimeControl "180+2"]', "", "1. e4 {[%clk", "0:03:00]} e5 {[%clk 0:03:00]} *"]
    (game,) = read_lines(enumerate(lines, 1), "games.pgn")
    assert isinstance(game, Game)
    assert game.snapshot.clocks_ms == [180_000, 180_000]


@pytest.mark.parametrize(
    ("site", "free"),
    [
        ("https://lichess.org/abcdefgh", True),
        ("https://lichess.org", True),
        ("http://lichess.org:443/x", True),
        ("https://de.lichess.org/x", True),
        ("lichess.org/abcdefgh", True),
        ("https://LICHESS.org/x", True),
        ("https://lichess.org.example.com/x", False),
        ("https://notlichess.org/x", False),
        ("https://example.com/lichess.org", False),
        ("Chess.com", False),
        ("?", False),
        ("", False),
        ("http://[broken", False),
    ],
)
def test_whose_first_moves_are_free(site: str, free: bool) -> None:
    assert is_lichess(site) is free
