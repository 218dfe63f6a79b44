"""The README speaks of everything there is, and what it shows works."""

import contextlib
import io
import re
from pathlib import Path

import click
import pytest
import yaml

from bridge.cli.main import COMMANDS, main
from bridge.event_types import EVENT_TYPES
from bridge.settings import load

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def commands() -> list[str]:
    context = click.Context(main)
    names = []
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None, f"{name} is in the table and does not load"
        names += [f"{name} {sub}" for sub in command.commands] if isinstance(command, click.Group) else [name]
    return names


@pytest.mark.parametrize("command", commands())
def test_every_command_is_documented(command: str) -> None:
    assert f"`{command}`" in README


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_event_is_documented(kind: str) -> None:
    assert f"`{kind}`" in README


def test_the_ten_lines_of_python_print_what_the_readme_says() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (said,) = re.findall(r"prints `(.*?)`\.", README)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue().strip() == said


def merged(below: object, above: object) -> object:
    """Tables by their keys, accounts by their places; anything else is replaced."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}
    if isinstance(below, list) and isinstance(above, list) and all(isinstance(each, dict) for each in above):
        return [merged(*pair) for pair in zip(below, above, strict=True)]
    return above


@pytest.mark.parametrize("fragment", re.findall(r"```yaml\n(.*?)```", README, re.DOTALL))
def test_the_fragments_of_configurations_can_be_used(fragment: str, tmp_path: Path) -> None:
    account = {"platform": "lichess", "token": "${TOKEN}", "play": {"engine": "main"}}
    file = tmp_path / "config.yml"
    file.write_text(
        yaml.safe_dump(merged({"accounts": [account], "engines": {"main": {"kind": "kiri"}}}, yaml.safe_load(fragment)))
    )
    warnings: list[str] = []
    load(file, mode="check", warn=warnings.append, variables={"TOKEN": "lip_x", "DISCORD_URL": "discord://1234/abcd"})
    assert warnings == []


def test_the_files_that_the_readme_names_exist() -> None:
    root = Path(__file__).parents[1]
    for name in re.findall(r"`((?:config|deploy|tests|bridge)/[\w./]*)`", README):
        assert (root / name).exists(), name


def test_ci_runs_the_readmes_own_test_command() -> None:
    (command,) = [line for line in README.splitlines() if line.startswith("python3 -m venv") and "pytest" in line]
    assert command in (Path(__file__).parents[1] / ".ci" / "run").read_text("utf-8")
