"""What the bot says: clock facts, in lines that fit."""

from dataclasses import replace

import chess
import pytest

from bridge.decisions import chat_commands
from bridge.decisions import chat_lines as chat
from bridge.decisions.chat_habits import Habits, wait_line
from bridge.decisions.draw import DrawTerms
from bridge.decisions.pool_choice import DEFAULT_BY_TIME_CONTROL
from bridge.rules.events import Ended, Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import NAMED, Ruleset, named, parse_dials
from bridge.rules.snapshot import Setup
from bridge.words import LANGUAGES, words

LONG = parse_dials(
    {
        "base_s": 10_799.5,
        "increment_s": 59.25,
        "economy": {"gain": 1.23, "loss": 0.77},
        "capture_multiplier": 3.75,
        "toll_multiplier": 2.125,
        "chip_s": 12.75,
        "promotion_fee": 2,
    }
)
RULES = [*(named(name) for name in NAMED), LONG]


def game(rules: Ruleset, *moves: tuple[str, int]) -> Ledger:
    ledger = Ledger(Setup("g", rules, "stream", 10))
    for uci, think_ms in moves:
        ledger.apply(Moved(uci, think_ms))
    return ledger


TALKATIVE = Habits(
    DrawTerms(enabled=True, score_cp=25, moves=10, pieces=32, min_moves=100),
    takebacks=1000,
    variants=("standard", "chess960", "fromPosition"),
    controls=tuple(DEFAULT_BY_TIME_CONTROL),
)


def reply(text: str, ledger: Ledger, elapsed_ms: int = 0, lang: str = "en", habits: Habits = TALKATIVE) -> str | None:
    facts = chat_commands.Facts(ledger, elapsed_ms, "Kiri", "kiri", "Stockfish 15.1", 120, 3, "+0.31", habits=habits)
    return chat_commands.reply(text, facts, words(lang))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.pool or "custom")
def test_every_line_fits(rules: Ruleset, lang: str) -> None:
    ledger = game(rules, ("e2e4", 0), ("e7e5", 0))
    fallen = game(rules, ("e2e4", 0), ("e7e5", 100_000_000))
    marks = chat.marks_passed(game(rules, ("e2e4", 0)), set())
    answered = [*chat_commands.AFTER, *(set(chat_commands.COMMANDS) - {"!standard", "!lang"})]
    asked = sorted({*chat_commands.QUIET, *chat_commands.ALIASES} - {"!wait"})
    lines = [
        *chat.greeting(rules, "15+0", words(lang)),
        chat.clock_line(ledger, [(chess.WHITE, 5_399_750), (chess.BLACK, 5_399_750)], words(lang)),
        chat.flag_line(fallen, words(lang)),
        *(reply(command, ledger, 0, lang) for command in answered),
        *chat_commands.chosen(rules, "15+0", words(lang)),
        *chat_commands.chosen(replace(rules, scored=False), "15+0", words(lang)),
        *(reply(command, ledger, 0, lang, habits) for command in asked for habits in (Habits(), TALKATIVE)),
        *(wait_line(words(lang), granted=granted) for granted in (True, False)),
        *(chat_commands.refusal(bar, words(lang)) for bar in chat_commands.Bar),
    ]
    assert marks == []
    for line in lines:
        assert line
        assert len(line) <= chat.MAX_CHARACTERS
        assert "http" not in line


def test_only_commands_are_answered() -> None:
    ledger = game(named("anchor"))
    for text in ("", " ", "clock", "hello !clock", "!moves", "!best", "!"):
        assert reply(text, ledger) is None
    assert reply("  !CLOCK please ", ledger) == "KiriChess clocks: White 6:00 · Black 6:00"


def test_clocks_are_told_as_they_stand_within_a_turn() -> None:
    ledger = Ledger(Setup("g", named("anchor"), "think", 0))
    assert reply("!clock", ledger, 65_000) == "KiriChess clocks: White 4:55 · Black 6:00"
    assert reply("!gap", ledger, 65_000) == "Clock gap: Black is 1:05 ahead"
    assert reply("!clock", ledger, 400_000) == "KiriChess clocks: White 0:00.1 · Black 6:00", "no fall by estimate"
    ledger.apply(Moved("e2e4", 0))
    assert reply("!clock", ledger, 60_000) == "KiriChess clocks: White 5:59 · Black 5:00"
    ledger.apply(Ended("resign", chess.WHITE))
    assert reply("!clock", ledger, 60_000) == "KiriChess clocks: White 5:59 · Black 6:00"


def test_the_gap_is_told_from_the_one_who_is_ahead() -> None:
    assert chat.gap_line(game(named("anchor"))) == "Clock gap: none"
    assert "Black is 0:01" in chat.gap_line(game(named("anchor"), ("e2e4", 0)))


def test_marks_are_told_once_and_the_lowest_one_alone() -> None:
    """Anchor: half 3:00, a quarter 1:30, then 0:30 and 0:10."""
    passed: set[tuple[chess.Color, int]] = set()
    ledger = game(named("anchor"), ("e2e4", 100_000), ("e7e5", 0))
    assert chat.marks_passed(ledger, passed) == []
    ledger.apply(Moved("g1f3", 100_000))
    assert chat.marks_passed(ledger, passed) == [(chess.WHITE, 180_000)]
    assert chat.marks_passed(ledger, passed) == []
    ledger.apply(Moved("b8c6", 335_000))
    assert chat.marks_passed(ledger, passed) == [(chess.BLACK, 30_000)]
    assert {(chess.BLACK, 180_000), (chess.BLACK, 90_000)} < passed


