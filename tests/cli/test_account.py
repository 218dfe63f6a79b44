"""`account upgrade`: a plain warning, a confirmation, and no second thoughts afterwards."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.arena import Account, Arena

Say = Callable[..., Any]


@pytest.fixture
async def arena() -> AsyncIterator[Arena]:
    accounts = [
        Account("Fresh", "lip_fresh"),
        Account("Played", "lip_played"),
        Account("KiriBot", "lip_bot", title="BOT"),
        Account("Narrow", "lip_narrow", scopes=frozenset({"board:play"})),
    ]
    async with Arena(accounts) as server:
        yield server


@pytest.fixture
def config(arena: Arena, tmp_path: Path) -> str:
    file = tmp_path / "c.yml"
    file.write_text(
        f"accounts: [{{platform: lichess, url: '{arena.url}', token: '${{TOKEN}}', play: {{engine: main}}}}]\n"
        "engines: {main: {kind: random}}\n"
    )
    return str(file)


def is_bot(arena: Arena, name: str) -> bool:
    return arena.account(name).is_bot


async def test_with_yes_it_is_done_and_the_warning_is_plain(arena: Arena, config: str, say_async: Say) -> None:
    said = await say_async("account", "upgrade", "-c", config, "--yes", TOKEN="lip_fresh")
    assert said.status == 0
    assert "IT CANNOT BE UNDONE" in said.stderr
    assert said.stdout == f"Fresh is a BOT account now. Next: kirichess-bridge run -c {config}\n"
    assert is_bot(arena, "Fresh")


async def test_nobody_there_to_confirm_changes_nothing(arena: Arena, config: str, say_async: Say) -> None:
    said = await say_async("account", "upgrade", "-c", config, TOKEN="lip_fresh")
    assert said.status == 2
    assert "--yes" in said.stderr
    assert not is_bot(arena, "Fresh")


@pytest.mark.parametrize(("typed", "status", "upgraded"), [("Fresh\n", 0, True), ("yes\n", 2, False)])
async def test_the_name_must_be_typed(
    arena: Arena,
    config: str,
    say_async: Say,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    status: int,
    upgraded: bool,
) -> None:
    monkeypatch.setattr("bridge.cli.account._is_terminal", lambda: True)
    said = await say_async("account", "upgrade", "-c", config, stdin=typed, TOKEN="lip_fresh")
    assert said.status == status
    assert is_bot(arena, "Fresh") == upgraded


async def test_a_bot_already_is_fine(config: str, say_async: Say) -> None:
    said = await say_async("account", "upgrade", "-c", config, TOKEN="lip_bot")
    assert said.status == 0
    assert said.stdout == "KiriBot is a BOT account already\n"


async def test_an_account_that_has_played_is_refused_in_the_servers_words(
    arena: Arena, config: str, say_async: Say
) -> None:
    arena.pair("Played", "KiriBot")
    said = await say_async("account", "upgrade", "-c", config, "--yes", TOKEN="lip_played")
    assert said.status == 1
    assert "You must have no games to become a bot" in said.stderr
    assert not is_bot(arena, "Played")


async def test_a_token_that_may_not(arena: Arena, config: str, say_async: Say) -> None:
    said = await say_async("account", "upgrade", "-c", config, "--yes", TOKEN="lip_narrow")
    assert said.status == 2
    assert "bot:play" in said.stderr
    assert not is_bot(arena, "Narrow")


def test_a_server_that_is_not_there_is_named(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    account = "{platform: lichess, url: 'http://127.0.0.1:1', token: '${TOKEN}', play: {engine: main}}"
    file.write_text(f"accounts: [{account}]\nengines: {{main: {{kind: random}}}}\n")
    said = say("account", "upgrade", "-c", str(file), TOKEN="lip_human")
    assert (said.status, len(said.stderr.splitlines())) == (1, 1)
    assert "http://127.0.0.1:1 does not answer; is the address right?" in said.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [((), "several accounts play"), (("--account", "third"), "no such account (known: first, second)")],
)
def test_the_account_must_be_clear(say: Say, tmp_path: Path, args: tuple[str, ...], told: str) -> None:
    file = tmp_path / "c.yml"
    account = "{{platform: lichess, name: {}, token: 'lip_{}', play: {{engine: main}}}}"
    accounts = f"{account.format('first', 'x')}, {account.format('second', 'y')}"
    file.write_text(f"accounts: [{accounts}]\nengines: {{main: {{kind: random}}}}\n")
    said = say("account", "upgrade", "-c", str(file), *args, TOKEN="lip_x")
    assert said.status == 2
    assert told in said.stderr
