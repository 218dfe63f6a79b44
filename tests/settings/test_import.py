"""`config import`: other bots' files as ours."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge.decisions.draw import DrawTerms
from bridge.decisions.opponents import Opponents
from bridge.errors import UsageError
from bridge.settings import Settings, load
from bridge.settings.importing import convert
from bridge.settings.play import Greeting

LICHESS_BOT = """
token: lip_secret      # never shown
url: "http://127.0.0.1:9/"
engine:
  dir: "/usr/games"
  name: "stockfish"    # strong
  protocol: "uci"
  polyglot: {enabled: false, book: {standard: [a.bin], horde: [h.bin]}, max_depth: 12}
  draw_or_resign: {resign_enabled: true, resign_score: -700}
  uci_options: {Threads: 1, Move Overhead: 50, Ponder: true, go_commands: {nodes: 1000}}
fake_think_time: true
challenge:
  concurrency: 3
  # people only up to here
  max_base: 900
  max_days: .inf
  variants: [standard, horde]
  time_controls: [rapid, blitz]
  modes: [casual]
  block_list: [Somebody]
greeting: {hello: "Hi {opponent} ${x}"}
matchmaking:
  allow_matchmaking: true
  challenge_initial_time: [60, 180]
  challenge_increment: 1
  challenge_mode: casual
  overrides: {slow: {challenge_initial_time: 600, challenge_increment: 0}}
strange: 1
"""

BOTLI = """
token: lip_secret
engines:
  standard: {dir: /usr/games, name: stockfish, uci_options: {Hash: 16}, limits: {nodes: 5000, depth: 9, time: 2.5}}
  blitz_black: {dir: /usr/games, name: stockfish}
  3+2_rated_tournament: {dir: /usr/games, name: stockfish}
challenge:
  concurrency: 2
  human: {variants: [chess960], time_controls: [25+0], modes: [casual], max_initial: 1800}
  bot: {variants: [], modes: [rated]}
resign: {enabled: true, score: -800, consecutive_moves: 4, min_rating: 2300}
offer_draw: {enabled: true, score: 10, consecutive_moves: 5, min_game_length: 30, against_humans: false}
matchmaking: {delay: 90, timeout: 5, types: {fast: {tc: 10+0, rated: false, min_rating_diff: 40}, quick: {tc: 3+1}}}
books: {Mine: /books/mine.bin}
opening_books: {enabled: false, books: {standard: {names: [Mine], max_depth: 15, max_moves: 6}}}
online_moves: {chessdb: {enabled: false, priority: 100, max_depth: 16, max_moves: 3, trust_eval: true, timeout: 5,
                         min_time: 20}}
