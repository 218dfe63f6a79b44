"""PGN as it is found: what is read, what is refused, and where the fault is said to be."""

import pytest

from bridge.errors import RecordError
from bridge.records.game import Game
from bridge.records.reader import read_lines
from bridge.rules.pools import named, parse_dials


def read(text: str) -> list[Game | RecordError]:
    return list(read_lines(enumerate(text.split("\n"), 1), "games.pgn"))


def moves(game: Game | RecordError) -> list[str]:
    assert isinstance(game, Game), game
    return list(game.snapshot.moves)


TWO = """[Event "A"]
[White "Ann"]

1. e4 e5 1-0
[Event "B"]
[Black "Bob"]

1. d4 d5"""


def test_games_without_a_blank_line_between_and_without_a_last_end() -> None:
    first, second = read(TWO)
    assert (moves(first), moves(second)) == (["e2e4", "e7e5"], ["d2d4", "d7d5"])
    assert isinstance(first, Game)
    assert isinstance(second, Game)
    assert (first.white, second.black) == ("Ann", "Bob")
    assert (first.place, second.place) == ("games.pgn: game 1, line 1", "games.pgn: game 2, line 5")


def test_games_on_one_line_and_games_without_tags() -> None:
    games = read("1. e4 e5 1-0 1. d4 d5 0-1 {a comment}\n\n{another}\n1. c4 *")
    assert [moves(game) for game in games] == [["e2e4", "e7e5"], ["d2d4", "d7d5"], ["c2c4"]]


def test_what_stands_in_a_variation_is_not_read() -> None:
    (game,) = read("1. e4 e5 (1... Sc6 mit Spannung {1-0} 0-1 2. Ke5) 2. Nf3 *")
    assert moves(game) == ["e2e4", "e7e5", "g1f3"]


def test_tags_and_moves_on_one_line() -> None:
    (game,) = read('[Event "A \\"B\\""] [White "Ann"] 1. e4 e5 1-0')
    assert moves(game) == ["e2e4", "e7e5"]
    assert isinstance(game, Game)
    assert game.white == "Ann"


def test_blank_lines_comments_variations_and_signs_inside_a_game() -> None:
    text = """% an escaped line
[Event "A"]

[White "O'Neil \\"the \\\\ wall\\""]

{before the moves: 1. d4 (not) 1-0}
1. e4 $1 e5 ?! RR {a comment
with a blank line

and [Event-like] text 1-0} (1... c5 (1... e6 {1-0}) 2. Nf3
; a line

) 2. Nf3 +/= Nc6 N ; to the end 0-1

{more}
3. Bb5 1/2-1/2"""
    (game,) = read(text)
    assert moves(game) == ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]
    assert isinstance(game, Game)
    assert game.white == 'O\'Neil "the \\ wall"'


@pytest.mark.parametrize("name", ["Standard", "From Position", "normal", "", "Chess"])
def test_standard_by_any_name(name: str) -> None:
    (game,) = read(f'[Variant "{name}"]\n\n1. e4 *')
    assert isinstance(game, Game)
    assert not game.chess960


@pytest.mark.parametrize("name", ["Chess960", "chess 960", "chess-960", "fischerandom", "Fischer Random"])
def test_chess960_by_any_name(name: str) -> None:
    fen = "nrbbqkrn/pppppppp/8/8/8/8/PPPPPPPP/NRBBQKRN w KQkq - 0 1"
    (game,) = read(f'[Variant "{name}"]\n[FEN "{fen}"]\n[SetUp "1"]\n\n1. f3 f6 2. O-O *')
    assert moves(game) == ["f2f3", "f7f6", "f1g1"]
    assert isinstance(game, Game)
    assert game.chess960
    assert game.judge(named("anchor")).rows[-1].effects.toll_ms == 3_000


def test_a_start_position_of_chess960_is_seen_without_the_variant() -> None:
    (game,) = read('[FEN "4k3/8/8/8/8/8/8/1R2K3 w B - 0 1"]\n\n1. O-O-O *')
    assert moves(game) == ["e1b1"]


def test_castling_with_zeros_and_a_pawns_letter() -> None:
    (game,) = read("1. Pe4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. 0-0 *")
    assert moves(game)[-1] == "e1g1"


