"""The feature table speaks of every key of lichess-bot and BotLi, and what it names exists."""

import os
import re
from pathlib import Path

import click
import pytest

from bridge.cli.main import COMMANDS, main
from bridge.decisions import chat_commands
from bridge.settings import Settings

ROOT = Path(__file__).parents[1]
TABLE = (ROOT / "config" / "FEATURES.md").read_text("utf-8")
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split(" | "))
    for line in TABLE.splitlines()
    if line.startswith("| ") and not line.endswith("| Ours |")
]
KEYS = [tuple(line.split("\t")) for line in (ROOT / "tests/data/peer_keys.tsv").read_text("utf-8").splitlines()]
SCHEMA = Settings.model_json_schema()


def commands() -> set[str]:
    context, names = click.Context(main), set()
    for name in COMMANDS:
        command = main.get_command(context, name)
        names |= {f"{name} {sub}" for sub in command.commands} if isinstance(command, click.Group) else {name}
    return names


def said() -> set[str]:
    """What the chat answers to."""
    return {*chat_commands.COMMANDS, *chat_commands.QUIET, *chat_commands.AFTER, *chat_commands.ALIASES}


def known(key: str) -> bool:
    """Whether `config schema` has the key; NAME stands for any name."""
    found = [SCHEMA]
    for part in key.split("."):
        found = [child for node in opened(found) for child in below(node, part)]
    return bool(found)


def below(node: dict, part: str) -> list[dict]:  # type: ignore[type-arg]
    if part == "NAME":
        return [node["additionalProperties"]] if isinstance(node.get("additionalProperties"), dict) else []
    return [node["properties"][part]] if part in node.get("properties", {}) else []


def opened(nodes: list[dict]) -> list[dict]:  # type: ignore[type-arg]
    """Each node with what it refers to, and the forms and list entries it may be."""
    found = []
    for node in nodes:
        if "$ref" in node:
            node = {**node, **SCHEMA["$defs"][node["$ref"].rpartition("/")[2]]}
            node.pop("$ref")
        found.append(node)
        inner = [*node.get("anyOf", []), *node.get("oneOf", [])]
        inner += [node["items"]] if isinstance(node.get("items"), dict) else []
        found += opened(inner)
    return found


def test_a_key_that_does_not_exist_is_seen() -> None:
    assert known("accounts.play.concurrency") and known("engines.NAME.path")
    assert not known("accounts.play.concurency") and not known("engines.NAME.nonsense")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row[:2])[:60])
def test_what_a_row_names_exists_and_a_no_has_a_reason(row: tuple[str, ...]) -> None:
    assert len(row) == 3
    ours = row[2]
    if ours.startswith("no"):
        assert re.fullmatch(r"no: .{5,}", ours)
        return
    names = re.findall(r"`([^`]+)`", ours)
    assert names or re.fullmatch(r"yes: .{5,}", ours)
    for name in names:
        assert name in said() or name in commands() or known(name) or (ROOT / name).is_dir(), name


@pytest.mark.parametrize(("peer", "key"), KEYS)
def test_every_key_of_the_others_has_a_row(peer: str, key: str) -> None:
    assert any(row[:2] == (peer, f"`{key}`") for row in ROWS)


NAMES = {"NOTE", "bullet", "standard_black", "bullet_only_horde", "easy_chess960", "no_pressure_correspondence"}
NAMES |= {"casual_chess960", "optional_settings"}
"""What stands before a colon in the shipped files and is no key: names of one's own, and a word of prose."""


@pytest.mark.parametrize("peer", ["lichess-bot", "BotLi"])
def test_the_list_of_their_keys_is_whole(peer: str) -> None:
    peers = os.environ.get("KIRICHESS_PEERS")
    if not peers:
        pytest.skip("KIRICHESS_PEERS names no folder with lichess-bot and BotLi")
    shipped = (Path(peers) / peer / "config.yml.default").read_text("utf-8")
    found = set(re.findall(r"^\s*#?\s*([A-Za-z_]\w*(?: \w+)?):(?:\s|$)", shipped, re.MULTILINE))
    listed = {part for whose, key in KEYS if whose == peer for part in key.split(".")}
    assert found - listed - NAMES == set()