blacklist: [Troll]
whitelist: [Friend]
"""


@pytest.fixture
def ours(tmp_path: Path) -> Callable[[str], Settings]:
    def read(text: str) -> Settings:
        file = tmp_path / "config.yml"
        file.write_text(convert(text, "theirs.yml").text)
        return load(file, mode="check")

    return read


def test_lichess_bots_file_means_the_same_here(ours: Callable[[str], Settings]) -> None:
    settings = ours(LICHESS_BOT)
    (account,) = settings.accounts
    play = account.play
    assert play is not None and account.url == "http://127.0.0.1:9"
    assert (play.concurrency, play.challenge.max_base, play.challenge.variants) == (3, 900, ("standard",))
    assert play.challenge.max_days is None and play.challenge.block_list == ("Somebody",)
    assert (play.draw_or_resign.resign_enabled, play.draw_or_resign.resign_score) == (True, -700)
    assert play.draw_or_resign.offer_draw_moves == 5, "what the file leaves out is as lichess-bot has it"
    assert not play.challenge.accept_bot, "lichess-bot's own value where the key is left out"
    engine = settings.engines["main"]
    assert engine.kind == "uci" and engine.path == "/usr/games/stockfish" and engine.nodes == 1000
    assert engine.options == {"Threads": 1, "Move Overhead": 50}
    assert play.matchmaking.challenge_initial_time is None, "no clock of them has a pool"
    assert play.matchmaking.overrides["slow"].challenge_initial_time == (600,)
    assert play.matchmaking.min_games == 1, "as lichess-bot itself has it"


def test_the_token_is_never_copied_and_comments_are() -> None:
    text = convert(LICHESS_BOT, "theirs.yml").text
    assert "lip_secret" not in text
    assert "# strong" in text and "# people only up to here" in text


@pytest.mark.parametrize("key", ["fake_think_time", "engine.polyglot.book.horde", "challenge.variants", "strange"])
def test_what_has_no_counterpart_is_told_with_a_reason(key: str) -> None:
    (note,) = [note for note in convert(LICHESS_BOT, "theirs.yml").notes if note.startswith(f"{key}: ")]
    assert len(note) > len(key) + 10 and "\n" not in note


def test_botlis_file_means_the_same_here(ours: Callable[[str], Settings]) -> None:
    settings = ours(BOTLI)
    play = settings.accounts[0].play
    assert play is not None and play.engine == "standard" and play.concurrency == 2
    assert not play.challenge.accept_bot, "a kind that may play nothing is not let in"
    assert (play.challenge.humans.max_base, play.challenge.humans.time_controls) == (1800, ("25+0",))
    assert (play.draw_or_resign.resign_score, play.draw_or_resign.resign_moves) == (-800, 4)
    assert settings.engines["standard"].model_dump()["go_commands"]["movetime"] == 2500
    assert play.draw_or_resign.draw == DrawTerms(True, 10, 5, 32, min_moves=30, opponents=Opponents(humans=False))
    assert play.draw_or_resign.resign.opponents == Opponents(min_rating=2300)
    assert play.challenge.block_list == ("Troll",)
    assert [rule.model_dump(exclude_none=True) for rule in play.engines] == [
        {"engine": "3+2_rated_tournament", "time_control": "3+2", "mode": "rated", "tournament": True},
        {"engine": "blitz_black", "speed": "blitz", "color": "black"},
    ]
    assert play.matchmaking.challenge_timeout == 2
    assert play.matchmaking.types["fast"].challenge_initial_time == (600,)
    assert play.polyglot.book == {"standard": ("/books/mine.bin",)} and play.polyglot.max_depth == 8
    assert play.polyglot.max_moves == 6
    chessdb = play.online_moves.chessdb_book
    assert (chessdb.priority, chessdb.max_depth, chessdb.max_moves, chessdb.timeout_ms) == (100, 8, 3, 5000)
    assert chessdb.trust_eval and chessdb.min_time == 30, "10 s more without increment, as all pools are"
    assert play.challenge.whitelist == ("Friend",)
    assert (play.matchmaking.timeout, play.matchmaking.types["fast"].min_rating_diff) == (5, 40)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "this is not YAML"),
        ("- 1", "holds no table"),
        ("accounts: []", "already"),
        ("challenge: {}", "neither"),
        ("engine: {}\nengine: {}", "duplicate key 'engine'"),
    ],
)
def test_what_is_no_such_file_is_one_line(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=r"theirs\.yml") as error:
        convert(text, "theirs.yml")
    assert said in str(error.value) and "\n" not in str(error.value)


def test_paths_count_from_the_other_bots_folder_and_a_bare_program_is_in_it() -> None:
    theirs = """
engine:
  dir: ./engines
  name: fish
  working_dir: data
  polyglot: {book: {standard: [books/a.bin, /b.bin]}}
  lichess_bot_tbs: {syzygy: {paths: [tables]}}
pgn_directory: games
"""
    here, there = convert(theirs, "theirs.yml").text, convert(theirs, "theirs.yml", "/opt/bot").text
    assert 'path: "engines/fish"' in here and 'path: "/opt/bot/engines/fish"' in there
    assert 'standard: ["books/a.bin", "/b.bin"]' in here and 'standard: ["/opt/bot/books/a.bin", "/b.bin"]' in there
    assert 'working_dir: "/opt/bot/data"' in there
    assert 'paths: ["/opt/bot/tables"]' in there and 'folder: "/opt/bot/games"' in there
    bare = convert("engines: {standard: {dir: ., name: fish}}", "theirs.yml").text
    assert 'path: "./fish"' in bare, "a bare name would be looked up on PATH"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("engine: {name: a}\nchallenge: {modes: [rated]}", "challenge.modes"),
        ("engines: {a: {}}\nchallenge: {human: {modes: [rated]}, bot: {modes: [casual]}}", "challenge.human.modes"),
    ],
)
def test_who_takes_rated_games_only_is_told_that_none_will_be_kirichess(text: str, key: str) -> None:
    (note,) = [note for note in convert(text, "theirs.yml").notes if note.startswith("challenge")]
    assert note.startswith(f"{key}: ") and "add casual" in note


@pytest.mark.parametrize("name", ["lichess-bot", "BotLi"])
def test_the_shipped_files_are_taken(ours: Callable[[str], Settings], name: str) -> None:
    peers = os.environ.get("KIRICHESS_PEERS")
    if not peers:
        pytest.skip("KIRICHESS_PEERS names no folder with lichess-bot and BotLi")
    assert ours((Path(peers) / name / "config.yml.default").read_text("utf-8")).accounts[0].play is not None


def test_an_engine_whose_options_hold_paths_runs_where_they_count_from() -> None:
    theirs = "engine: {name: fish, protocol: uci, uci_options: {SyzygyPath: ./syzygy/, Hash: 16}}"
    assert 'working_dir: "/opt/bot"' in convert(theirs, "theirs.yml", "/opt/bot").text
    assert "working_dir" not in convert(theirs.replace("./syzygy/", "/syzygy"), "theirs.yml", "/opt/bot").text


def test_lichess_bots_older_names_are_taken(ours: Callable[[str], Settings]) -> None:
    text = """
