"""The README's way from a clean machine to an accepted challenge, command by command as it stands there."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTALLATION = "python3 -m venv .venv && .venv/bin/pip install -q ."
PORTS = (9663, 8080)
"""Which the README names, and which `config init` writes."""
ALONE = ("unshare", "--user", "--map-root-user", "--net")
"""A network of one's own, where every port is free."""


def steps() -> list[list[str]]:
    """The commands of each step."""
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("## Run a bot account\n")[2].partition("\n## ")[0]
    numbered = re.split(r"^\d+\. ", section, flags=re.MULTILINE)[1:]
    blocks = [re.search(r"```sh\n(.*?)```", step, re.DOTALL) for step in numbered]
    return [[line.strip() for line in block[1].splitlines() if line.strip()] for block in blocks if block]


class Shell:
    """A shell that is given one line after the other; all that it and its jobs say is kept."""

    def __init__(self, folder: Path, *around: str) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "LICHESS_TOKEN"}
        self._process = subprocess.Popen(
            [*around, "bash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**environment, "PYTHONUNBUFFERED": "1"},
            text=True,
            start_new_session=True,
        )
        self.said = ""
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said += line

    def type(self, line: str, until: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        end_s = time.monotonic() + 60
        while until not in self.said:
            assert time.monotonic() < end_s, f"no {until!r} after {line!r}:\n{self.said}"
            time.sleep(0.05)

    def close(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(20)
        self._reading.join(20)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """In a folder where the program is installed already."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    program = tmp_path / ".venv" / "bin" / "kirichess-bridge"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m bridge.cli.main "$@"\n')
    program.chmod(0o755)
    shell = Shell(tmp_path, *_around())
    yield shell
    shell.close()


def _around() -> tuple[str, ...]:
    try:
        subprocess.run([*ALONE, "ip", "link", "set", "lo", "up"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        for port in PORTS:
            with socket.socket() as listener:
                try:
                    listener.bind(("127.0.0.1", port))
                except OSError:
                    pytest.skip(f"port {port} is taken, and no network of our own is to be had")
        return ()
    return (*ALONE, "sh", "-c", 'ip link set lo up && exec "$0"')


def test_the_way_has_four_steps_at_most() -> None:
    assert 1 <= len(steps()) <= 4


def test_the_commands_lead_to_an_accepted_challenge(shell: Shell) -> None:
    (install, arena), (export, init), (run,), (challenge,) = steps()
    assert install.startswith(f"{INSTALLATION} && "), "CI installs it by the same command"
    shell.type(install.removeprefix(f"{INSTALLATION} && "), "")
    shell.type(arena, "arena at http://127.0.0.1:9663")
    shell.type(export, "")
    shell.type(init, "Then: kirichess-bridge doctor -c bot.yml")
    assert "it belongs to BOT MyBot" in shell.said and "wrong" not in shell.said
    shell.type(run, "MyBot is online")
    shell.type(challenge, "challenge accepted, pool anchor")
    shell.type("", " started: ")
