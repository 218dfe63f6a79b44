"""What kiri makes of the engine's searches: repetitions with the better clock, wins that can be paid."""

from collections.abc import Callable

import chess
import pytest

from bridge.engines.choosing import choose
from bridge.engines.conversion import payable
from bridge.engines.line import AT_ONCE, Line, Pace
from bridge.engines.reasons import explain_choice
from bridge.engines.switches import Switches
from bridge.engines.uci_info import MATE_CP
from bridge.engines.view import Ask, Decision, Found, View
from bridge.rules.events import Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import POOLS, parse_dials
from bridge.rules.position import read_move, start_board
from bridge.rules.snapshot import Setup

Engine = Callable[[Ask], Found]


def view(fen: str, moves: str = "", white_ms: int = 60_000, black_ms: int = 60_000, pool: str = "anchor") -> View:
    board = start_board(fen)
    for uci in moves.split():
        board.push(read_move(board, uci))
    return View(board, False, white_ms, black_ms, POOLS[pool])


def decide(given: View, engine: Engine, switches: Switches | None = None) -> Decision:
    steps = choose(given, switches or Switches())
    try:
        ask = next(steps)
        while True:
            ask = steps.send(engine(ask))
    except StopIteration as end:
        decision: Decision = end.value
        return decision


def prefers(*ucis: str, score_cp: int = 0) -> Engine:
    """An engine that plays the first of these moves that it may."""

    def answer(ask: Ask) -> Found:
        uci = next((uci for uci in ucis if not ask.moves or uci in ask.moves), ask.moves[0] if ask.moves else ucis[0])
        return Found(uci, score_cp, 9, (uci,))

    return answer


@pytest.mark.parametrize(("white_ms", "black_ms", "repeats"), [(90_000, 60_000, False), (60_000, 90_000, True)])
def test_whoever_has_the_better_clock_does_not_repeat(white_ms: int, black_ms: int, repeats: bool) -> None:
    fen, moves = "4k3/7p/8/8/8/8/P7/4K3 w - - 0 1", "e1e2 e8e7 e2e1 e7e8"
    given = view(fen, moves, white_ms, black_ms)
    decision = decide(given, prefers("e1e2", "a2a4"))
    assert decision.uci == ("e1e2" if repeats else "a2a4")


def test_a_repetition_is_better_than_a_lost_game_even_with_the_better_clock() -> None:
    given = view("4k3/7p/8/8/8/8/P7/4K3 w - - 0 1", "e1e2 e8e7 e2e1 e7e8", 90_000, 60_000)

    def engine(ask: Ask) -> Found:
        return Found("e1e2", 0, 9, ("e1e2",)) if not ask.moves else Found(ask.moves[0], -500, 9, (ask.moves[0],))

    assert decide(given, engine).uci == "e1e2"


def test_a_win_that_the_clock_cannot_pay_is_left_for_one_that_it_can() -> None:
    line = Line(chess.Board("7k/8/5K2/8/8/8/P6Q/8 b - - 0 1", chess960=True), 5_000, 60_000, POOLS["anchor"])
    line.board.turn = chess.WHITE
    dear = Found("h2d2", 900, 9, ("h2d2", "h8g8", "d2e2", "g8h8", "e2e8"))
    cheap = Found("f6f7", 900, 9, ("f6f7", "h8h7"))
    assert not payable(line, dear)
    rich = Line(chess.Board("7k/8/5K2/8/8/8/P6Q/8 w - - 0 1", chess960=True), 90_000, 60_000, POOLS["anchor"])
    assert payable(rich, dear)
    assert payable(rich, cheap)


def test_an_ending_is_weighed_by_its_bill_and_by_who_runs_out_first() -> None:
    fen = "8/8/8/4k3/8/8/8/K6R w - - 0 1"
    poor = Line(chess.Board(fen, chess960=True), 30_000, 200_000, POOLS["anchor"], (Pace(500), Pace(500)))
    rich = Line(chess.Board(fen, chess960=True), 150_000, 200_000, POOLS["anchor"], (Pace(500), Pace(500)))
    first = Line(chess.Board(fen, chess960=True), 30_000, 5_000, POOLS["anchor"], (Pace(500), Pace(500)))
    step = Found("a1b2", 500, 20, ("a1b2",))
    assert [payable(line, step) for line in (poor, rich, first)] == [False, True, True]


HUNTS = ("8/8/3k4/8/8/8/4Q3/K7 w - - 0 1", "8/8/3k4/8/8/8/4R3/K7 w - - 0 1", "8/8/3k4/2p5/8/8/4Q3/K7 w - - 0 1")


def centred(board: chess.Board) -> chess.Move:
    """The defender's: whatever can be taken, else the king towards the middle."""
    middle = (chess.D4, chess.E4, chess.D5, chess.E5)

    def worth(move: chess.Move) -> tuple[bool, int, str]:
        return (
            board.is_capture(move),
            -min(chess.square_distance(move.to_square, square) for square in middle),
            str(move),
        )

    return max(board.legal_moves, key=worth)


