"""What the built-in engine sees: mate, both flags, tolls worth saving, draws worth avoiding."""

import random
import time
from collections.abc import Callable

import chess
import pytest

from bridge.engines.builtin import BuiltinEngine, budget_ms, line_of
from bridge.engines.line import Line
from bridge.engines.search import WIN_CP, Found, find_move
from bridge.interfaces import Limit
from bridge.rules.dials import Dials
from bridge.rules.endings import Outcome
from bridge.rules.events import Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import POOLS, parse_dials
from bridge.rules.snapshot import Setup

Game = Callable[..., Ledger]
PLENTY_MS = 300_000


def set_up(fen: str, white_ms: int = PLENTY_MS, black_ms: int = PLENTY_MS, pool: str = "anchor") -> Line:
    return Line(chess.Board(fen, chess960=True), white_ms, black_ms, POOLS[pool])


def within(nodes: int) -> Callable[[], bool]:
    left = iter(range(nodes))
    return lambda: next(left, None) is None


def search(line: Line, seed: int = 0, nodes: int = 3_000) -> Found:
    return find_move(line, within(nodes), random.Random(seed))


def outcome_of(line: Line, move: chess.Move) -> Outcome | None:
    outcome = line.push(move)
    line.pop()
    return outcome


# -- the flags -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [0, 3_000])
def test_mate_comes_first_even_with_an_empty_clock(nodes: int) -> None:
    found = search(set_up("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", white_ms=1), nodes=nodes)
    assert found.move.uci() == "a1a8"
    assert found.score_cp > WIN_CP // 2


@pytest.mark.parametrize("nodes", [0, 3_000])
@pytest.mark.parametrize(("white_ms", "takes"), [(1_500, False), (60_000, True)])
def test_no_walk_into_its_own_flag_when_a_cheaper_move_is_there(nodes: int, white_ms: int, takes: bool) -> None:
    line = set_up("k7/p7/8/3r4/8/8/8/3QK3 w - - 0 1", white_ms, pool="ratchet")
    found = search(line, nodes=nodes)
    assert (found.move.uci() == "d1d5") is takes
    assert outcome_of(line, found.move) is None


@pytest.mark.parametrize("nodes", [0, 3_000])
@pytest.mark.parametrize("black_ms", [4_900, PLENTY_MS])
def test_a_capture_that_flags_is_worth_the_queen(nodes: int, black_ms: int) -> None:
    line = set_up("4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1", PLENTY_MS, black_ms)
    found = search(line, nodes=nodes)
    if black_ms < PLENTY_MS:
        assert found.move.uci() == "d2d5"
        assert outcome_of(line, found.move) == Outcome("flag", chess.WHITE)
    elif nodes:
        assert found.move.uci() != "d2d5"


@pytest.mark.parametrize("black_ms", [1_900, PLENTY_MS])
def test_a_check_that_flags_is_worth_the_queen(black_ms: int) -> None:
    line = set_up("rnbqkbnr/pppp1ppp/8/4p3/8/5Q2/PPPPPPPP/RNB1KBNR w KQkq - 0 1", PLENTY_MS, black_ms)
    found = search(line)
    assert (outcome_of(line, found.move) == Outcome("flag", chess.WHITE)) is (black_ms == 1_900)


def test_a_flag_that_the_opponent_cannot_help_is_played_for() -> None:
    line = set_up("4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1", PLENTY_MS, 900)
    assert search(line).score_cp > WIN_CP // 2


def test_the_clock_gap_decides_among_equal_moves() -> None:
    line = set_up("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1", 12_000, PLENTY_MS)
    rich = search(line).score_cp
    line = set_up("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1", PLENTY_MS, 12_000)
    assert search(line).score_cp > rich + 300


# -- draws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [0, 3_000])
@pytest.mark.parametrize("seed", range(5))
def test_no_stalemate_when_ahead(seed: int, nodes: int) -> None:
    line = set_up("k7/8/3K4/8/8/8/1Q6/8 w - - 0 1")
    assert outcome_of(line, chess.Move.from_uci("b2b6")) == Outcome("stalemate")
    found = search(line, seed, nodes)
    assert outcome_of(line, found.move) is None
    assert found.score_cp > 300


@pytest.mark.parametrize("nodes", [0, 3_000])
@pytest.mark.parametrize(
    ("fen", "moves", "third", "draws"),
    [
        ("k7/8/8/8/8/8/2Q5/4K3 b - - 0 1", "a8a7 c2d2 a7a8 d2c2 a8a7 c2d2 a7a8", "d2c2", False),
        ("kr5r/8/8/8/8/8/8/N3K3 b - - 0 1", "b8c8 a1c2 c8b8 c2a1 b8c8 a1c2 c8b8", "c2a1", True),
    ],
)
def test_a_third_repetition_is_for_those_who_are_behind(
    game: Game, fen: str, moves: str, third: str, draws: bool, nodes: int
) -> None:
    line = line_of(game(fen, moves), 0)
    assert outcome_of(line, chess.Move.from_uci(third)) == Outcome("threefold")
    assert (search(line, nodes=nodes).move.uci() == third) is draws


