"""The example that ships, the schema and what is in the models must say the same."""

import json
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Union, get_args, get_origin

import jsonschema
import pytest
from click.testing import CliRunner

from bridge.cli.config import command
from bridge.settings import Settings, load
from bridge.settings.base import Section
from bridge.settings.yaml_source import read_yaml

EXAMPLE = Path(__file__).parents[2] / "config" / "config.yml"


def sections(annotation: object) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
        for field in annotation.model_fields.values():
            yield from sections(field.annotation)
    elif get_origin(annotation) in (Annotated, Union, types.UnionType, tuple, dict):
        for part in get_args(annotation):
            yield from sections(part)


SECTIONS = sorted(set(sections(Settings)), key=lambda section: section.__name__)


def test_all_sections_are_found() -> None:
    assert {"Account", "Play", "PoolTable", "UciEngine", "WatchTv", "WebhookSettings"} <= {
        section.__name__ for section in SECTIONS
    }


def test_the_example_is_right_and_warns_only_of_what_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    load(EXAMPLE, mode="check", warn=warnings.append, variables={})
    assert len(warnings) == 3
    assert all(line.endswith("is not set") for line in warnings)


def test_the_engines_shown_in_comments_are_right_too(tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    text = EXAMPLE.read_text().split("\nwatch:")[0]
    file.write_text(re.sub(r"(?m)^  # ", "  ", text))
    engines = load(file, mode="check", variables={}).engines
    assert {engine.kind for engine in engines.values()} == {"kiri", "uci", "python", "random"}


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_is_described_and_stands_in_the_example(section: type[Section]) -> None:
    text = EXAMPLE.read_text()
    for name, field in section.model_fields.items():
        assert field.description, name
        assert re.search(rf"(?m)(^|[\s{{#]){name}:\s", text), name


def test_what_the_example_shows_as_usual_is_the_default() -> None:
    shown = load(EXAMPLE, variables={"LICHESS_TOKEN": "a", "PLAYER_TOKEN": "c", "HOOK_SECRET": "b"}).accounts[0].play
    assert shown is not None
    assert shown == type(shown)(engine="main")


def test_the_schema_takes_the_example_and_refuses_what_load_refuses() -> None:
    schema = json.loads(CliRunner().invoke(command, ["schema"]).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    values = read_yaml(EXAMPLE.read_text(), {}).value
    assert isinstance(values, dict)
    validator.validate(values)
    assert not validator.is_valid(values | {"webhook": []})
    assert not validator.is_valid(values | {"engines": {"main": {"kind": "usi"}}})
    assert not validator.is_valid(values | {"watch": [{"gam": "abcdefgh"}]})
    assert not validator.is_valid(values | {"monitor": {"listen": 8080}})


def test_the_schema_describes_every_key() -> None:
    schema = json.loads(CliRunner().invoke(command, ["schema"]).stdout)
    for name, model in schema["$defs"].items():
        for key, described in model["properties"].items():
            assert described.get("description"), f"{name}.{key}"
