"""adjudicate, explain, pools and bill at their front door: output, stderr and exit status."""

import csv
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Protocol

import pytest

ROOT = Path(__file__).parent.parent.parent
SAMPLE = str(ROOT / "config" / "sample.pgn")
CONFORMANCE = ROOT / "tests" / "data" / "conformance"
MIXED = """[Event "good"]
[TimeControl "60"]

1. e4 {[%clk 0:01:00]} e5 {[%clk 0:00:59]} 1-0

[Event "broken"]

1. e4 Ke3 *

[Event "unsupported"]
[Variant "Atomic"]

1. e4 *

[Event "good again"]

1. d4 *
"""


class Answer(Protocol):
    """What a command printed, and how it ended."""

    stdout: str
    stderr: str
    status: int


Say = Callable[..., Answer]


def lines(answer: Answer) -> list[dict[str, object]]:
    return [json.loads(line) for line in answer.stdout.splitlines()]


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    file = tmp_path / "mixed.pgn"
    file.write_text(MIXED)
    return str(file)


@pytest.fixture
def records(tmp_path: Path) -> Callable[..., str]:
    def write(*given: dict[str, object]) -> str:
        file = tmp_path / "records.jsonl"
        file.write_text("".join(json.dumps({"moves": ["e2e4"], "think_ms": [0], **one}) + "\n" for one in given))
        return str(file)

    return write


# -- adjudicate --------------------------------------------------------------------------------------------------


def test_a_table_is_the_default_and_plain_where_nobody_looks(say: Say) -> None:
    answer = say("adjudicate", SAMPLE, "--pool", "anchor")
    assert (answer.status, answer.stderr) == (0, "")
    assert "Black's flag fell (capture, forced)" in answer.stdout
    assert "\x1b" not in answer.stdout
    assert "…" not in answer.stdout
    assert "1 verdict by the rules of anchor" in answer.stdout


def test_a_table_of_several_rules_names_them_game_by_game(say: Say, records: Callable[..., str]) -> None:
    answer = say("adjudicate", records({"id": "a", "rules": {"pool": "winder"}}, {"id": "b", "rules": {"base_s": 9}}))
    assert "unfinished at ply 1, winder" in answer.stdout
    assert "unfinished at ply 1, custom dials" in answer.stdout


def test_games_are_written_as_pgn_and_read_back_to_the_same_verdicts(say: Say, tmp_path: Path) -> None:
    games, skipped = tmp_path / "games.pgn", ("site", "clock_source", "anomalies")
    broken = '[Event "bad"]\n\n1. e4 e5 2. Ke3 *\n'
    games.write_text(Path(SAMPLE).read_text() + "\n" + broken + "\n" + Path(SAMPLE).read_text())
    annotated = say("adjudicate", str(games), "--pool", "anchor", "--format", "pgn")
    assert annotated.status == 1
    assert "game 2" in annotated.stderr and "illegal move" in annotated.stderr
    assert annotated.stdout.count("[KiriResult ") == 2
    written = tmp_path / "annotated.pgn"
    written.write_text(annotated.stdout)
    first = lines(say("adjudicate", SAMPLE, "--pool", "anchor", "--format", "jsonl", "--ledger"))
    again = lines(say("adjudicate", str(written), "--format", "jsonl", "--ledger"))
    assert [verdict | dict.fromkeys(skipped) for verdict in again] == [first[0] | dict.fromkeys(skipped)] * 2
    assert [verdict["clock_source"] for verdict in again] == [first[0]["clock_source"]] * 2


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    done = run("adjudicate", SAMPLE, "--pool", "anchor", "-o", "/dev/full")
    assert (done.returncode, done.stderr) == (1, "kirichess-bridge: output: no space left on device\n")