def test_no_second_repetition_when_ahead_although_it_costs_no_toll(game: Game) -> None:
    line = line_of(game("k7/8/8/8/8/8/2Q5/4K3 w - - 0 1", "c2d2 a8a7 d2c2 a7a8 c2d2 a8a7"), 0)
    line.push(search(line).move)
    assert not line.repeats


# -- the line is the rules -------------------------------------------------------------------------------------------


def custom(**dials: object) -> Dials:
    return parse_dials({"pool": "winder", "base_s": 20, **dials}).dials


@pytest.mark.parametrize(
    "dials",
    [
        *POOLS.values(),
        *(custom(double_flag=way, economy="burn", capture_multiplier=3) for way in ("stack", "mover_loses", "draw")),
        custom(increment_s=1, promotion_fee=2),
    ],
)
def test_a_line_is_judged_as_the_ledger_judges_it(dials: Dials) -> None:
    lot = random.Random(7)
    rules = parse_dials({**dials.to_mapping(), "base_s": 20})
    for _ in range(6):
        ledger = Ledger(Setup("x", rules, "think", 0))
        while ledger.outcome is None:
            move = lot.choice(list(ledger.board.legal_moves))
            line = Line(ledger.board.copy(), ledger.white_ms, ledger.black_ms, rules.dials)
            outcome = line.push(move)
            clocks = (line.clock_ms[chess.WHITE], line.clock_ms[chess.BLACK])
            ledger.apply(Moved(move.uci(), 0))
            assert clocks == (ledger.white_ms, ledger.black_ms)
            told = ledger.outcome and (ledger.outcome.reason, ledger.outcome.winner)
            assert (outcome and (outcome.reason, outcome.winner)) == told


@pytest.mark.parametrize("nodes", [0, 1, 50, 777])
def test_a_search_leaves_its_line_as_it_was(game: Game, nodes: int) -> None:
    line = line_of(game(None, "e2e4 e7e5 g1f3 b8c6 f3g1 c6b8 g1f3 b8c6 f1b5 a7a6"), 50)
    before = (line.board.fen(), len(line.board.move_stack), list(line.clock_ms))
    found = search(line, nodes=nodes)
    assert (line.board.fen(), len(line.board.move_stack), list(line.clock_ms)) == before
    assert line.board.is_legal(found.move)


def test_the_same_seed_plays_the_same_move_and_others_differ(game: Game) -> None:
    def first(seed: int) -> str:
        return search(line_of(game(), 0), seed, 500).move.uci()

    assert [first(seed) for seed in range(12)] == [first(seed) for seed in range(12)]
    assert len({first(seed) for seed in range(12)}) > 1


# -- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own_ms", "deadline_ms", "budget"),
    [(600_000, 10_000, 100), (2_000, 10_000, 40), (600_000, 90, 30), (50, 10_000, 2), (1, 1, 2)],
)
def test_short_clocks_make_short_searches(own_ms: int, deadline_ms: int, budget: int) -> None:
    assert budget_ms(Limit(own_ms, own_ms, 0, 0, deadline_ms), own_ms) == budget


async def test_a_move_takes_a_tenth_of_a_second_and_little_when_time_is_short(game: Game) -> None:
    kiri = BuiltinEngine(3)
    await kiri.start()
    ledger = game("r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP2BPPP/R1BQ1RK1 w - - 0 9")
    for limit, most_s in ((Limit(300_000, 300_000, 0, 0, 5_000), 0.2), (Limit(200, 200, 0, 0, 150), 0.05)):
        spent = []
        for _ in range(3):
            began = time.monotonic()
            await kiri.think(ledger, limit)
            spent.append(time.monotonic() - began)
        assert min(spent) < most_s
    await kiri.close()


def test_after_the_kirichess_end_it_plays_plain_chess(game: Game) -> None:
    ledger = game()
    ledger.apply(Moved("e2e4", 400_000))
    assert ledger.outcome is not None
    line = line_of(ledger, 50)
    assert line.clock_ms[chess.WHITE] == line.clock_ms[chess.BLACK] > 10**8


async def test_with_nodes_to_count_the_same_seed_plays_the_same_whatever_the_machine_does(game: Game) -> None:
    ledger = game("r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP2BPPP/R1BQ1RK1 w - - 0 9")
    limit = Limit(300_000, 300_000, 0, 0, 5_000, nodes=400)
    scores = []
    for _ in range(2):
        kiri = BuiltinEngine(3)
        await kiri.start()
        choice = await kiri.think(ledger, limit)
        scores.append((choice.uci, choice.score_cp))
        await kiri.close()
    assert scores[0] == scores[1]
