"""Games worked by hand from the rules text: game records, and stream transcripts line by line.

Each line of tests/data/vectors/*.jsonl is a game record with `expect`, or a transcript: `lines` (moves, wtime, btime,
status, winner, at_ms; or clocks_ms, think_ms, final_think_ms) with `time_control`, `lichess`, `source`, `precision_ms`.
`note` shows the sum, `expect` names only what the vector is about.
"""

import json
from pathlib import Path
from typing import Any

import chess
import pytest

from bridge.rules.diff import diff
from bridge.rules.ledger import Ledger
from bridge.rules.pools import parse_dials
from bridge.rules.snapshot import RECORD_END, Setup, Snapshot, TimeControl
from bridge.rules.verdict import verdict

FOLDER = Path(__file__).parent.parent / "data" / "vectors"
SIDES = {"white": chess.WHITE, "black": chess.BLACK, None: None}
VECTORS = [
    pytest.param(json.loads(line), id=f"{path.stem}:{json.loads(line)['id']}")
    for path in sorted(FOLDER.glob("*.jsonl"))
    for line in path.read_text().splitlines()
]


def setup_of(vector: dict[str, Any]) -> Setup:
    control = vector.get("time_control")
    record = "lines" not in vector
    source, precision = ("think" if "think_ms" in vector else "clocks", 0) if record else ("stream", 10)
    return Setup(
        vector["id"],
        parse_dials(vector.get("rules", {})),
        vector.get("source", source),
        vector.get("precision_ms", precision),
        start_fen=vector.get("start_fen"),
        chess960=vector.get("chess960", False),
        time_control=TimeControl(control["initial_ms"], control["increment_ms"]) if control else None,
        free_first_moves="//lichess.org/" in vector.get("site", "") if record else vector.get("lichess", True),
    )


def snapshots_of(vector: dict[str, Any]) -> list[Snapshot]:
    if "lines" not in vector:
        platform = vector.get("platform") or {}
        return [
            Snapshot(
                vector["moves"],
                status=platform.get("status", RECORD_END),
                winner=SIDES[platform.get("winner")],
                clocks_ms=vector.get("clocks_ms"),
                think_ms=vector.get("think_ms"),
                final_think_ms=vector.get("final_think_ms"),
                berserk=frozenset(side == "white" for side in vector.get("berserk", ())),
            )
        ]
    return [
        Snapshot(
            line["moves"].split(),
            status=line.get("status", "started"),
            winner=SIDES[line.get("winner")],
            white_ms=line.get("wtime"),
            black_ms=line.get("btime"),
            clocks_ms=line.get("clocks_ms"),
            think_ms=line.get("think_ms"),
            final_think_ms=line.get("final_think_ms"),
            at_ms=line.get("at_ms"),
            berserk=frozenset(side == "white" for side in line.get("berserk", ())),
        )
        for line in vector["lines"]
    ]


def seen(ledger: Ledger, final: bool) -> dict[str, Any]:
    """What an expectation can speak of."""
    judged = verdict(ledger, final=final)
    flag = judged.outcome.flag
    return {
        "result": judged.outcome.result,
        "reason": judged.outcome.reason,
        "flag": f"{chess.COLOR_NAMES[flag.side]} {flag.cause}{' forced' if flag.forced else ''}" if flag else None,
        "ended_at_ply": judged.plies,
        "platform_plies": judged.platform_plies,
        "white_ms": judged.white_ms,
        "black_ms": judged.black_ms,
        "certain": judged.certain,
        "anomalies": [anomaly.kind for anomaly in judged.anomalies],
        "anomaly_plies": [anomaly.ply for anomaly in judged.anomalies],
        "think_ms": [row.think_ms for row in judged.rows],
        "spent": [[chess.COLOR_NAMES[row.side], row.think_ms] for row in judged.rows if row.ply is None],
        "clocks": [[row.white_ms, row.black_ms] for row in judged.rows],
        "tolls": [row.effects.toll_ms for row in judged.rows],
        "fees": [row.effects.fee_ms for row in judged.rows],
        "chips": [row.effects.chip_ms for row in judged.rows],
        "captures": [[row.effects.gain_ms, row.effects.loss_ms] for row in judged.rows],
        "left_ms": [ledger.left_ms[chess.WHITE], ledger.left_ms[chess.BLACK]],
        "board": ledger.board.fen(),
    }


@pytest.mark.parametrize("vector", VECTORS)
def test_a_game_worked_by_hand(vector: dict[str, Any]) -> None:
    ledger = Ledger(setup_of(vector))
    snapshots = snapshots_of(vector)
    for snapshot in snapshots:
        for event in diff(ledger, snapshot):
            ledger.apply(event)
        assert diff(ledger, snapshot) == [], "a snapshot taken in holds nothing new"
    got = seen(ledger, final=True)
    assert {name: got[name] for name in vector["expect"]} == vector["expect"], vector["note"]