def test_a_terminal_that_cannot_show_a_character_gets_a_substitute() -> None:
    done = run("explain", SAMPLE, "--pool", "anchor", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "1-0 ? Black's flag fell" in done.stdout


@pytest.mark.parametrize("name", ["hand", "random"])
def test_every_vector_gets_its_expected_verdict(say: Say, name: str) -> None:
    file = CONFORMANCE / f"{name}.jsonl"
    given = [json.loads(line) for line in file.read_text().splitlines()]
    answer = say("adjudicate", str(file), "--format", "jsonl", "--ledger")
    assert answer.status == 0
    verdicts = lines(answer)
    assert [verdict["id"] for verdict in verdicts] == [record["id"] for record in given]
    for record, verdict in zip(given, verdicts, strict=True):
        expected = record["expect"]
        flag = verdict["flag"] or {}
        assert isinstance(flag, dict)
        got = [verdict[key] for key in ("result", "reason", "ended_at_ply", "white_ms", "black_ms")]
        assert got == [expected[key] for key in ("result", "reason", "ended_at_ply", "white_ms", "black_ms")], record[
            "id"
        ]
        assert [flag.get(key) for key in ("side", "cause", "forced")] == [
            expected[key] for key in ("flag_side", "flag_cause", "flag_forced")
        ], record["id"]


def test_a_broken_game_is_one_line_and_the_others_are_done(say: Say, mixed: str) -> None:
    answer = say("adjudicate", mixed, "--pool", "anchor", "--format", "jsonl")
    assert answer.status == 1
    assert [verdict["id"] for verdict in lines(answer)] == ["mixed.pgn#1", "mixed.pgn#4"]
    assert answer.stderr.splitlines() == [
        f"kirichess-bridge: {mixed}: game 2, line 8: illegal move 'Ke3' in "
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        f"kirichess-bridge: {mixed}: game 3, line 11: unsupported variant 'Atomic'",
    ]


def test_verdicts_come_in_input_order_and_stdin_is_a_file(say: Say, records: Callable[..., str]) -> None:
    file = records({"id": "a", "rules": {}}, {"id": "b", "rules": {}})
    piped = json.dumps({"id": "c", "moves": [], "rules": {}})
    answer = say("adjudicate", file, "-", file, "--format", "jsonl", stdin=piped)
    assert [verdict["id"] for verdict in lines(answer)] == ["a", "b", "c", "a", "b"]


def test_without_any_rules_the_pools_are_named(say: Say, records: Callable[..., str]) -> None:
    answer = say("adjudicate", records({"id": "a"}))
    assert (answer.status, answer.stdout) == (2, "")
    for pool in ("winder", "ratchet", "fulcrum", "anchor", "mainspring", "eclipse"):
        assert pool in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_what_is_given_outranks_what_the_game_carries(say: Say, records: Callable[..., str], tmp_path: Path) -> None:
    file = records({"id": "a", "rules": {"pool": "winder"}}, {"id": "b", "rules": {}})
    assert [verdict["pool"] for verdict in lines(say("adjudicate", file, "--format", "jsonl"))] == ["winder", "anchor"]
    given = say("adjudicate", file, "--pool", "Eclipse", "--format", "jsonl")
    assert [verdict["pool"] for verdict in lines(given)] == ["eclipse", "eclipse"]
    for text in ("base_s: 7\neconomy: burn\n", '{"base_s": 7, "economy": "burn"}'):
        dials = tmp_path / "dials.yml"
        dials.write_text(text)
        (first, _) = lines(say("adjudicate", file, "--rules", str(dials), "--format", "jsonl"))
        assert (first["pool"], first["white_ms"]) == (None, 6_000)
    both = say("adjudicate", file, "--rules", str(dials), "--pool", "ratchet", "--format", "jsonl")
    assert lines(both)[0]["white_ms"] == 6_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("pool: ancor", "did you mean 'anchor'"),
        ("bse_s: 3", "unknown dial 'bse_s'"),
        ("base_s: -3", "base_s must be above 0"),
        ("- 1", "must hold dials"),
        ("{", "neither JSON nor YAML"),
        ("pool: winder", "contradict each other"),
    ],
)
def test_rules_that_cannot_be_are_wrong_usage(say: Say, tmp_path: Path, text: str, says: str) -> None:
    dials = tmp_path / "dials.yml"
    dials.write_text(text)
    extra = ["--pool", "anchor"] if "contradict" in says else []
    answer = say("adjudicate", SAMPLE, "--rules", str(dials), *extra)
    assert (answer.status, answer.stdout) == (2, "")
    assert says in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_a_records_own_impossible_rules_break_that_record_alone(say: Say, records: Callable[..., str]) -> None:
    file = records({"id": "a", "rules": {"bas_s": 3}}, {"id": "b", "rules": {}})
    answer = say("adjudicate", file, "--format", "jsonl")
    assert (answer.status, [verdict["id"] for verdict in lines(answer)]) == (1, ["b"])
    assert "game 1, line 1: unknown dial 'bas_s'; did you mean 'base_s'" in answer.stderr