engine: {name: a, protocol: uci, uci_ponder: true, ponder: false}
correspondence: {uci_ponder: true}
matchmaking: {delay_after_decline: coarse}
"""
    settings = ours(text)
    assert settings.engines["main"].model_dump()["ponder"] is True
    assert settings.accounts[0].play is not None
    assert settings.accounts[0].play.matchmaking.challenge_filter == "coarse"
    assert settings.accounts[0].play.correspondence.ponder


@pytest.mark.parametrize(
    ("variants", "offered"),
    [("[standard, horde]", "standard"), ("[chess960]", "chess960"), ("[standard, chess960]", "random")],
)
def test_a_random_variant_is_one_of_those_that_are_accepted(
    ours: Callable[[str], Settings], variants: str, offered: str
) -> None:
    text = f"engine: {{name: a}}\nchallenge: {{variants: {variants}}}\nmatchmaking: {{challenge_mode: casual}}"
    play = ours(text).accounts[0].play
    assert play is not None and play.matchmaking.challenge_variant == offered


COMMENTED = """
engines:
  standard:
    name: fish
    limits:
      time: 5.0      # Max time per move in seconds.
matchmaking:
  delay: 480         # Time in seconds the bot must be idle.
messages:
  # Keywords:
  #   {me} our name
  # Any other words in curly braces will be removed.
  greeting: "Hi"     # my own words
"""


def test_a_comment_that_would_be_false_here_is_not_kept() -> None:
    text = convert(COMMENTED, "theirs.yml").text
    assert "econds" not in text.replace("Milliseconds", "")
    assert "movetime: 5000  # Milliseconds" in text and "challenge_timeout: 8  # Minutes" in text
    assert "will be removed" not in text
    assert "#   {me} our name" in text and "# my own words" in text


SHIPPED_HERE_FALSE = ("in seconds the bot", "Half move", "half move", "+10 seconds", "will be removed", "homemade")


@pytest.mark.parametrize("name", ["lichess-bot", "BotLi"])
def test_no_comment_of_the_shipped_files_is_false_here(name: str) -> None:
    peers = os.environ.get("KIRICHESS_PEERS")
    if not peers:
        pytest.skip("KIRICHESS_PEERS names no folder with lichess-bot and BotLi")
    text = convert((Path(peers) / name / "config.yml.default").read_text("utf-8"), name).text
    assert [phrase for phrase in SHIPPED_HERE_FALSE if phrase in text] == []


OVERRIDES = """
engine: {name: a}
matchmaking:
  allow_matchmaking: true
  challenge_initial_time: [240, 600]
  challenge_increment: 0
  challenge_mode: casual
  opponent_rating_difference: 300
  overrides:
    easy: {opponent_min_rating: 400, opponent_max_rating: 1200, opponent_rating_difference: }
    quick: {challenge_initial_time: 60}
    slow: {challenge_initial_time: , challenge_increment: , challenge_days: [2, 3]}
    slower: {challenge_initial_time: , challenge_days: 7, challenge_mode: rated}
