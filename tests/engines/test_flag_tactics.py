"""The suite of flag tactics: every position solved, whatever the engine below would rather play."""

import contextlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import chess
import pytest

from bridge.engines.choosing import choose
from bridge.engines.switches import Switches
from bridge.engines.view import Ask, Decision, Found, View
from bridge.rules.pools import POOLS
from bridge.rules.position import read_move, start_board

SUITE = Path(__file__).parents[1] / "data" / "flag_tactics.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in SUITE.read_text("utf-8").splitlines()]


def view_of(case: dict[str, Any]) -> View:
    board = start_board(case["fen"])
    for uci in case["moves"]:
        board.push(read_move(board, uci))
    return View(board, False, case["white_ms"], case["black_ms"], POOLS[case["pool"]])


def contrary(case: dict[str, Any], ask: Ask) -> Found:
    """The worst engine: it takes what is wrong wherever it is allowed to."""
    board = view_of(case).board
    allowed = list(ask.moves) or [board.uci(move, chess960=False) for move in board.legal_moves]
    wrong = [uci for uci in allowed if uci in case["avoid"] or (case["best"] and uci not in case["best"])]
    return Found((wrong or allowed)[0], 50, 8)


def solve(case: dict[str, Any], switches: Switches) -> Decision:
    steps = choose(view_of(case), switches)
    try:
        ask = next(steps)
        while True:
            ask = steps.send(contrary(case, ask))
    except StopIteration as end:
        decision: Decision = end.value
        return decision


def right(case: dict[str, Any], decision: Decision) -> bool:
    board = view_of(case).board
    uci = read_move(board, decision.uci).uci()
    return uci not in case["avoid"] and (not case["best"] or uci in case["best"])


def test_the_suite_is_large_and_has_every_family() -> None:
    assert len(CASES) >= 200
    families = Counter(case["family"] for case in CASES)
    assert len(families) >= 8
    assert min(families.values()) >= 2


@pytest.mark.parametrize("family", sorted({case["family"] for case in CASES}))
def test_every_position_is_solved(family: str) -> None:
    wrong = []
    for number, case in enumerate(CASES, 1):
        if case["family"] == family and not right(case, decision := solve(case, Switches())):
            wrong.append(f"{number}: {decision.uci} ({decision.why}) in {case['fen']}")
    assert wrong == []


def test_without_the_flag_tactics_the_suite_is_not_solved() -> None:
    failed = sum(not right(case, solve(case, Switches(flags=False, safe_moves=0, conversion=False))) for case in CASES)
    assert failed > len(CASES) * 0.9


def test_a_choice_leaves_the_game_as_it_was() -> None:
    for case in CASES[:20]:
        view = view_of(case)
        before = view.board.fen(), len(view.board.move_stack)
        steps = choose(view, Switches())
        with contextlib.suppress(StopIteration):
            next(steps)
        assert (view.board.fen(), len(view.board.move_stack)) == before
        assert isinstance(view.board, chess.Board)