def test_a_short_pool_has_each_mark_once() -> None:
    """Winder: half of a minute is 0:30."""
    ledger = game(named("winder"), ("e2e4", 29_500))
    assert chat.marks_passed(ledger, set()) == [(chess.WHITE, 30_000)]


def test_a_mark_that_was_passed_before_a_restart_stays_passed() -> None:
    """Though the clock has risen above it again by a capture."""
    ledger = game(named("anchor"), ("e2e4", 0), ("d7d5", 0), ("h2h3", 178_500))
    assert ledger.white_ms < 180_000
    passed = chat.marks_behind(ledger)
    assert passed == {(chess.WHITE, 180_000)}
    for uci in ("h7h6", "e4d5"):
        ledger.apply(Moved(uci, 0))
    assert ledger.white_ms > 180_000
    assert chat.marks_behind(ledger) == passed


def test_bills_and_evaluations_wait_for_the_end() -> None:
    ledger = game(named("anchor"), ("e2e4", 0), ("e7e5", 0))
    assert reply("!eval", ledger) == "I answer !eval after the game."
    assert reply("!bill", ledger) == "I answer !bill after the game."
    ledger.apply(Ended("resign", chess.WHITE))
    assert reply("!eval", ledger) == "My last evaluation, from White’s side: +0.31"
    assert reply("!eval", ledger, 0, "nl") == "Mijn laatste oordeel, vanuit Wit gezien: +0,31"
    assert reply("!bill", ledger) == "No priced ending is on the board."


def test_a_language_has_its_own_words_and_decimal_mark() -> None:
    ledger = Ledger(Setup("g", named("anchor"), "think", 0))
    assert reply("!clock", ledger, 400_000, "nl") == "KiriChess-klokken: Wit 0:00,1 · Zwart 6:00"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("My engine: Fish 1.2 (https://fish.org/a?b) (UCI)", "My engine: Fish 1.2 ( (UCI)"),
        ("see LICHESS.org/abcdefgh now", "see now"),
        ("www.a.b", ""),
        ("Stockfish 15.1, 5+0 at 0:10.5, e.g. e4.", "Stockfish 15.1, 5+0 at 0:10.5, e.g. e4."),
    ],
)
def test_no_link_is_said(line: str, said: str) -> None:
    assert chat.without_links(line) == said


def test_fields_are_filled_and_unknown_ones_stay() -> None:
    assert chat.filled("Hi {opponent}, {what}", {"opponent": "Bo"}) == "Hi Bo, {what}"


@pytest.mark.parametrize("line", ["Hi {", "}", "{}", "{0}", "{opponent.name}", "{opponent:d}", "{opponent!r}", "{{"])
def test_a_line_with_braces_of_its_own_is_said_as_it_is_written(line: str) -> None:
    assert chat.filled(line, {"opponent": "Bo"}) == line


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("kiri", "Stockfish 15.1", "KiriChess layer over Stockfish 15.1"),
        ("kiri", "", "KiriChess’s own search"),
        ("uci", "Stockfish 15.1", "Stockfish 15.1 (UCI)"),
        ("xboard", "GNU Chess 6.2.9", "GNU Chess 6.2.9 (XBoard)"),
        ("python", "Mine", "Mine (Python)"),
        ("random", "", "legal moves by lot"),
        ("", "main", "main"),
    ],
)
def test_the_engine_is_named_by_what_it_is(kind: str, name: str, text: str) -> None:
    facts = chat_commands.Facts(game(named("anchor")), engine_kind=kind, engine=name)
    assert chat_commands.reply("!engine", facts, words("en")) == f"My engine: {text}"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kind", ["kiri", "uci", "xboard", "python", "random", ""])
def test_the_longest_name_of_an_engine_fits(kind: str, lang: str) -> None:
    facts = chat_commands.Facts(game(named("anchor")), engine_kind=kind, engine="Fish\n\x1b" * 100)
    answer = chat_commands.reply("!engine", facts, words(lang)) or ""
    assert len(answer) <= chat.MAX_CHARACTERS
    assert answer.isprintable()


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("!draw", "my last 10 scores are within 0.25 of 0, from move 101 on, with at most 32 pieces"),
        ("!takeback", "0 of 1000"),
        ("!variants", "standard chess960 fromPosition"),
        ("!challenge", "KiriChess at 1+0 4+0"),
        ("!motor", "My engine: KiriChess layer"),
        ("!commands", "Commands: !help"),
    ],
)
def test_what_other_bots_answer_is_answered_here_too(command: str, answer: str) -> None:
    assert answer in (reply(command, game(named("anchor"))) or "")


def test_who_takes_no_draws_by_scores_says_so() -> None:
    assert reply("!draw", game(named("anchor")), habits=Habits()) == "I take no draws by scores, only by KiriChess."


@pytest.mark.parametrize("command", ["!pv", "!printeval", "!cpu", "!ram"])
def test_lines_of_moves_and_the_machine_are_nobodys_to_ask(command: str) -> None:
    assert reply(command, game(named("anchor"))) is None