def test_a_share_that_looks_like_seconds_is_warned_of_once(say: Say, records: Callable[..., str]) -> None:
    rules = {"economy": {"gain": 5, "loss": 0}}
    answer = say("adjudicate", records({"rules": rules}, {"rules": rules}), "--format", "jsonl")
    assert (answer.status, len(lines(answer))) == (0, 2)
    assert answer.stderr.count("warning") == 1


def test_csv_and_an_output_file(say: Say, tmp_path: Path, mixed: str) -> None:
    out = tmp_path / "out.csv"
    answer = say("adjudicate", mixed, "--pool", "anchor", "--format", "csv", "-o", str(out))
    assert (answer.status, answer.stdout) == (1, "")
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [row["reason"] for row in rows] == ["resignation", "unfinished"]
    plies = say("adjudicate", SAMPLE, "--pool", "anchor", "--format", "csv", "--ledger")
    assert [row["ply"] for row in csv.DictReader(io.StringIO(plies.stdout))] == [str(ply) for ply in range(1, 76)]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["no-such-file.pgn"], "no such file: no-such-file.pgn"),
        (["."], "is a directory"),
        (["https://lichess.org/"], "is no game's address"),
        (["ftp://lichess.org/abcdefgh"], "is no game's address"),
        (["x" * 300], "cannot be a file"),
        ([SAMPLE, "--pool", "ancor"], "unknown pool 'ancor'; did you mean 'anchor'"),
        ([SAMPLE, "--format", "xml"], "'xml' is not one of"),
        ([SAMPLE, "--pool", "anchor", "-o", "no/such/folder/x"], "cannot be written"),
        ([], "Missing argument"),
        ([SAMPLE, "--nonsense"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(say: Say, args: list[str], says: str) -> None:
    answer = say("adjudicate", *args)
    assert (answer.status, answer.stdout) == (2, "")
    assert says in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_the_verdicts_never_overwrite_the_games(say: Say, mixed: str) -> None:
    answer = say("adjudicate", mixed, "--pool", "anchor", "-o", mixed)
    assert answer.status == 2
    assert Path(mixed).read_text() == MIXED


def test_a_file_with_no_game_in_it_says_so(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "stream.json"
    file.write_text('{"type":"gameState","moves":"e2e4"}')
    answer = say("adjudicate", str(file), "--pool", "anchor", "--format", "jsonl")
    assert (answer.status, answer.stdout) == (1, "")
    assert answer.stderr.startswith(f"kirichess-bridge: {file}: no game in it")


# -- games on a server -------------------------------------------------------------------------------------------

EXPORT = {
    "id": "abcdefgh", "variant": "standard", "status": "resign", "winner": "white", "moves": "e4 e5",
    "players": {"white": {"user": {"name": "Ann"}}, "black": {"user": {"name": "Bob"}}},
    "clock": {"initial": 60, "increment": 0}, "clocks": [6000, 6000, 5500],
}  # fmt: skip


class _Lichess(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path.startswith("/game/export/abcdefgh?") and "clocks=true" in self.path
        status = 200 if found else 429 if "toomany1" in self.path else 404
        body = json.dumps(EXPORT).encode() if found else b"<html>"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the test says what matters."""


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Lichess) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


@pytest.mark.parametrize("target", ["abcdefgh", "abcdefgh1234", "{url}/abcdefgh", "{url}/abcdefgh/black#7"])
def test_a_game_is_fetched_by_id_or_address(say: Say, server: str, target: str) -> None:
    answer = say("adjudicate", target.format(url=server), "--url", server, "--pool", "anchor", "--format", "jsonl")
    assert (answer.status, answer.stderr) == (0, "")
    (verdict,) = lines(answer)
    assert (verdict["site"], verdict["white"], verdict["clock_source"]) == (f"{server}/abcdefgh", "Ann", "export")
    assert verdict["white_ms"] == 360_000 - 1_000 - 5_000


def test_a_file_wins_over_a_game_id(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("abcdefgh").write_text("1. e4 *")
    answer = say("adjudicate", "abcdefgh", "--url", "http://127.0.0.1:9", "--pool", "anchor", "--format", "jsonl")
    assert lines(answer)[0]["id"] == "abcdefgh#1"


@pytest.mark.parametrize(("game", "says"), [("nosuch12", "no such game"), ("toomany1", "try again in a minute")])
def test_a_server_that_refuses_is_one_line_and_the_others_are_done(say: Say, server: str, game: str, says: str) -> None:
    answer = say("adjudicate", game, SAMPLE, "--url", server, "--pool", "anchor", "--format", "jsonl")
    assert (answer.status, len(lines(answer))) == (1, 1)
    assert says in answer.stderr


def test_a_server_that_is_not_there(say: Say) -> None:
    answer = say("adjudicate", "abcdefgh", "--url", "http://127.0.0.1:9", "--pool", "anchor")
    assert answer.status == 1
    assert "cannot be reached" in answer.stderr


# -- explain, pools, bill ----------------------------------------------------------------------------------------


def test_explain_names_each_effect_the_gap_and_the_ending(say: Say) -> None:
    answer = say("explain", SAMPLE, "--pool", "anchor")
    assert (answer.status, answer.stderr) == (0, "")
    ply = next(line for line in answer.stdout.splitlines() if "5. Nxf6+" in line)
    assert "captures a knight +10/−10, toll −2, check chip +2/−2" in ply
    assert "1-0 · Black's flag fell (capture, forced) at ply 75" in answer.stdout
    assert "not counted: " in answer.stdout


def test_explain_picks_a_game_and_says_when_there_are_more(say: Say, mixed: str) -> None:
    first = say("explain", mixed, "--pool", "anchor")
    assert first.status == 0
    assert "--game N" in first.stderr
    fourth = say("explain", mixed, "--pool", "anchor", "--game", "4")
    assert "1. d4" in fourth.stdout
    broken = say("explain", mixed, "--pool", "anchor", "--game", "2")
    assert (broken.status, "illegal move" in broken.stderr) == (1, True)
    missing = say("explain", mixed, "--pool", "anchor", "--game", "5")
    assert (missing.status, "has no game 5" in missing.stderr) == (2, True)
    assert say("explain", mixed).status == 2


def test_explain_numbers_moves_as_the_position_does(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "late.pgn"
    file.write_text('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 40"]\n\n40... Kd7 41. e4 *')
    answer = say("explain", str(file), "--pool", "anchor")
    assert "40… Kd7" in answer.stdout
    assert "41. e4" in answer.stdout


def test_pools_tells_what_the_rules_say_of_them(say: Say) -> None:
    answer = say("pools")
    assert answer.status == 0
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in answer.stdout.splitlines() if line.strip()}
    assert rows["winder"] == "1+0 bounty C1 1.4 s a move 1.8 min 3:15, so 4+0 1m bullet"
    assert rows["ratchet"] == "4+0 burn C1 2.1 s a move 2.8 min 4:00, so 4+0 2m bullet"
    assert rows["fulcrum"] == "5+0 steal C2 5.5 s a move 7.3 min 9:30, so 10+0 3m blitz"
    assert rows["anchor"] == "6+0 steal C1 7.0 s a move 9.3 min 8:15, so 9+0 5m blitz"
    assert rows["mainspring"] == "15+0 burn C2 16.7 s a move 22.3 min 15:00, so 15+0 10m rapid"
    assert rows["eclipse"] == "15+0 steal C4 20.5 s a move 27.3 min 24:00, so 24+0 15m rapid"


def test_pools_of_a_configuration_are_told_too(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    file.write_text("pools:\n  sprint: {pool: winder, base_s: 30}\n  odd: {economy: {gain: 2, loss: 0}}\n")
    answer = say("pools", "-c", str(file))
    assert answer.status == 0, answer.stderr
    rows = {line.split()[0]: line.split()[1:4] for line in answer.stdout.splitlines() if line.strip()}
    assert (rows["sprint"], rows["odd"]) == (["0.5+0", "bounty", "C1"], ["6+0", "2/0", "C1"])
    file.write_text("pools: {sprint: {base: 30}}\n")
    assert say("pools", "-c", str(file)).status == 2


KQ = "4k3/8/8/8/8/8/8/3QK3 w - - 0 1"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([KQ], "White: K+Q v K costs about 48 s of tolls in 15 moves."),
        ([KQ, "--clock", "45"], "White can afford it: 1 s"),
        ([KQ, "--clock", "44"], "White cannot afford it: the clock must hold more than 44 s"),
        ([KQ, "--side", "black"], "Black: K v K+Q is not in the list"),
    ],
)
def test_bill(say: Say, args: list[str], says: str) -> None:
    answer = say("bill", *args)
    assert (answer.status, says in answer.stdout) == (0, True)


@pytest.mark.parametrize(
    ("fen", "says"), [("nonsense", "bad FEN"), ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "neither side is stronger")]
)
def test_bill_of_what_is_no_ending_is_wrong_usage(say: Say, fen: str, says: str) -> None:
    answer = say("bill", fen)
    assert (answer.status, answer.stdout, says in answer.stderr) == (2, "", True)


# -- the program as a process ------------------------------------------------------------------------------------


def run(*args: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "bridge.cli.main", *args]
    env = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT, env=env)


def test_help_lists_only_commands_that_are_there_and_comes_at_once() -> None:
    began = time.monotonic()
    help_text = run("--help")
    assert time.monotonic() - began < 5, "heavy imports belong inside the commands"
    assert help_text.returncode == 0
    for name in ("adjudicate", "explain", "pools", "bill"):
        assert f"\n  {name} " in help_text.stdout
    unknown = run("adjudicat")
    assert (unknown.returncode, "No such command 'adjudicat'" in unknown.stderr) == (2, True)


def test_without_a_command_the_help_is_shown() -> None:
    bare = run()
    assert (bare.returncode, bare.stdout) == (2, "")
    assert "\n  adjudicate " in bare.stderr
    assert run("--version").stdout.startswith("kirichess-bridge ")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from bridge.cli.main import main;"
        "CliRunner().invoke(main, ['--help']);"
        "print({'chess', 'rich', 'aiohttp', 'sqlalchemy', 'pydantic', 'berserk'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_a_reader_that_goes_away_is_no_failure() -> None:
    file = CONFORMANCE / "random.jsonl"
    command = f"{sys.executable} -m bridge.cli.main adjudicate --format jsonl --ledger {file} | head -n 1"
    script = f"set -o pipefail; {command}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert (len(done.stdout.splitlines()), done.stderr, done.returncode) == (1, "", 0)
