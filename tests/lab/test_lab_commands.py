"""`match` and `lab` as they are called; a match of twenty games as a smoke test, never as a claim."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bridge.cli.main import main
from bridge.lab.uci_check import check_engine

STOCKFISH = shutil.which("stockfish", path="/usr/games:/usr/local/games:/usr/bin:/usr/local/bin")
needs_stockfish = pytest.mark.skipif(STOCKFISH is None, reason="needs Debian's stockfish: apt install stockfish")


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


def report(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout)
    return told


@needs_stockfish
def test_a_short_match_runs_to_its_end_and_goes_on_from_its_file(tmp_path: Path) -> None:
    file, pgn = tmp_path / "match.jsonl", tmp_path / "match.pgn"
    engines = ("match", f"kiri:{STOCKFISH}", STOCKFISH, "--pool", "ratchet", "--nodes", 200, "--json", "-o", file)
    told = report(run(*engines, "--pairs", 10, "--pgn", pgn, "--jobs", 2))
    assert told["pools"]["ratchet"]["games"] == 20
    assert told["faults"] == {}
    assert told["nodes_a_move"]["first"] <= 200
    assert any("flag" in how for how in told["endings"]["ratchet"])
    assert pgn.read_text().count("[Event ") == 20
    more = report(run(*engines, "--pairs", 11))
    assert more["pools"]["ratchet"]["games"] == 22


def test_engines_without_nodes_play_by_the_wall_clock() -> None:
    told = report(run("match", "random", "random,seed=5", "--time", "none", "--pairs", 1, "--json"))
    assert told["pools"]["anchor"]["games"] == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("random", "random", "--nodes", 5, "--depth", 3), "give one of"),
        (("random", "random", "--pool", "ancor"), "did you mean 'anchor'"),
        (("random", "random", "--openings", "heldout"), "known sets: tuning, held-out"),
        (("random", "random", "--skip", 100_000), "no opening is left"),
        (("", "random"), "names no engine"),
    ],
)
def test_wrong_usage_is_one_line(args: tuple[object, ...], message: str) -> None:
    result = run("match", *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_self_play_writes_positions_with_both_clocks(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    result = run("lab", "self-play", "random", "--pool", "winder", "--time", "none", "--pairs", 1, "-o", file)
    assert result.exit_code == 0, result.output
    first, *_, last = [json.loads(line) for line in file.read_text().splitlines()]
    assert (first["own_ms"], first["other_ms"], first["ply"]) == (60_000, 60_000, 1)
    assert last["result"] in ("1-0", "0-1", "1/2-1/2")
    assert last["own_ms"] < 60_000


@needs_stockfish
def test_stockfish_keeps_to_the_protocol() -> None:
    assert STOCKFISH is not None
    result = run("lab", "check-engine", STOCKFISH)
    assert result.exit_code == 0
    assert "FAILS" not in result.stdout
    assert "lacks" not in result.stdout


RUDE = """
import sys
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == "uci":
        print("id name Rude\\noption name Hash kind spin\\nuciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "go":
        print("info depth 1 score cp 5 nodes 3 pv e2e5\\nbestmove e2e5", flush=True)
    elif word == "quit":
        break
"""


def test_a_program_that_plays_nonsense_is_found_out() -> None:
    findings = {finding.question: finding for finding in check_engine(sys.executable, ("-c", RUDE))}
    assert not findings["go nodes"].ok
    assert "e2e5" in findings["go nodes"].detail
    assert not findings["its options can be read"].ok
    assert not findings["isready is answered while it thinks"].ok
    assert findings["quit ends it"].ok


def test_the_built_in_search_beats_moves_by_lot() -> None:
    told = report(
        run("match", "kiri,builtin=true", "random", "--nodes", 60, "--pairs", 1, "--pool", "winder", "--json")
    )
    assert told["pools"]["winder"]["score"] == 1


@needs_stockfish
@pytest.mark.parametrize("limit", [("--depth", 2), ("--movetime", 3, "--time", "wall")])
def test_a_match_can_go_by_depth_or_by_time(limit: tuple[object, ...]) -> None:
    told = report(run("match", f"kiri:{STOCKFISH}", STOCKFISH, "--pairs", 1, "--pool", "winder", "--json", *limit))
    assert told["faults"] == {}
    assert told["pools"]["winder"]["games"] == 2