"""


def test_what_an_override_blanks_is_no_rule_of_its_own(ours: Callable[[str], Settings]) -> None:
    play = ours(OVERRIDES).accounts[0].play
    assert play is not None
    kinds = {kind.name: kind for kind in play.matchmaking.policy(play.pool_clocks, play.has_pool).kinds}
    assert set(kinds) == {"usual", "easy", "quick", "slower"}, "casual correspondence is not offered"
    assert {name: kind.rating_difference for name, kind in kinds.items()} == {
        "usual": 300,
        "easy": None,
        "quick": 300,
        "slower": 300,
    }
    assert (kinds["easy"].min_rating, kinds["easy"].max_rating) == (400, 1200)
    assert [clock.initial_ms for clock in kinds["easy"].clocks] == [240_000, 600_000]
    assert [clock.initial_ms for clock in kinds["quick"].clocks] == [60_000]
    assert kinds["slower"].days == (7,) and not kinds["slower"].clocks
    (note,) = [note for note in convert(OVERRIDES, "theirs.yml").notes if ".overrides.slow:" in note]
    assert "rated only" in note


@pytest.mark.parametrize("text", [LICHESS_BOT, BOTLI])
def test_who_comes_while_the_bot_plays_waits_as_there(ours: Callable[[str], Settings], text: str) -> None:
    play = ours(text).accounts[0].play
    assert play is not None and play.challenge.max_queued >= 20 and play.challenge.queue_s >= 300


def test_kinds_in_turn_are_in_the_order_of_botli(ours: Callable[[str], Settings]) -> None:
    types = "{long: {tc: 15+0}, short: {tc: 1+0}, heavy: {tc: 30+0, weight: 5}, blitz: {tc: 3+2}}"
    play = (
        ours(f"engines: {{standard: {{name: a}}}}\nmatchmaking: {{selection: cyclic, types: {types}}}").accounts[0].play
    )
    assert play is not None and list(play.matchmaking.types) == ["heavy", "short", "blitz", "long"]


def test_a_clock_that_lichess_does_not_offer_is_told(ours: Callable[[str], Settings]) -> None:
    text = "engines: {standard: {name: a}}\nmatchmaking: {types: {odd: {tc: 2.5+0}}}"
    play = ours(text).accounts[0].play
    assert play is not None and play.matchmaking.types["odd"].challenge_initial_time is None
    assert "150 s" in notes(text, "matchmaking.types.odd.tc")[0]


def test_an_override_of_half_a_clock_has_the_usual_other_half(ours: Callable[[str], Settings]) -> None:
    text = """
engine: {name: a}
matchmaking:
  {challenge_mode: rated, challenge_initial_time: 180, challenge_increment: 2,
   overrides: {long: {challenge_initial_time: 600}, added: {challenge_increment: [5, 6]},
               weak: {opponent_max_rating: 9}}}
