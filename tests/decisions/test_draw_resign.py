"""Giving up and drawing by scores, and a win that cannot be paid."""

import chess
import pytest

from bridge.decisions.draw import DrawTerms, cannot_pay, is_level, must_fall
from bridge.decisions.opponents import Opponents
from bridge.decisions.resign import ResignTerms, gives_up
from bridge.rules.events import Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named, parse_dials
from bridge.rules.snapshot import Setup

START = Ledger(Setup("g", named("anchor"), "stream", 10))
QUEEN_ENDING = "7k/8/8/8/8/8/Q7/K7 w - - 0 1"


@pytest.mark.parametrize(
    ("scores", "lost"),
    [
        ([-1000, -1200, -1500], True),
        ([-1000, -999, -1500], False),
        ([-1000, None, -1500], False),
        ([-2000, -2000], False),
        ([0, -1000, -1000, -1000], True),
    ],
)
def test_hopeless_scores_in_a_row_are_given_up(scores: list[int | None], lost: bool) -> None:
    assert gives_up(START, scores, ResignTerms(enabled=True)) is lost
    assert not gives_up(START, scores, ResignTerms())


def test_level_scores_with_few_pieces_are_a_draw() -> None:
    few = Ledger(Setup("g", named("anchor"), "stream", 10, start_fen=QUEEN_ENDING))
    many = Ledger(Setup("g", named("anchor"), "stream", 10))
    terms = DrawTerms(enabled=True, moves=2, score_cp=5)
    assert is_level(few, [90, 5, -5], terms)
    assert not is_level(few, [5, 6], terms)
    assert not is_level(few, [5, None], terms)
    assert not is_level(many, [0, 0], terms)
    assert not is_level(few, [0, 0], DrawTerms(moves=2))


def test_a_win_that_costs_more_than_the_clock_cannot_be_paid() -> None:
    poor = Ledger(Setup("g", parse_dials({"base_s": 1}), "stream", 10, start_fen=QUEEN_ENDING))
    rich = Ledger(Setup("g", named("anchor"), "stream", 10, start_fen=QUEEN_ENDING))
    assert cannot_pay(poor, chess.WHITE)
    assert not cannot_pay(rich, chess.WHITE)
    assert not cannot_pay(poor, chess.BLACK), "it has nothing to win"


@pytest.mark.parametrize(
    ("fen", "base_s", "falls"),
    [
        (None, 1, True),
        (None, 1.001, False),  # a pawn's move can be paid
        ("k7/8/8/8/8/8/1P1r4/K7 w - - 0 1", 1, True),
        ("k7/8/8/8/8/1K6/8/2R5 w - - 0 1", 1, False),  # mate outranks the flag
        ("kr6/8/1P6/8/8/8/8/K7 w - - 0 1", 1, False),  # a check's chip pays for it
        ("k7/8/8/3p4/4P3/8/8/K7 w - - 0 1", 1, False),  # a capture gains before its toll is paid
        ("k7/8/8/8/8/8/8/KQ6 w - - 0 1", 1, False),  # a bare king cannot win by it
    ],
)
def test_a_flag_falls_by_every_move_there_is(fen: str | None, base_s: float, falls: bool) -> None:
    ledger = Ledger(Setup("g", parse_dials({"base_s": base_s}), "stream", 10, start_fen=fen))
    assert must_fall(ledger, chess.WHITE) is falls
    assert not must_fall(ledger, chess.BLACK), "it is not to move"


@pytest.mark.parametrize(("third", "falls"), [("f3g1", False), ("b1c3", True)])
def test_a_position_can_be_brought_back_for_nothing(third: str, falls: bool) -> None:
    ledger = Ledger(Setup("g", parse_dials({"base_s": 5}), "stream", 10))
    for uci, think_ms in (("g1f3", 0), ("g8f6", 2_000), (third, 0)):
        ledger.apply(Moved(uci, think_ms))
    assert must_fall(ledger, chess.BLACK) is falls


def test_what_tables_say_counts_where_it_is_asked_for() -> None:
    ledger = Ledger(Setup("g", named("anchor"), "stream", 10))
    assert gives_up(START, [], ResignTerms(enabled=True), -2)
    assert not gives_up(START, [], ResignTerms(enabled=True), -1), "the fifty moves save it"
    assert not gives_up(START, [], ResignTerms(), -2)
    assert not gives_up(START, [], ResignTerms(enabled=True, by_tables=False), -2)
    assert is_level(ledger, [], DrawTerms(enabled=True), 0)
    assert not is_level(ledger, [], DrawTerms(enabled=True), 1)
    assert not is_level(ledger, [], DrawTerms(), 0)
    assert not is_level(ledger, [], DrawTerms(enabled=True, by_tables=False), 0)


def test_scores_do_not_count_before_both_sides_have_made_their_moves() -> None:
    young, grown = (Ledger(Setup("g", named("anchor"), "stream", 10)) for _ in range(2))
    for uci in ("g1f3", "g8f6", "f3g1"):
        young.apply(Moved(uci, 0))
        grown.apply(Moved(uci, 0))
    grown.apply(Moved("f6g8", 0))
    draw, resign = DrawTerms(enabled=True, moves=1, pieces=32, min_moves=2), ResignTerms(True, moves=1, min_moves=2)
    assert not is_level(young, [0], draw) and is_level(grown, [0], draw)
    assert not gives_up(young, [-2000], resign) and gives_up(grown, [-2000], resign)
    assert is_level(young, [], draw, 0) and gives_up(young, [], resign, -2), "tables know in any case"


@pytest.mark.parametrize(
    ("opponents", "bot", "rating", "counts"),
    [
        (Opponents(), False, None, True),
        (Opponents(humans=False), False, 2500, False),
        (Opponents(humans=False), True, None, True),
        (Opponents(min_rating=2300), True, 2299, False),
        (Opponents(min_rating=2300), False, 2300, True),
        (Opponents(min_rating=2300), False, None, True),
    ],
)
def test_they_hold_against_those_that_are_meant(
    opponents: Opponents, bot: bool, rating: int | None, counts: bool
) -> None:
    assert DrawTerms(enabled=True, opponents=opponents).against(bot=bot, rating=rating).enabled is counts
    assert ResignTerms(enabled=True, opponents=opponents).against(bot=bot, rating=rating).enabled is counts
    assert not DrawTerms(opponents=opponents).against(bot=bot, rating=rating).enabled
