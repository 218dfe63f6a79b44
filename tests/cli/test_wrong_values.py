"""Numbers nobody can reckon with and addresses nobody can ask: one line, exit 2, and no password in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Say = Callable[..., Any]

KQ = "4k3/8/8/8/8/8/8/3QK3 w - - 0 1"
SAMPLE = str(Path(__file__).parent.parent.parent / "config" / "sample.pgn")
BAD_SERVERS = [
    "nonsense",
    "http://",
    "ftp://127.0.0.1",
    "http://127.0.0.1:99999",
    "http://127.0.0.1:port",
    "http://[::1",
    "http://a b",
    "http://user:hush@127.0.0.1",
    "http://user:hush@127.0.0.1:99999",
]
ASKING = [
    ("watch", "game:abcdefgh", "--pool", "anchor"),
    ("adjudicate", "abcdefgh", "--pool", "anchor"),
    ("explain", "abcdefgh", "--pool", "anchor"),
    ("status",),
]


def refused(answer: Any) -> str:
    assert (answer.status, answer.stdout, len(answer.stderr.splitlines())) == (2, "", 1), answer
    assert "hush" not in answer.stderr
    return str(answer.stderr)


@pytest.mark.parametrize("command", ASKING, ids=lambda command: command[0])
@pytest.mark.parametrize("url", BAD_SERVERS)
def test_a_server_that_cannot_be(say: Say, command: tuple[str, ...], url: str) -> None:
    assert "--url" in refused(say(*command, "--url", url))


@pytest.mark.parametrize("command", ["watch", "adjudicate", "explain"])
@pytest.mark.parametrize("url", BAD_SERVERS[1:])
def test_a_games_address_that_cannot_be(say: Say, command: str, url: str) -> None:
    assert "address" in refused(say(command, f"{url}/abcdefgh", "--pool", "anchor"))


@pytest.mark.parametrize(
    "arguments",
    [
        *(("bill", KQ, "--clock", number) for number in ("nan", "inf", "-inf", "-1", "1e308")),
        *(("arena", "--speed", number) for number in ("nan", "inf", "0", "-1", "1e308")),
        *(("match", "random", "random", "--sprt", "0", number) for number in ("nan", "inf")),
        ("demo", "--seconds", "9" * 400),
        ("explain", SAMPLE, "--game", "9" * 30),
    ],
)
def test_numbers_that_cannot_be_reckoned_with(say: Say, arguments: tuple[str, ...]) -> None:
    refused(say(*arguments))


@pytest.mark.parametrize("target", ["user:", "game:abc", "tv:", "[::1", "watch me", ""])
def test_targets_that_are_none(say: Say, target: str) -> None:
    refused(say("watch", target, "--pool", "anchor"))


def test_a_file_to_replay_that_is_not_there_or_no_game(say: Say, tmp_path: Path) -> None:
    refused(say("arena", "--replay", str(tmp_path / "none.pgn")))
    refused(say("arena", "--replay", str(tmp_path)))
    junk = tmp_path / "junk.pgn"
    junk.write_bytes(bytes(range(256)) * 8)
    arena, adjudicate = say("arena", "--replay", str(junk)), say("adjudicate", str(junk), "--pool", "anchor")
    assert (arena.status, arena.stdout, arena.stderr) == (1, "", adjudicate.stderr)
    assert arena.stderr == f"kirichess-bridge: {junk}: no game in it: not a text file\n"
    assert (adjudicate.status, adjudicate.stdout) == (1, "")
