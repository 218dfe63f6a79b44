"""JSON Schemas (2020-12) of the events, made from their types: the CloudEvents envelope and the data of each type."""

from functools import cache
from typing import Literal, NotRequired, TypeAlias

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bridge.event_shapes import SHAPES
from bridge.event_types import EVENT_TYPES

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema: TypeAlias = dict[str, object]


class Envelope(TypedDict):
    """A CloudEvent 1.0 of ours, without its type and data; `time` is RFC 3339 in UTC."""

    specversion: Literal["1.0"]
    id: str
    source: str
    subject: NotRequired[str]
    time: str
    datacontenttype: Literal["application/json"]
    sequence: str
    sequencetype: Literal["Integer"]
    account: NotRequired[str]


def events_schema(kind: str | None = None) -> Schema:
    """Any event of ours, or those of one type; `$defs` has each type under its name."""
    given = [kind] if kind is not None else list(EVENT_TYPES)
    wanted: Schema = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in given]}
    return {"$schema": DIALECT, "title": kind or "KiriChess events", **wanted, "$defs": definitions()}


@cache
def definitions(place: str = "#/$defs/") -> Schema:
    """Each event type and what they are made of, by name; `place` is where a document keeps them."""
    adapters: list[tuple[str, Literal["validation"], TypeAdapter[object]]] = [
        (name, "validation", TypeAdapter(shape)) for name, shape in {"": Envelope, **SHAPES}.items()
    ]
    references, shared = TypeAdapter.json_schemas(adapters, ref_template=place + "{model}")
    shapes: Schema = dict(shared["$defs"])
    envelope = shapes.pop(Envelope.__name__)
    assert isinstance(envelope, dict), "a type with fields is an object"
    return shapes | {name: _event(envelope, name, references[name, "validation"]) for name in SHAPES}


def _event(envelope: Schema, kind: str, data: object) -> Schema:
    properties, required = envelope["properties"], envelope["required"]
    assert isinstance(properties, dict), "an object has them"
    assert isinstance(required, list), "some of its fields must be there"
    return {
        "title": kind,
        "description": EVENT_TYPES[kind],
        "type": "object",
        "properties": {**properties, "type": {"const": kind}, "data": data},
        "required": [*required, "type", "data"],
    }
