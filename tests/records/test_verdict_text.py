"""Verdicts as text: JSON with its exact keys, one line for a chat, CSV."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest

from bridge.records.game import Game
from bridge.records.one_line import one_line
from bridge.records.reader import read_games
from bridge.records.table import CSV_COLUMNS, CSV_LEDGER_COLUMNS, csv_ledger_rows, csv_row
from bridge.records.verdict_json import platform_result, verdict_object
from bridge.rules.endings import Flag, Outcome
from bridge.rules.events import Ended
from bridge.rules.pools import NAMED, named, parse_dials
from bridge.rules.snapshot import Setup, Snapshot
from bridge.rules.verdict import Verdict, judge
from bridge.words import LANGUAGES, words

ROOT = Path(__file__).parent.parent.parent
CONFORMANCE = ROOT / "tests" / "data" / "conformance"


@pytest.fixture(scope="module")
def sample() -> Verdict:
    (game,) = read_games(ROOT / "config" / "sample.pgn")
    assert isinstance(game, Game)
    return game.judge(named("anchor"))


KEYS = """
    schema id site white black pool rules clock_source precision_ms certain final result reason flag ended_at_ply
    white_ms black_ms anomalies platform platform_plies ledger
"""
ROW_KEYS = """
    ply side uci san think_ms capture toll_ms fee_ms chip_ms increment_ms guarded white_ms black_ms
"""


def test_the_keys_are_those_of_the_interface_in_their_order(sample: Verdict) -> None:
    given = verdict_object(sample, ledger=True)
    rows = given["ledger"]
    assert isinstance(rows, list)
    assert (list(given), list(rows[0])) == (KEYS.split(), ROW_KEYS.split())
    assert len(rows) == given["ended_at_ply"] == 75
    assert "ledger" not in verdict_object(sample)


def test_the_sample_ends_by_a_forced_flag(sample: Verdict) -> None:
    given = verdict_object(sample)
    assert (given["result"], given["reason"], given["certain"]) == ("1-0", "flag", True)
    assert given["flag"] == {"side": "black", "cause": "capture", "forced": True}
    assert given["platform"] == {"result": "1-0", "status": "mate"}
    assert (given["pool"], given["platform_plies"]) == ("anchor", 87)


def test_a_capture_names_the_piece_and_both_amounts(sample: Verdict) -> None:
    rows: Any = verdict_object(sample, ledger=True)["ledger"]
    assert (rows[8]["san"], rows[8]["capture"]) == ("Nxf6+", {"piece": "n", "gain_ms": 10_000, "loss_ms": 10_000})
    assert (rows[8]["chip_ms"], rows[0]["capture"]) == (2_000, None)


def test_time_spent_on_moves_that_were_taken_back_is_a_row_without_a_move() -> None:
    setup = Setup("t", named("anchor"), "stream", 10)
    verdict = judge(
        setup,
        Snapshot(["e2e4"], think_ms=[1_000]),
        Snapshot(["e2e4", "e7e5"], think_ms=[1_000, 2_000]),
        Snapshot(["e2e4"], think_ms=[1_000]),
    )
    rows: Any = verdict_object(verdict, ledger=True)["ledger"]
    assert [(row["ply"], row["uci"], row["san"], row["side"], row["think_ms"]) for row in rows] == [
        (1, "e2e4", "e4", "white", 1_000),
        (None, None, None, "black", 2_000),
    ]
    assert verdict_object(verdict)["platform"] is None
    assert verdict_object(verdict)["final"] is False


@pytest.mark.parametrize("dials", [{}, {"pool": "eclipse"}, {"pool": "winder", "base_s": 1.5}, {"f_mode": 2.5}])
def test_its_rules_can_be_read_back(dials: dict[str, object]) -> None:
    rules = parse_dials(dials)
    given = verdict_object(judge(Setup("t", rules, "none", None), Snapshot([], "resign", chess.WHITE)))
    read: Any = json.loads(json.dumps(given["rules"]))
    assert parse_dials(read).dials == rules.dials
    assert given["pool"] == rules.pool
    assert ("toll_multiplier" in read) is (read["f_mode"] is None)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_one_line_fits_a_chat_for_every_vector_and_names_no_link(lang: str) -> None:
    lines = []
    for name in ("hand.jsonl", "random.jsonl"):
        for game in read_games(CONFORMANCE / name):
            assert isinstance(game, Game)
            lines.append(one_line(game.judge(parse_dials(game.rules or {})), words(lang)))
    assert len(lines) == 1031
    assert max(map(len, lines)) <= 140
    assert not any("http" in line or "\n" in line for line in lines)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("cause", ["thinking", "toll", "capture", "chip"])
def test_the_longest_line_fits_in_every_language(sample: Verdict, lang: str, cause: str) -> None:
    drawn = Outcome("flag_insufficient_material", flag=Flag(chess.BLACK, cause, forced=True))
    setup = Setup("t", named("mainspring"), "clk", 500)
    longest = replace(sample, setup=setup, outcome=drawn, plies=299, certain=False, white_ms=-7_000, black_ms=1_512_000)
    assert len(one_line(longest, words(lang))) <= 140


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("nl", "1-0 · Zwarts vlag viel (slag, gedwongen) bij halve zet 75 · 0:25,0 v -0:07,0 · Anchor"),
        ("fr", "1-0 · Chute du drapeau des Noirs (prise, forcée) au demi-coup 75 · 0:25,0 v -0:07,0 · Anchor"),
        ("pt", "1-0 · Queda de bandeira das Pretas (captura, forçada) no meio-lance 75 · 0:25,0 v -0:07,0 · Anchor"),
    ],
)
def test_one_line_speaks_the_languages_with_the_manual_s_terms(sample: Verdict, lang: str, line: str) -> None:
    assert one_line(sample, words(lang)) == line


def test_one_line_says_result_cause_ply_clocks_and_pool(sample: Verdict) -> None:
    assert one_line(sample) == "1-0 · Black's flag fell (capture, forced) at ply 75 · 0:25.0 v -0:07.0 · Anchor"


@pytest.mark.parametrize("name", sorted(NAMED))
def test_one_line_warns_of_what_is_not_settled(name: str) -> None:
    verdict = judge(Setup("t", named(name), "none", None), Snapshot(["e2e4"]))
    assert one_line(verdict).endswith(f"{name.title()} · uncertain · provisional")


def test_csv_has_a_cell_for_every_column(sample: Verdict) -> None:
    row = dict(zip(CSV_COLUMNS, csv_row(sample), strict=True))
    assert (row["id"], row["result"], row["flag_cause"], row["flag_forced"]) == ("sample01", "1-0", "capture", "true")
    assert (row["platform_status"], row["anomalies"]) == ("mate", "")
    plies = [dict(zip(CSV_LEDGER_COLUMNS, cells, strict=True)) for cells in csv_ledger_rows(sample)]
    assert (len(plies), plies[8]["san"], plies[8]["captured"], plies[8]["loss_ms"]) == (75, "Nxf6+", "n", 10_000)


@pytest.mark.parametrize(
    ("status", "result"),
    [
        *((status, "1/2-1/2") for status in ("draw", "stalemate", "insufficientMaterialClaim", "outoftime", "timeout")),
        *((status, "*") for status in ("variantEnd", "kaboom", "unknownFinish", "aborted", "noStart", "cheat", "mate")),
    ],
)
def test_without_a_winner_only_a_known_draw_is_a_draw_of_the_platform(status: str, result: str) -> None:
    assert platform_result(Ended(status)) == result
    assert platform_result(Ended(status, chess.BLACK)) == "0-1"
