"""Terminals: colours and redrawing where they are wanted, and text alone under NO_COLOR."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
ESCAPE = "\x1b"


def on_a_terminal(*args: str, enough: str = "", patience_s: float = 100.0, **variables: str) -> str:
    """What a command writes to a terminal, stdout and stderr together; it is stopped when `enough` has appeared."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        if name not in variables:
            environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "bridge.cli.main", *args], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    out, ends_at = b"", time.monotonic() + patience_s
    try:
        while time.monotonic() < ends_at:
            if select.select([ours], [], [], 0.1)[0]:
                out += os.read(ours, 65_536)
            elif process.poll() is not None:
                break
            if enough and enough.encode() in out:
                process.terminate()
    except OSError:
        pass  # the terminal's other end is closed: it has ended
    finally:
        os.close(ours)
        if process.poll() is None:
            process.kill()
        process.wait()
    return out.decode(errors="replace")


COMMANDS = [
    ("pools",),
    ("adjudicate", str(DATA / "watched_games.pgn"), "--pool", "anchor"),
    ("explain", str(DATA / "watched_games.pgn"), "--pool", "anchor"),
    ("demo",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_color_leaves_text_alone(command: tuple[str, ...]) -> None:
    out = on_a_terminal(*command, NO_COLOR="1", enough="started")
    assert out.strip()
    assert ESCAPE not in out
    assert "\r" not in out.replace("\r\n", "")


def test_a_dumb_terminal_is_one_too() -> None:
    assert ESCAPE not in on_a_terminal("pools", TERM="dumb")


def test_a_terminal_is_coloured_and_redrawn_otherwise() -> None:
    assert ESCAPE in on_a_terminal("pools", NO_COLOR="")
    assert f"{ESCAPE}[" in on_a_terminal("demo", enough=f"{ESCAPE}[")


@pytest.mark.parametrize("command", COMMANDS[:3], ids=lambda command: command[0])
def test_a_pipe_gets_text_alone_whatever_is_forced(command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bridge.cli.main", *command],
        capture_output=True,
        text=True,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"},
    )
    assert done.stdout and ESCAPE not in done.stdout + done.stderr
