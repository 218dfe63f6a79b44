"""Events ⇄ JSON objects, without loss: what the journal stores is what a restart replays."""

from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from functools import cache
from typing import cast

import chess

from bridge.errors import RecordError
from bridge.records import fields
from bridge.records.fields import Json
from bridge.rules.events import Agreed, Berserked, Ended, Event, Moved, Noted, Resynced, Started, TakenBack, TimeGiven
from bridge.rules.pools import Ruleset, parse_dials
from bridge.rules.snapshot import Anomaly, Setup, TimeControl

_NAMES: Mapping[type[Event], str] = {
    Started: "started",
    Agreed: "agreed",
    Moved: "moved",
    TakenBack: "taken_back",
    TimeGiven: "time_given",
    Resynced: "resynced",
    Berserked: "berserked",
    Ended: "ended",
    Noted: "noted",
}
_CLASSES: Mapping[str, type[Event]] = {name: kind for kind, name in _NAMES.items()}
_SIDES = frozenset({"side", "winner"})
"""Fields that hold a colour: `white` or `black` in JSON."""


def encode(event: Event) -> dict[str, object]:
    """An event as JSON values; `event` names its kind, the rest are its own fields."""
    name = {"event": _NAMES[type(event)]}
    match event:
        case Started():
            return {**name, "setup": _encode_setup(event.setup)}
        case Agreed():
            return {**name, "rules": _encode_rules(event.rules)}
        case Noted():
            return {**name, **_plain(event.anomaly)}
    return {**name, **_plain(event)}


def decode(given: Json) -> Event:
    """The event that `encode` wrote.

    Raises:
        RecordError: an unknown kind, or fields that do not belong to it.
    """
    name = given.get("event")
    kind = _CLASSES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise RecordError(f"unknown event {fields.brief(name)}")
    values = {key: _decode_side(key, value) for key, value in given.items() if key != "event"}
    try:
        if kind is Started:
            return Started(_decode_setup(cast(Json, values["setup"])))
        if kind is Agreed:
            return Agreed(_decode_rules(given))
        if kind is Noted:
            return Noted(Anomaly(**values))  # type: ignore[arg-type]  # checked by the round trip's tests
        return kind(**values)  # type: ignore[arg-type]  # as above
    except (KeyError, TypeError) as error:
        raise RecordError(f"event {name} cannot be read: {error}") from error


def _plain(fact: object) -> dict[str, object]:
    out: dict[str, object] = {}
    kind: type = type(fact)
    for name in _fields(kind):
        value = getattr(fact, name)
        out[name] = chess.COLOR_NAMES[value] if name in _SIDES and value is not None else value
    return out


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in dataclass_fields(kind))


def _decode_side(name: str, value: object) -> object:
    return fields.side(value, name) if name in _SIDES and value is not None else value


def _encode_setup(setup: Setup) -> dict[str, object]:
    control = setup.time_control
    return {
        **_plain(setup),
        "rules": _encode_rules(setup.rules),
        "time_control": None if control is None else _plain(control),
    }


def _decode_setup(given: Json) -> Setup:
    control = fields.mapping(given, "time_control")
    values = {
        **given,
        "rules": _decode_rules(given),
        "time_control": None if control is None else TimeControl(**control),  # type: ignore[arg-type]
    }
    return Setup(**values)  # type: ignore[arg-type]  # `_encode_setup` wrote these fields


def _encode_rules(rules: Ruleset) -> dict[str, object]:
    plain: dict[str, object] = {} if rules.scored else {"scored": False}
    return {"pool": rules.pool, "dials": rules.dials.to_mapping(), **plain}


def _decode_rules(given: Json) -> Ruleset:
    rules = fields.mapping(given, "rules") or {}
    # The pool's name is kept as it was: it may be one that only the configuration of that day knew.
    dials = parse_dials(fields.mapping(rules, "dials") or {}).dials
    return Ruleset(dials, fields.text(rules, "pool") or None, scored=rules.get("scored") is not False)
