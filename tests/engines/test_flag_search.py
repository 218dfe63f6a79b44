"""Proofs of flags against brute force, and the bounds that spare them."""

import random
from collections.abc import Iterator

import chess
import pytest

from bridge.engines.flag_search import FlagSearch, Spent, flagging_moves, may_flag
from bridge.engines.line import Line, Pace
from bridge.rules.dials import Dials
from bridge.rules.pools import POOLS, parse_dials

MEN = ("Qr", "RRp", "QRnp", "BNp", "RPrp", "QPq")


def endings(count: int, seed: int) -> Iterator[Line]:
    """Random endings with low clocks."""
    lot = random.Random(seed)
    while count:
        board = chess.Board(None, chess960=True)
        men = "Kk" + lot.choice(MEN)
        for man, square in zip(men, lot.sample(range(8, 56), len(men)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        board.turn = lot.choice(chess.COLORS)
        if not board.is_valid() or board.is_game_over():
            continue
        count -= 1
        pace = Pace(lot.choice([0, 300]))
        white_ms, black_ms = lot.randrange(300, 20_000), lot.randrange(300, 20_000)
        yield Line(board, white_ms, black_ms, POOLS[lot.choice(sorted(POOLS))], (pace, pace))


def wins(line: Line, moves: int) -> bool:
    """Brute force: the side to move wins at once or within `moves` more own moves."""
    me = line.board.turn
    for move in list(line.board.legal_moves):
        outcome = line.push(move)
        won = outcome.winner == me if outcome else moves > 0 and all_lose(line, moves)
        line.pop()
        if won:
            return True
    return False


def all_lose(line: Line, moves: int) -> bool:
    me = line.board.turn
    for move in list(line.board.legal_moves):
        outcome = line.push(move)
        lost = outcome.winner == (not me) if outcome else wins(line, moves - 1)
        line.pop()
        if not lost:
            return False
    return True


@pytest.mark.parametrize("moves", [0, 1])
def test_what_is_proven_is_so(moves: int) -> None:
    proven = 0
    for line in endings(60, 11 + moves):
        if FlagSearch(line, 10**6).win(moves) is not None:
            proven += 1
            assert wins(line, moves), line.board.fen()
    assert proven > 5


def test_a_flag_at_once_is_never_missed() -> None:
    for line in endings(150, 5):
        me = line.board.turn
        flags = []
        for move in list(line.board.legal_moves):
            outcome = line.push(move)
            if outcome and outcome.winner == me and outcome.reason == "flag" and line.clock_ms[not me] <= 0:
                flags.append(move)
            line.pop()
        assert set(flags) <= set(flagging_moves(line))
        if flags:
            assert may_flag(line, not me, 1)
            assert FlagSearch(line, 10**6).win(0) in flags


def test_the_bound_excludes_no_flag() -> None:
    for line in endings(60, 8):
        them = not line.board.turn
        search = FlagSearch(line, 10**6)
        if not may_flag(line, them, 2) and (move := search.win(1)) is not None:
            # What is left then can only be a mate, which is nothing that clocks decide.
            line.clock_ms[them] = 10**9
            assert search.win(1) == move


def pawn_endings(count: int, seed: int, dials: Dials) -> Iterator[Line]:
    """Pawns about to promote, castling, checks by two at once, and clocks of which one move can take most."""
    lot = random.Random(seed)
    while count:
        board = chess.Board(None, chess960=True)
        squares = [lot.choice(range(48, 56)), lot.choice(range(8, 16)), *lot.sample(range(16, 48), 4)]
        for man, square in zip("PpNbrR", squares, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        board.set_piece_at(chess.E1, chess.Piece.from_symbol("K"))
        board.set_piece_at(chess.E8, chess.Piece.from_symbol("k"))
        board.set_piece_at(chess.H1, chess.Piece.from_symbol("R"))
        board.castling_rights = chess.BB_H1
        board.turn = lot.choice(chess.COLORS)
        if not board.is_valid() or board.is_game_over():
            continue
        count -= 1
        yield Line(board, lot.randrange(1_000, 110_000), lot.randrange(1_000, 110_000), dials)


@pytest.mark.parametrize(
    "dials",
    [
        POOLS["eclipse"],
        POOLS["mainspring"],
        parse_dials({"pool": "anchor", "double_check_factor": 20}).dials,
        parse_dials({"pool": "anchor", "promotion_fee": 2, "tolls_s": {"castling": 90}}).dials,
    ],
)
def test_the_bound_holds_for_promotions_castling_and_any_dials(dials: Dials) -> None:
    flagged = 0
    for line in pawn_endings(60, 9, dials):
        me = line.board.turn
        replied = False
        for move in list(line.board.legal_moves):
            outcome = line.push(move)
            replies = [] if outcome else list(line.board.legal_moves)
            for reply in replies:
                answer = line.push(reply)
                replied |= answer is not None and answer.reason == "flag" and answer.winner != me
                line.pop()
            line.pop()
        assert may_flag(line, me, 1) or not replied, line.board.fen()
        flagged += replied
    assert flagged > 5


def test_a_search_leaves_its_line_as_it_was_and_keeps_to_its_nodes() -> None:
    for line in endings(20, 2):
        before = (line.board.fen(), list(line.clock_ms))
        FlagSearch(line, 10**6).win(1)
        assert (line.board.fen(), list(line.clock_ms)) == before
    line = next(endings(1, 3))
    with pytest.raises(Spent):
        FlagSearch(line, 3).win(2)
    assert line.nodes <= 40


def test_the_opponents_thinking_counts() -> None:
    board = chess.Board("4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1", chess960=True)
    quick = Line(board.copy(), 60_000, 1_200, POOLS["anchor"])
    assert FlagSearch(quick, 10**6).win(1) is None
    slow = Line(board.copy(), 60_000, 1_200, POOLS["anchor"], (Pace(500, 2), Pace()))
    assert FlagSearch(slow, 10**6).win(1) is not None
