"""`match` and `lab` as they are called; a match of twenty games as a smoke test, never as a claim."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bridge.cli.main import main
from bridge.errors import EngineError
from bridge.lab.uci_check import check_engine
from bridge.lab.uci_pipe import UciPipe

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
        (("kiri,builtin=true", "random", "--depth", 3), "kiri,builtin=true cannot be held to a depth"),
        (("random", "random", "--sprt", 5, 5), "two different"),
    ],
)
def test_wrong_usage_is_one_line(args: tuple[object, ...], message: str) -> None:
    result = run("match", *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_pgn_that_cannot_be_written_is_told_before_the_games(tmp_path: Path) -> None:
    kept = tmp_path / "match.jsonl"
    result = run("match", "random", "random", "-o", kept, "--pgn", tmp_path / "nowhere" / "games.pgn")
    assert result.exit_code == 1
    assert "games.pgn" in result.stderr
    assert not kept.exists()


def test_self_play_writes_positions_with_both_clocks(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    result = run("lab", "self-play", "random", "--pool", "winder", "--time", "none", "--pairs", 1, "-o", file)
    assert result.exit_code == 0, result.output
    first, *others, last = [json.loads(line) for line in file.read_text().splitlines()]
    assert (first["own_ms"], first["other_ms"], first["ply"]) == (60_000, 60_000, 1)
    assert last["result"] in ("1-0", "0-1", "1/2-1/2")
    assert min(line["own_ms"] for line in others) < 60_000


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


def test_self_play_takes_dials_and_openings_of_ones_own(tmp_path: Path) -> None:
    dials, mine = tmp_path / "quick.yml", tmp_path / "mine.txt"
    dials.write_text("base_s: 30\neconomy: burn\n")
    mine.write_text("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n")
    result = run("lab", "self-play", "random", "--rules", dials, "--openings", mine, "--time", "none")
    assert result.exit_code == 0, result.output
    first = json.loads(result.stdout.splitlines()[0])
    assert (first["pool"], first["own_ms"]) == ("quick", 30_000)
    assert first["fen"] == "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    both = run("lab", "self-play", "random", "--rules", dials, "--pool", "anchor")
    assert (both.exit_code, both.stderr.count("\n")) == (2, 1)


def program(tmp_path: Path, on_go: str) -> Path:
    file = tmp_path / "program"
    file.write_text(f"#!{sys.executable} -S\n{ANSWERS}            {on_go}\n")
    file.chmod(0o755)
    return file


ANSWERS = """
import sys, time
def say(text): print(text, flush=True)
for line in sys.stdin:
    match line.split():
        case ["uci"]: say("id name Odd\\nuciok")
        case ["isready"]: say("readyok")
        case ["quit"]: break
        case ["go", *_]:
"""


@pytest.mark.parametrize("answer", ["(none)", "0000", "zz99", "resign", "e7e8=Q"])
@pytest.mark.parametrize("kiri", ["kiri:", ""])
def test_an_answer_that_is_no_move_loses_the_game_and_is_counted(tmp_path: Path, answer: str, kiri: str) -> None:
    wrong = program(tmp_path, f'say("info depth 1 nodes few score cp 3 pv {answer}\\nbestmove {answer}")')
    args = ("match", f"{kiri}{wrong}", "random", "--pool", "winder", "--time", "none", "--pairs", 1, "--json")
    told = report(run(*args))
    assert told["faults"] == {"first illegal": 2}


def test_a_program_that_talks_for_ever_is_killed(tmp_path: Path) -> None:
    chatty = program(tmp_path, 'while True: say("info depth 1 score cp 5 pv e2e4"); time.sleep(0.01)')
    pipe = UciPipe(str(chatty), longest_s=0.5)
    with pipe, pytest.raises(EngineError, match="did not come to an end"):
        pipe.search("startpos", "nodes 10")
    findings = {finding.question: finding for finding in check_engine(str(chatty), longest_s=0.5)}
    assert not findings["go nodes"].ok
    assert "did not come to an end" in findings["stop ends a search"].detail


def test_a_program_that_speaks_another_language_is_told_what_may_be_wrong() -> None:
    with pytest.raises(EngineError, match="is it a UCI engine"):
        UciPipe("/bin/cat", silence_s=0.2).start()


def test_a_program_that_plays_nonsense_is_found_out() -> None:
    findings = {finding.question: finding for finding in check_engine(sys.executable, ("-c", RUDE))}
    assert not findings["go nodes"].ok
    assert "e2e5" in findings["go nodes"].detail
    assert not findings["its options can be read"].ok
    assert not findings["isready is answered while it thinks"].ok
    assert findings["quit ends it"].ok


def test_nothing_but_the_report_is_on_stdout() -> None:
    """The workers are processes of their own, whose stdout is ours."""
    limits = ("--nodes", "30", "--time", "none", "--pairs", "1", "--pool", "winder", "--json")
    command = [sys.executable, "-m", "bridge.cli.main", "match", "kiri,builtin=true", "random", *limits]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["faults"] == {}
    assert done.stderr == ""


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
