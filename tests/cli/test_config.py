"""`config check`, `config schema`, `config init` at the command line."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.settings import load

EXAMPLE = Path(__file__).parents[2] / "config" / "config.yml"


def test_check_says_what_is_in_a_good_file(say: Callable[..., Any]) -> None:
    said = say("config", "check", str(EXAMPLE), LICHESS_TOKEN="lip_x", PLAYER_TOKEN="lip_y", HOOK_SECRET="x")
    assert said.status == 0
    assert said.stdout == f"{EXAMPLE}: ok – 2 accounts (1 playing), 1 engine, 5 watched, 1 webhook, 0 notifications\n"
    assert said.stderr == ""


def test_check_warns_on_stderr_and_still_succeeds(say: Callable[..., Any]) -> None:
    said = say("config", "check", str(EXAMPLE), PLAYER_TOKEN="lip_y", HOOK_SECRET="x")
    assert said.status == 0
    assert said.stderr.startswith(f"warning: {EXAMPLE}:9:12: accounts[0].token: the environment variable LICHESS_TOKEN")


def test_check_tells_every_problem_and_exits_2(say: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "bad.yml"
    file.write_text("monitr: {}\njournal: {url: 3}\n")
    said = say("config", "check", str(file))
    assert said.status == 2
    assert said.stdout == ""
    assert f"{file}:1:1: unknown key 'monitr'; did you mean 'monitor'?" in said.stderr
    assert f"{file}:2:16: journal.url: must be text" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a: [", b"", b"\0", b"- 1", b"%YAML 9.9\n---\n"])
def test_check_of_anything_is_a_line_and_never_a_traceback(
    say: Callable[..., Any], tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "odd.yml"
    file.write_bytes(content)
    said = say("config", "check", str(file))
    assert said.status == 2
    assert str(file) in said.stderr


BOT = (
    "accounts: [{{platform: lichess, token: '${{T}}', play: {{engine: main{play}}}}}]\n"
    "engines: {{main: {{kind: {kind}}}}}\n"
)
TOLD = "watch: [{user: ann, pool: anchor}]\nnotifications: [{url: '${T}'}]\n"


@pytest.mark.parametrize(
    ("text", "token", "said"),
    [
        ("accounts:\n\t- platform: lichess\n", "lip_x", ":2:1: this is not YAML: the line is indented with a tab"),
        (
            "accounts:\n  - platform: lichess\n\t name: a\n",
            "lip_x",
            ":3:1: this is not YAML: the line is",
        ),
        ("accounts: {platform: lichess}\n", "lip_x", "accounts: must be a list (each entry after a `- `)"),
        (BOT.format(play="", kind="stockfish"), "lip_x", "; for a program: kind: uci, path: stockfish"),
        (BOT.format(play=", polyglot: {book: {standart: [a]}}", kind="kiri"), "lip_x", "; did you mean 'standard'?"),
        (BOT.format(play="", kind="kiri"), " ", "token: must not be empty; is the variable that it names?"),
        (BOT.format(play="", kind="kiri"), "lip_a lip_b", "must not hold spaces or line breaks"),
        (BOT.format(play="", kind="kiri"), "'lip_x'", "has quotes around it that are part of it"),
        (BOT.format(play="", kind="kiri"), "$LICHESS_TOKEN", "begins with $: a variable is written ${NAME}"),
        (BOT.format(play="", kind="kiri"), "lip_é", "holds a character that no token has"),
        (TOLD, "discrod://1/lip_x", "discrod://; did you mean discord://?"),
        (TOLD, "12345:lip_x", "it begins with a service, such as discord://"),
    ],
)
def test_a_newcomers_mistake_is_one_line_that_mends_it(
    say: Callable[..., Any], tmp_path: Path, text: str, token: str, said: str
) -> None:
    file = tmp_path / "c.yml"
    file.write_text(text)
    answer = say("config", "check", str(file), T=token)
    assert (answer.status, len(answer.stderr.splitlines())) == (2, 1), answer.stderr
    assert said in answer.stderr
    assert "lip_" not in answer.stderr


def test_what_a_shell_leaves_around_a_token_does_not_count(say: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    file.write_text(BOT.format(play="", kind="kiri"))
    assert say("config", "check", str(file), T="lip_x\n").status == 0
    token = load(file, variables={"T": " lip_x\n"}).accounts[0].token
    assert token is not None and token.get_secret_value() == "lip_x"


def test_a_token_file_that_others_can_read_is_warned_of(say: Callable[..., Any], open_folder: Path) -> None:
    file, secret = open_folder / "c.yml", open_folder / "secret"
    file.write_text(BOT.format(play="", kind="kiri").replace("token: '${T}'", "token_file: secret"))
    secret.write_text("lip_x\n")
    secret.chmod(0o644)
    said = say("config", "check", str(file))
    assert said.status == 0
    assert f"accounts[0].token_file: {secret} can be read by every user of this machine: chmod 600" in said.stderr
    secret.chmod(0o600)
    assert say("config", "check", str(file)).stderr == ""


def test_a_notification_whose_variable_is_not_set_is_told(say: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    file.write_text("watch: [{user: ann, pool: anchor}]\nnotifications: [{url: '${NOT_SET}'}]\n")
    said = say("config", "check", str(file))
    assert said.status == 0
    assert "notifications[0].url: the environment variable NOT_SET is not set" in said.stderr


def test_check_without_a_file_is_wrong_usage(say: Callable[..., Any], tmp_path: Path) -> None:
    assert say("config", "check").status == 2
    said = say("config", "check", str(tmp_path / "none.yml"))
    assert said.status == 2
    assert "no such file" in said.stderr


def test_schema_is_json_on_stdout(say: Callable[..., Any]) -> None:
    said = say("config", "schema")
    assert said.status == 0
    assert "accounts" in json.loads(said.stdout)["properties"]


def test_init_writes_a_file_that_passes_its_own_check(say: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "new.yml"
    given = ("--url", "http://127.0.0.1:9663", "--token-env", "MY_TOKEN", "--engine", "./bin/fish", "--pool", "Eclipse")
    said = say("config", "init", "-o", str(file), *given)
    assert said.status == 0
    assert "http://127.0.0.1:9663/account/oauth/token/create?scopes[]=bot:play&scopes[]=challenge:read" in said.stdout
    settings = load(file, variables={"MY_TOKEN": "lip_x"})
    account = settings.accounts[0]
    assert account.token is not None
    assert (account.url, account.token.get_secret_value()) == ("http://127.0.0.1:9663", "lip_x")
    assert account.play is not None
    assert account.play.pools.otherwise == "eclipse"
    assert settings.engines["main"].model_dump()["path"] == str(Path("bin/fish").absolute())
    assert list(tmp_path.iterdir()) == [file]


def test_init_without_a_terminal_takes_the_usual_answers(say: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "new.yml"
    assert say("config", "init", "-o", str(file)).status == 0
    assert say("config", "check", str(file), LICHESS_TOKEN="lip_x").stderr == ""
    account = load(file, variables={"LICHESS_TOKEN": "lip_x"}).accounts[0]
    assert account.url == "https://lichess.org"
    assert account.play is not None
    assert isinstance(account.play.pools.otherwise, dict)
    assert account.play.pools.otherwise["6+0"] == "anchor"


def test_init_overwrites_nothing_unless_forced(say: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "mine.yml"
    file.write_text("precious")
    said = say("config", "init", "-o", str(file))
    assert said.status == 2
    assert "--force" in said.stderr
    assert file.read_text() == "precious"
    assert say("config", "init", "-o", str(file), "--force").status == 0
    assert file.read_text() != "precious"


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--pool", "ancor", "did you mean 'anchor'?"),
        ("--url", "lichess.org", "http://"),
        ("--token-env", "lip_a-b", "no name of an environment variable"),
        ("--output", "/nowhere/at/all.yml", "cannot be written"),
    ],
)
def test_init_refuses_what_would_not_pass(
    say: Callable[..., Any], tmp_path: Path, option: str, value: str, told: str
) -> None:
    said = say("config", "init", "-o", str(tmp_path / "new.yml"), option, value)
    assert said.status == 2
    assert told in said.stderr
    assert list(tmp_path.iterdir()) == []


def test_init_asks_on_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "asked.yml"
    program = [sys.executable, "-m", "bridge.cli.main", "config", "init", "-o", str(file), "--pool", "anchor"]
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as terminal:
        terminal.write(b"http://127.0.0.1:1\n\nrandom\n")
        environment = {**os.environ, "PYTHONPATH": str(EXAMPLE.parents[1])}
        done = subprocess.run(program, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env=environment, timeout=30)
        os.close(theirs)
    assert done.returncode == 0
    settings = load(file, variables={"LICHESS_TOKEN": "lip_x"})
    assert settings.accounts[0].url == "http://127.0.0.1:1"
    assert settings.engines["main"].kind == "random"
