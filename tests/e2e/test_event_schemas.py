"""Every event that a played game leaves in the journal is what its published schema says, and nothing more."""

from collections.abc import Mapping
from typing import Any, get_type_hints

import pytest
from jsonschema import Draft202012Validator, ValidationError

from bridge.arena import Arena
from bridge.cloudevents import to_cloudevent
from bridge.event_schema import events_schema
from bridge.event_shapes import SHAPES, Anomaly, Position
from bridge.event_types import EVENT_TYPES
from bridge.interfaces import Entry

pytestmark = pytest.mark.timeout(200)


def validator(kind: str) -> Draft202012Validator:
    schema = events_schema(kind)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_every_type_has_a_shape() -> None:
    assert set(SHAPES) == set(EVENT_TYPES)


async def test_a_games_events_are_as_their_schemas_say(arena: Arena, run_bridge: Any, bot: Any) -> None:
    kiri = {"kind": "kiri", "builtin": True}
    config = {
        "accounts": [bot("Fish", "kiri", pool="winder"), bot("Kiri", "kiri", pool="winder")],
        "engines": {"kiri": kiri},
        "journal": {"url": "sqlite://"},
    }
    async with run_bridge(config) as bridge:
        arena.pair("Fish", "Kiri", 240)
        await bridge.recorder.final()
        entries: list[Entry] = list(bridge.recorder.entries)
    kinds = {entry.type for entry in entries}
    assert {"kirichess.game.started", "kirichess.game.ply", "kirichess.verdict.final"} <= kinds
    checks = {kind: validator(kind) for kind in kinds}
    for entry in entries:
        checks[entry.type].validate(to_cloudevent(entry))
        assert set(entry.data) <= _documented(entry.type), f"{entry.type} has keys that no schema tells of"


def _documented(kind: str) -> set[str]:
    shape: Any = SHAPES[kind]
    # A noted fact of the ledger says where the game stands, too.
    return set(get_type_hints(shape)) | (set(get_type_hints(Position)) if shape is Anomaly else set())


@pytest.mark.parametrize(
    "change",
    [{"data": {"side": "green", "left_ms": 1}}, {"data": {}}, {"specversion": "2"}, {"type": "kirichess.game.ply"}],
)
def test_what_is_no_such_event_is_refused(change: Mapping[str, object]) -> None:
    entry = Entry(7, "a-7", 0, "kirichess.flag.withdrawn", "g", "", {"side": "white", "left_ms": 1})
    check = validator(entry.type)
    check.validate(to_cloudevent(entry))
    with pytest.raises(ValidationError):
        check.validate({**to_cloudevent(entry), **change})
