"""`config check`, `config schema`, `config init` at the command line."""

import asyncio
import json
import os
import pty
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.arena import Account, Arena
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
        ("--output", "/nowhere/at/all.yml", "cannot be written: there is no folder /nowhere/at; mkdir -p"),
        ("--output", "/", "is a folder; name a file in it"),
        ("--token-file", "x", "give one of the two"),
    ],
)
def test_init_refuses_what_would_not_pass(
    say: Callable[..., Any], tmp_path: Path, option: str, value: str, told: str
) -> None:
    more = ("--token-env", "A") if option == "--token-file" else ()
    said = say("config", "init", "-o", str(tmp_path / "new.yml"), option, value, *more)
    assert said.status == 2
    assert told in said.stderr
    assert list(tmp_path.iterdir()) == []


class Terminal:
    """A command at a terminal of its own; what is typed waits for its question."""

    def __init__(self, *args: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "LICHESS_TOKEN"}
        command = [sys.executable, "-m", "bridge.cli.main", *args]
        environment = {**environment, "PYTHONPATH": str(EXAMPLE.parents[1])}
        # A session of its own: whoever runs the tests at a terminal is not asked.
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        self.shown = ""
        self._answered = 0

    def answer(self, question: str, text: str) -> None:
        while question not in self.shown[self._answered :]:
            assert self._read(), f"it never asks {question!r}: {self.shown}"
        self._answered = len(self.shown)
        time.sleep(0.2)  # a question without an echo takes what was typed before it away
        os.write(self._ours, f"{text}\n".encode())

    def ended(self) -> int:
        while self._read():
            pass
        os.close(self._ours)
        return self._process.wait(60)

    def _read(self) -> bool:
        try:
            text = os.read(self._ours, 10_000).decode()
        except OSError:  # EIO: nobody has the other side any more
            text = ""
        self.shown += text
        return bool(text)


async def test_init_asks_on_a_terminal_and_keeps_the_token_for_its_user(tmp_path: Path) -> None:
    file = tmp_path / "asked.yml"
    accounts = [Account("Kiri", "lip_kiri", title="BOT"), Account("Narrow", "lip_narrow", scopes=frozenset())]
    async with Arena(accounts) as arena:

        def at_the_terminal() -> tuple[int, str]:
            terminal = Terminal("config", "init", "-o", str(file))
            terminal.answer("Server", "lichess.org")
            terminal.answer("Server", arena.url)
            terminal.answer("Token", "'lip_kiri'")
            terminal.answer("Token", "lip_nobody")
            terminal.answer("Keep it", "n")
            terminal.answer("Token", "lip_narrow")
            terminal.answer("Keep it", "n")
            terminal.answer("Token", "lip_kiri")
            terminal.answer("Engine", "/no/such/program")
            terminal.answer("Engine", "random")
            terminal.answer("Pool", "ancor")
            terminal.answer("Pool", "anchor")
            return terminal.ended(), terminal.shown

        status, shown = await asyncio.to_thread(at_the_terminal)
    assert status == 0, shown
    assert "must start with http:// or https://" in shown
    assert "The token has quotes around it" in shown
    assert "does not know this token: mistyped, revoked or expired" in shown
    assert "the token lacks the scope bot:play" in shown and "Narrow has not the title BOT" in shown
    assert "it belongs to BOT Kiri" in shown
    assert "/no/such/program does not exist" in shown and "did you mean 'anchor'?" in shown
    assert "lip_" not in shown, "what is typed is not shown"
    secret = tmp_path / "asked.token"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert "lip_" not in file.read_text()
    settings = load(file)
    account = settings.accounts[0]
    assert account.token is not None and account.play is not None
    assert (account.url, account.token.get_secret_value()) == (arena.url, "lip_kiri")
    assert (settings.engines["main"].kind, account.play.pools.otherwise) == ("random", "anchor")


@pytest.mark.parametrize(
    ("token", "status", "told"),
    [
        ("lip_kiri", 0, "it belongs to BOT Kiri"),
        ("lip_narrow", 1, "the token lacks the scope bot:play (it has: none)"),
        ("lip_person", 1, "Person has not the title BOT that playing needs"),
        ("lip_revoked", 1, "does not know this token: mistyped, revoked or expired"),
    ],
    ids=["good", "narrow", "person", "revoked"],
)
async def test_init_tries_the_token(
    say_async: Callable[..., Any], tmp_path: Path, token: str, status: int, told: str
) -> None:
    accounts = [
        Account("Kiri", "lip_kiri", title="BOT"),
        Account("Narrow", "lip_narrow", title="BOT", scopes=frozenset()),
        Account("Person", "lip_person"),
    ]
    async with Arena(accounts) as arena:
        given = ("-o", str(tmp_path / "c.yml"), "--url", arena.url)
        said = await say_async("config", "init", *given, LICHESS_TOKEN=token)
    assert said.status == status
    assert len([line for line in said.stdout.splitlines() if told in line]) == 1
    assert token not in said.stdout + said.stderr
    assert (tmp_path / "c.yml").exists(), "the answers are kept, whatever the token"


def test_init_names_a_server_that_is_not_there(say: Callable[..., Any], tmp_path: Path) -> None:
    given = ("-o", str(tmp_path / "c.yml"), "--url", "http://127.0.0.1:1")
    said = say("config", "init", *given, LICHESS_TOKEN="lip_x")
    assert said.status == 1
    assert "http://127.0.0.1:1 cannot be reached: connection refused" in said.stdout
    assert say("config", "init", *given, "--force", "--no-check", LICHESS_TOKEN="lip_x").status == 0


def test_init_takes_a_token_file(say: Callable[..., Any], open_folder: Path) -> None:
    secret, file = open_folder / "my.token", open_folder / "c.yml"
    given = ("config", "init", "-o", str(file), "--token-file", str(secret), "--no-check", "--force")
    said = say(*given)
    assert said.status == 0 and f"put it into {secret} (mode 0600)" in said.stdout
    secret.write_text("lip_x\n")
    secret.chmod(0o644)
    assert f"chmod 600 {secret}" in say(*given).stderr
    secret.chmod(0o600)
    assert say(*given).stderr == ""
    assert 'token_file: "my.token"' in file.read_text()
    token = load(file).accounts[0].token
    assert token is not None and token.get_secret_value() == "lip_x"


def test_init_says_what_the_engine_is_not(say: Callable[..., Any], tmp_path: Path) -> None:
    said = say("config", "init", "-o", str(tmp_path / "c.yml"), "--engine", "stokfish")
    assert said.status == 0
    assert "warning: engine 'stokfish' is not in PATH" in said.stderr
