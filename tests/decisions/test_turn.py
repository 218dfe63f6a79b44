"""When to wait, think, resign and offer a draw."""

import chess
import pytest

from bridge.decisions.turn import Decision, Seat, claims_draw, decide, wants_draw
from bridge.rules.events import Ended, Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset, named, parse_dials
from bridge.rules.snapshot import Setup

WINDER = named("winder")
WHITE, BLACK = Seat(chess.WHITE, acts=True), Seat(chess.BLACK, acts=True)


def game(
    *moves: tuple[str, int | None], rules: Ruleset = WINDER, fen: str | None = None, precision_ms: int = 10
) -> Ledger:
    ledger = Ledger(Setup("g", rules, "stream", precision_ms, start_fen=fen))
    for uci, think_ms in moves:
        ledger.apply(Moved(uci, think_ms))
    return ledger


def test_the_side_to_move_thinks_and_the_other_waits() -> None:
    ledger = game(("e2e4", 0))
    assert decide(ledger, BLACK) is Decision.THINK
    assert decide(ledger, WHITE) is Decision.WAIT


def test_a_finished_game_is_waited_for() -> None:
    ledger = game(("e2e4", 0))
    ledger.apply(Ended("resign", chess.WHITE))
    assert decide(ledger, BLACK) is Decision.WAIT


def test_our_own_fall_is_resigned_and_theirs_is_played_on() -> None:
    ledger = game(("e2e4", 0), ("e7e5", 70_000))
    assert decide(ledger, BLACK) is Decision.RESIGN
    assert decide(ledger, WHITE) is Decision.THINK


def test_no_resignation_where_kirichess_does_not_act() -> None:
    ledger = game(("e2e4", 0), ("e7e5", 70_000), ("g1f3", 0))
    assert decide(ledger, Seat(chess.BLACK, acts=False)) is Decision.THINK


@pytest.mark.parametrize("moves", [(("e2e4", 0), ("e7e5", 59_005)), (("e2e4", None), ("e7e5", 70_000))])
def test_no_resignation_on_what_is_not_certain(moves: tuple[tuple[str, int | None], ...]) -> None:
    """A clock within the error of its reading, or a ply whose time is unknown."""
    ledger = game(*moves)
    assert ledger.outcome is not None
    assert not ledger.certain
    assert decide(ledger, BLACK) is Decision.WAIT


ROOK = "7k/8/8/8/8/8/R7/K7 w - - 0 1"
WALL = "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 0 1"


@pytest.mark.parametrize(
    "ledger",
    [
        game(("a2b2", 70_000), fen=ROOK),
        game(fen=WALL, rules=parse_dials({"pool": "winder", "dead_position": "exact"})),
    ],
    ids=["a flag against a lone king", "a locked wall"],
)
def test_a_draw_that_the_platform_does_not_know_is_offered_once(ledger: Ledger) -> None:
    assert ledger.outcome is not None
    assert ledger.outcome.result == "1/2-1/2"
    for seat in (WHITE, BLACK):
        assert wants_draw(ledger, seat, theirs=False, offered=False)
        assert not wants_draw(ledger, seat, theirs=False, offered=True)
        assert wants_draw(ledger, seat, theirs=True, offered=True)
        assert not wants_draw(ledger, Seat(seat.side, acts=False), theirs=True, offered=False)
    assert decide(ledger, Seat(ledger.turn, acts=True)) is Decision.THINK
    ledger.apply(Ended("resign", chess.WHITE))
    assert not wants_draw(ledger, WHITE, theirs=True, offered=False)


@pytest.mark.parametrize("moves", [(("a2b2", 60_005),), (("a2b2", None), ("h8g8", 0), ("b2c2", 70_000))])
def test_no_draw_on_what_is_not_certain(moves: tuple[tuple[str, int | None], ...]) -> None:
    ledger = game(*moves, fen=ROOK)
    assert ledger.outcome is not None
    assert ledger.outcome.result == "1/2-1/2"
    assert not wants_draw(ledger, BLACK, theirs=True, offered=False)
    assert not wants_draw(ledger, BLACK, theirs=False, offered=False)


def test_a_stalemate_is_left_to_the_platform() -> None:
    ledger = game(("c6b6", 0), fen="k7/2Q5/2K5/8/8/8/8/8 w - - 0 1")
    assert ledger.outcome is not None
    assert ledger.outcome.reason == "stalemate"
    assert decide(ledger, BLACK) is Decision.WAIT
    assert not wants_draw(ledger, BLACK, theirs=False, offered=False)
    assert wants_draw(ledger, BLACK, theirs=True, offered=False)


def test_a_draw_in_a_game_that_is_not_drawn_is_never_wanted() -> None:
    assert not wants_draw(game(("e2e4", 0)), BLACK, theirs=True, offered=False)
    assert not wants_draw(game(("e2e4", 0), ("e7e5", 70_000)), BLACK, theirs=True, offered=False)


def test_a_mated_side_has_nothing_to_think_about() -> None:
    ledger = game(("f2f3", 0), ("e7e5", 0), ("g2g4", 0), ("d8h4", 0))
    assert decide(ledger, WHITE) is Decision.WAIT


def test_the_game_of_one_who_has_left_is_won_or_drawn() -> None:
    running, flagged = game(fen=ROOK), game(("a2b2", 70_000), fen=ROOK)
    assert not claims_draw(running, WHITE)
    assert claims_draw(running, BLACK), "a lone king never mates"
    assert claims_draw(flagged, WHITE), "the flag of the side that could mate draws"
    assert not claims_draw(flagged, Seat(chess.WHITE, acts=False)), "in plain chess White still has its rook"
    won = game(("e2e4", 0), ("e7e5", 70_000))
    assert not claims_draw(won, WHITE)