@pytest.mark.parametrize("base_s", [25, 60])
@pytest.mark.parametrize("fen", HUNTS)
def test_a_bare_king_is_hunted_for_no_more_than_the_clock_has(fen: str, base_s: int) -> None:
    """By our own search, which knows of both clocks: to the engine the shorter mate is better, whatever it costs."""
    ledger = Ledger(Setup("x", parse_dials({"pool": "anchor", "base_s": base_s}), "think", 0, start_fen=fen))
    while ledger.outcome is None:
        if ledger.turn == chess.WHITE:
            given = View.of(ledger, 0, (AT_ONCE, AT_ONCE), 4_000)
            decision = decide(given, prefers())
            assert decision.nodes <= 4_200
            ledger.apply(Moved(decision.uci, 0))
        else:
            ledger.apply(Moved(ledger.board.uci(centred(ledger.board), chess960=False), 0))
    assert ledger.outcome.winner == chess.WHITE


def test_an_ending_with_time_to_spare_is_the_engines() -> None:
    given = view(HUNTS[0], "", 300_000, 300_000)
    assert decide(given, prefers("e2e8")).uci == "e2e8"


def test_every_part_can_be_turned_off() -> None:
    off = Switches(flags=False, safe_moves=0, conversion=False, swindle=False, persist=False)
    given = view("k7/p7/8/3r4/8/8/8/3QK3 w - - 0 1", "", 1_500, 60_000, "ratchet")
    decision = decide(given, prefers("d1d5"), off)
    assert (decision.uci, decision.nodes) == ("d1d5", 0)


def test_a_draw_by_a_flag_is_taken_when_everything_else_loses_by_one() -> None:
    # White has only king and knight: if its own flag falls it loses, if Black's falls by a capture it is a draw.
    given = view("7k/8/8/8/4p3/2N5/8/K7 w - - 0 1", "", 1_000, 4_000, "anchor")
    decision = decide(given, prefers("c3b5"))
    assert decision.uci == "c3e4"


def test_a_pawn_is_not_promoted_to_what_its_capture_flags_us_by() -> None:
    """The queen costs more than any man that is on the board before."""
    given = view("3r4/1P2k3/8/8/8/5B2/6K1/8 w - - 0 1", "", 90_000, 60_000, "eclipse")
    assert decide(given, prefers("b7b8q")).uci != "b7b8q"


def test_the_explanation_names_candidates_and_what_was_ruled_out() -> None:
    given = view("k7/p7/8/3r4/8/8/8/3QK3 w - - 0 1", "", 3_500, 60_000, "ratchet")
    text = explain_choice(decide(given, prefers("d1d3", "d1d5", score_cp=40)))
    assert text.splitlines()[0] == "d1d5: the engine's move"
    assert "  d1d5 +0.40, own clock -0:02.0, other -0:17.0" in text
    assert "(flags ourselves)" in text


def test_a_move_that_needs_no_search_is_explained_too() -> None:
    wins = decide(view("4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1", "", 60_000, 4_900), prefers("e1e2"))
    assert explain_choice(wins).splitlines()[1] == "  d2d5, own clock +0:01.0, other -0:05.0"
    forced = decide(view("k7/8/8/8/8/8/5q2/7K w - - 0 1".replace("5q2", "6q1")), prefers("h1g2"))
    assert explain_choice(forced).splitlines()[1] == "  h1g2, own clock +0:24.0, other -0:25.0"


def test_our_own_searches_keep_to_their_part_of_the_nodes() -> None:
    given = view("r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP2BPPP/R1BQ1RK1 w - - 0 9", "", 9_000, 9_000)
    short = View(given.board, False, 9_000, 9_000, given.dials, allowance=60)
    assert decide(short, prefers("c4d5")).nodes <= 110


@pytest.mark.parametrize(
    ("fen", "shortest", "mate_in", "cheapest"),
    [
        ("1n6/8/5p2/QP6/8/K7/8/1k6 w - - 0 1", "a5c3", 2, "a3b3"),  # the king's step in place of the queen's
        ("1k6/1p1P4/4Q3/2p5/8/8/5K2/8 w - - 0 1", "e6b6", 2, "d7d8q"),  # the pawn's, with a check that pays
        ("1k6/1p6/1P3n2/8/5K2/8/7Q/8 w - - 0 1", "h2h8", 2, "f4g5"),  # a move longer, a second cheaper
        ("1n6/8/5p2/QP6/8/K7/8/1k6 w - - 0 1", "a3b3", 2, "a3b3"),  # the engine's is the cheapest
    ],
)
def test_the_cheapest_mate_is_preferred_to_the_shortest(fen: str, shortest: str, mate_in: int, cheapest: str) -> None:
    decision = decide(view(fen), prefers(shortest, score_cp=MATE_CP - mate_in))
    assert decision.uci == cheapest
    off = Switches(conversion=False)
    assert decide(view(fen), prefers(shortest, score_cp=MATE_CP - mate_in), off).uci == shortest
