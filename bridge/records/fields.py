"""Taking typed fields out of a parsed JSON object, with errors that name the field."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeGuard

import chess

from bridge.errors import RecordError

Json: TypeAlias = Mapping[str, object]

_SIDES = {"white": chess.WHITE, "black": chess.BLACK}


def text(given: Json, name: str, default: str = "") -> str:
    """A string; absent or null gives `default`."""
    value = given.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise RecordError(f"{name} must be a string, not {brief(value)}")
    return value


def flag(given: Json, name: str) -> bool:
    """A boolean; absent or null is False."""
    value = given.get(name)
    if value is not None and not isinstance(value, bool):
        raise RecordError(f"{name} must be true or false, not {brief(value)}")
    return bool(value)


def mapping(given: Json, name: str) -> Json | None:
    """An object, or None where it is absent or null."""
    value = given.get(name)
    if value is not None and not isinstance(value, dict):
        raise RecordError(f"{name} must be an object, not {brief(value)}")
    return value


def milliseconds(given: Json, name: str) -> int | None:
    """A whole number of milliseconds, 0 or more, or None where it is absent or null."""
    value = given.get(name)
    if value is not None and not is_count(value):
        raise RecordError(f"{name} must be whole milliseconds, 0 or more, not {brief(value)}")
    return value if is_count(value) else None


def array(given: Json, name: str) -> Sequence[object] | None:
    """An array, or None where it is absent or null."""
    value = given.get(name)
    if value is not None and not isinstance(value, list):
        raise RecordError(f"{name} must be an array, not {brief(value)}")
    return value


def side(value: object, name: str) -> chess.Color:
    """`white` or `black`."""
    if not isinstance(value, str) or value not in _SIDES:
        raise RecordError(f"{name} must be white or black, not {brief(value)}")
    return _SIDES[value]


def is_count(value: object) -> TypeGuard[int]:
    """A whole number that is 0 or more, and no boolean; beyond 10^12 no clock goes."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**12


def brief(value: object) -> str:
    """A wrong value, short enough for a message."""
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:37] + "…"