"""
    play = ours(text).accounts[0].play
    assert play is not None
    found = {kind.name: kind.clocks for kind in play.matchmaking.policy(play.pool_clocks, play.has_pool).kinds}
    assert {name: [(clock.initial_ms, clock.increment_ms) for clock in clocks] for name, clocks in found.items()} == {
        "": [(180_000, 2_000)],
        "long": [(600_000, 2_000)],
        "added": [(180_000, 5_000), (180_000, 6_000)],
        "weak": [(180_000, 2_000)],
    }


def test_an_override_is_as_likely_as_the_usual_kind(ours: Callable[[str], Settings]) -> None:
    text = "engine: {name: a}\nmatchmaking: {challenge_mode: casual, overrides: {fast: {challenge_initial_time: 60}}}"
    play = ours(text).accounts[0].play
    assert play is not None and play.matchmaking.weight == 1
    assert play.matchmaking.overrides["fast"].weight is None


def notes(text: str, key: str) -> list[str]:
    return [note for note in convert(text, "theirs.yml").notes if note.startswith(f"{key}: ")]


@pytest.mark.parametrize("order", [("standard", "chess960"), ("chess960", "standard")])
def test_the_habits_of_standard_books_count_and_others_are_told(
    ours: Callable[[str], Settings], order: tuple[str, str]
) -> None:
    books = {
        "standard": "{names: [A], selection: weighted_random, max_depth: 16}",
        "chess960": "{names: [B], selection: best_move, max_depth: 16}",
    }
    text = "engines: {standard: {name: a}}\nbooks: {A: /a.bin, B: /b.bin}\nopening_books: {read_learn: true, books: {"
    text += ", ".join(f"{name}: {books[name]}" for name in order) + "}}"
    play = ours(text).accounts[0].play
    assert play is not None and (play.polyglot.selection, play.polyglot.max_depth) == ("weighted_random", 8)
    assert play.polyglot.book == {"standard": ("/a.bin",), "chess960": ("/b.bin",)}
    assert len(notes(text, "opening_books.books.chess960.selection")) == 1
    assert not notes(text, "opening_books.books.chess960.max_depth")
    assert "only printed" in notes(text, "opening_books.read_learn")[0]


def test_engines_are_chosen_as_their_names_say(ours: Callable[[str], Settings]) -> None:
    text = "engines: {standard: {name: a}, standard_white: {name: b}, atomic_bot: {name: c}}"
    settings = ours(text)
    assert settings.accounts[0].play is not None
    (rule,) = settings.accounts[0].play.engines
    assert rule.model_dump(exclude_none=True) == {"engine": "standard_white", "color": "white"}
    assert set(settings.engines) == {"standard", "standard_white"} and len(notes(text, "engines.atomic_bot")) == 1


@pytest.mark.parametrize(("more", "usual"), [("", "kiri"), (", blitz: {name: b}", "uci")])
def test_where_botli_has_no_usual_engine_another_plays(ours: Callable[[str], Settings], more: str, usual: str) -> None:
    settings = ours("engines: {antichess: {name: a}" + more + "}")
    play = settings.accounts[0].play
    assert play is not None and settings.engines[play.engine].kind == usual and len(settings.engines) == 1


def test_of_two_engines_for_a_game_the_one_that_botli_takes_comes_first(ours: Callable[[str], Settings]) -> None:
    text = "engines: {standard: {name: a}, standard_white: {name: b}, blitz: {name: c}, 3+2: {name: d}"
    play = ours(text + "}").accounts[0].play
    assert play is not None and [rule.engine for rule in play.engines] == ["3+2", "blitz", "standard_white"]
    assert not notes(text + "}", "engines")
    assert "says most" in notes(text + ", blitz_bot_black: {name: e}}", "engines")[0]


def test_a_number_that_has_to_change_is_told(ours: Callable[[str], Settings]) -> None:
    text = "engine: {name: a}\nmax_takebacks_accepted: 500\nchallenge: {concurrency: '3', max_days: 30, max_base: .inf}"
    play = ours(text).accounts[0].play
    assert play is not None and (play.max_takebacks_accepted, play.challenge.max_days) == (500, 14)
    assert "no number" in notes(text, "challenge.concurrency")[0] and "14" in notes(text, "challenge.max_days")[0]
    assert not notes(text, "challenge.max_base") and not notes(text, "max_takebacks_accepted")
    delay = "engines: {standard: {name: a}}\nmatchmaking: {delay: 90}"
    assert "90 s are 2" in notes(delay, "matchmaking.delay")[0]


@pytest.mark.parametrize(("minutes", "longest_min"), [(15, 11), (20, 15), (8, 6)])
def test_the_longest_game_of_botli_is_the_longest_here(
    ours: Callable[[str], Settings], minutes: int, longest_min: int
) -> None:
    key = f"max_estimated_game_duration: {minutes}   # Maximum expected duration of a game in minutes.\n"
    text = f"engines: {{standard: {{name: a}}}}\nchallenge:\n  human:\n    modes: [casual]\n    {key}"
    play = ours(text).accounts[0].play
    assert play is not None and play.challenge.humans.max_estimated_game_duration is not None
    assert play.challenge.humans.max_estimated_game_duration // 2 == longest_min
    assert notes(text, "challenge.human.max_estimated_game_duration")
    assert "expected" not in convert(text, "theirs.yml").text


LISTS = """
engine: {name: a}
# -- who may ask --
challenge:                      # everybody
  variants: [standard, horde]   # both
  block_list:                   # nobody of these
    - Troll      # cheats
    - "Other"
    - Quoted # "so"
    - SoTroll
  online_block_list:
    - example.com/list    # a friend's
"""


def test_comments_beside_the_entries_of_a_list_are_kept(ours: Callable[[str], Settings]) -> None:
    text = convert(LISTS, "theirs.yml").text
    assert "variants: [standard]  # both" in text
    assert "# -- who may ask --\n      challenge:  # everybody\n" in text
    for line in (
        "block_list:  # nobody of these",
        "- Troll  # cheats",
        "- Other\n",
        "- SoTroll\n",
        '- Quoted  # "so"',
        '"https://example.com/list"  # a friend\'s',
    ):
        assert line in text
    play = ours(LISTS).accounts[0].play
    assert play is not None and play.challenge.block_list == ("Troll", "Other", "Quoted", "SoTroll")


def test_a_greeting_with_a_link_is_left_out_and_told(ours: Callable[[str], Settings]) -> None:
    text = "token: t\nengine: {name: stockfish}\ngreeting: {hello: See https://a.org, goodbye: Bye}\n"
    play = ours(text).accounts[0].play
    assert play is not None and play.greeting == Greeting(goodbye="Bye")
    assert notes(text, "greeting.hello") == ["greeting.hello: holds a link, and none are said in chat; left out"]
