"""The options of the settings as an engine program takes them."""

import difflib
from collections.abc import Mapping, MutableMapping

import chess.engine

from bridge.engines.spec import Option
from bridge.errors import EngineError

_BUTTONS = ("button", "reset", "save")


def option_values(
    path: str, offered: MutableMapping[str, chess.engine.Option], given: Mapping[str, Option]
) -> dict[str, str | int | bool | None]:
    """Each given option under the name that the program offers, in any case.

    Raises:
        EngineError: an option that the program at `path` does not have, or that is set by the bridge itself.
    """
    names = {name.lower(): name for name in offered}
    values: dict[str, str | int | bool | None] = {}
    for wanted, value in given.items():
        name = names.get(wanted.lower())
        if name is None:
            near = difflib.get_close_matches(wanted.lower(), names, n=1, cutoff=0.4)
            hint = f"; did you mean {names[near[0]]!r}?" if near else ""
            raise EngineError(
                f"engine {path} has no option {wanted!r}{hint} (it has: {', '.join(names.values()) or 'none'})"
            )
        if offered[name].is_managed():
            raise EngineError(f"option {name!r} of engine {path} is set by the bridge: leave it out")
        # A button kept as a value would be pressed again before every move.
        values[name] = None if offered[name].type in _BUTTONS else _plain(value)
    return values


def suggested_values(
    offered: Mapping[str, chess.engine.Option], given: Mapping[str, Option], suggested: Mapping[str, Option]
) -> dict[str, Option]:
    """What is given, and what is suggested beside it as far as the program has it."""
    said, had = {name.lower() for name in given}, {name.lower() for name in offered}
    return {**{name: value for name, value in suggested.items() if name.lower() in had - said}, **given}


def _plain(value: Option) -> str | int | bool:
    if isinstance(value, float):
        return int(value) if value.is_integer() else str(value)
    return value