BROKEN = [
    ("1. e4 e5\n2. Ke3 *", "line 2", "illegal move 'Ke3'"),
    ("1. e4 {a comment\nof lines} e5\n\n2. O-O *", "line 4", "illegal move 'O-O'"),
    ('[FEN "4k3/8/8/8/8/8/8/R4RK1 w - - 0 1"]\n\n1. Rd1 Ke7 *', "line 3", "ambiguous move 'Rd1'"),
    ("1. e4 e5 2. Bb5 -- *", "line 1", "null move '--'"),
    ("1. e4 Z0 *", "line 1", "null move 'Z0'"),
    ("1. e4 e5 2. whatever *", "line 1", "unreadable text 'whatever'"),
    ("1. ♘f3 *\n1. e4", "line 1", "unreadable text '♘'"),
    ("1. Sf3 e5 *", "line 1", "unreadable text 'S'"),
    ("1. e44 e5 *", "line 1", "unreadable text 'e44'"),
    ("1. e4 {never closed", "line 1", "never closed"),
    ("1. e4 (1. d4 *", "line 1", "a variation is never closed"),
    ("1. e4 ) e5 *", "line 1", "')' without a variation"),
    ("1. e4 {x} y} e5 *", "line 1", "unreadable text 'y'"),
    ('[Event "A"]\n[Site]\n\n1. e4 *', "line 2", "broken tag '[Site]'"),
    ('[Event "A"\n\n1. e4 *', "line 1", "broken tag"),
    ('[Event "A"]\n\n1. e4\n\n[Site "B"]\n\ne5 *', "line 5", "a tag inside the moves"),
    ('[Event "A"]\n[FEN "nonsense"]\n\n*', "line 2", "bad FEN 'nonsense'"),
    ('[FEN "8/8/8/8/8/8/8/K7 w - - 0 1"]\n\n*', "line 1", "bad FEN"),
    ('[Event "A"]\n[Variant "Crazyhouse"]\n\n1. e4 e5 *', "line 2", "unsupported variant 'Crazyhouse'"),
    ("2. Nf3 Nc6 *\n1. e4", "line 1", "begin with number 2"),
    ('[KiriRules "{broken"]\n\n1. e4 *', "line 1", "KiriRules is not JSON"),
    ('[KiriRules "[1]"]\n\n1. e4 *', "line 1", "KiriRules must be"),
]


@pytest.mark.parametrize(("text", "line", "cause"), BROKEN)
def test_a_broken_game_says_file_game_line_and_cause_and_the_next_is_read(text: str, line: str, cause: str) -> None:
    broken, *_, last = read(f'{text}\n\n[Event "next"]\n\n1. d4 *')
    assert isinstance(broken, RecordError)
    assert broken.place == f"games.pgn: game 1, {line}"
    assert cause in broken.message
    assert "\n" not in str(broken)
    assert moves(last) == ["d2d4"]


def test_a_comment_that_never_closes_does_not_swallow_the_games_after_it() -> None:
    broken, good = read('[Event "A"]\n\n1. e4 {oops\n\n[White "B"]\n\n1. d4 *')
    assert isinstance(broken, RecordError)
    assert moves(good) == ["d2d4"]


def test_ids_come_from_the_address_or_the_file() -> None:
    sites = ["https://lichess.org/abcdefgh", "https://lichess.org/abcdefgh1234", "Chess.com", "?"]
    games = read("\n".join(f'[Site "{site}"]\n\n1. e4 *\n' for site in sites))
    assert [game.game_id for game in games if isinstance(game, Game)] == [
        "abcdefgh",
        "abcdefgh",
        "games.pgn#3",
        "games.pgn#4",
    ]
    (live,) = read('[Site "Chess.com"]\n[Link "https://www.chess.com/game/live/1234567"]\n\n1. e4 *')
    assert isinstance(live, Game)
    assert live.game_id == "1234567"


def test_what_old_programs_leave_at_the_end_is_no_game() -> None:
    assert [moves(game) for game in read("1. e4 1-0 1-0\n\x1a\n\n{a last word}")] == [["e2e4"]]


def test_control_characters_never_reach_a_terminal() -> None:
    (game,) = read('[White "\x1b[31mred\x07"]\n\n1. e4 *')
    assert isinstance(game, Game)
    assert game.white == "[31mred"


@pytest.mark.parametrize(
    ("tags", "pool"),
    [
        ('[KiriPool "ratchet"]', "ratchet"),
        ('[KiriPool "ratchet"]\n[KiriRules "{\\"base_s\\":240}"]', "ratchet"),
        ('[KiriPool "ratchet"]\n[KiriRules "{\\"base_s\\":99}"]', None),
        ('[KiriPool "our-own"]\n[KiriRules "{\\"pool\\":\\"winder\\"}"]', "winder"),
    ],
)
def test_kirichess_tags_carry_the_rules(tags: str, pool: str | None) -> None:
    (game,) = read(f"{tags}\n\n1. e4 *")
    assert isinstance(game, Game)
    assert game.rules is not None
    assert parse_dials(game.rules).pool == pool


def test_a_game_without_kirichess_tags_carries_no_rules() -> None:
    (game,) = read("1. e4 *")
    assert isinstance(game, Game)
    assert game.rules is None
