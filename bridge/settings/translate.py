"""What pydantic finds wrong, in words for the person who wrote the file, each at its place."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from bridge.settings.base import Section
from bridge.settings.problems import Path, Problem, unknown
from bridge.settings.watch import SUBJECTS, WatchUser
from bridge.settings.yaml_source import Document, Value

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SECRETS = frozenset({"token", "secret"})
"""Keys whose values are never shown."""


def is_secret(path: Path) -> bool:
    """Whether the value there is never shown. The address of a notification holds the service's password."""
    return bool(SECRETS.intersection(path)) or (path[:1] == ("notifications",) and path[-1] == "url")


_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "float_type": "a number",
    "tuple_type": "a list (each entry after a `- `)",
    "dict_type": "a table of keys",
    "model_type": "a table of keys",
    "model_attributes_type": "a table of keys",
}


def translate(error: ValidationError, document: Document, sections: Mapping[int, type[Section]]) -> list[Problem]:
    """One problem a key or value. `sections`: which model checked the table with this `id()`."""
    together: dict[tuple[Path, bool], list[ErrorDetails]] = {}
    for details in error.errors(include_url=False):
        place = _path(details["loc"], document.value), "[key]" in details["loc"]
        together.setdefault(place, []).append(details)
    translator = _Translator(document, sections)
    return [problem for (path, _), found in together.items() for problem in translator.problems(path, found)]


def _path(loc: Sequence[str | int], value: object) -> Path:
    """Pydantic's location without the names of the union members that it went through."""
    path: list[str | int] = []
    for part in loc:
        if part == "[key]" or not isinstance(value, dict | list):
            break
        is_form = isinstance(part, str) and part.startswith("<")
        is_kind = isinstance(value, dict) and part not in value and value.get("kind") == part
        if is_form or is_kind:
            continue
        path.append(part)
        value = _inside(value, part)
    return tuple(path)


def _inside(value: object, part: str | int) -> object:
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def value_at(value: Value, path: Path) -> object:
    """The value at a path, None if there is none."""
    found: object = value
    for part in path:
        found = _inside(found, part)
    return found


class _Translator:
    def __init__(self, document: Document, sections: Mapping[int, type[Section]]) -> None:
        self._document = document
        self._sections = sections

    def problems(self, path: Path, found: "list[ErrorDetails]") -> list[Problem]:
        first = found[0]
        match first["type"]:
            case "extra_forbidden" if path[0] == "watch" and path[-1] in SUBJECTS:
                return []  # two subjects in one entry: crosscheck names both
            case "extra_forbidden":
                section = self._sections[id(value_at(self._document.value, path[:-1]))]
                return [Problem(path[:-1], unknown("key", str(path[-1]), section.model_fields), at_key_of=path)]
            case "too_short" if value_at(self._document.value, path):
                return []  # pydantic counts only the good ones; the bad ones are told anyway
            case "missing":
                return [Problem(path[:-1], f"the key {path[-1]!r} is missing")]
            case "union_tag_invalid":
                given, known = first["ctx"]["tag"], re.findall(r"'([^']*)'", first["ctx"]["expected_tags"])
                own = f"; for a program: kind: uci, path: {given}" if path[0] == "engines" else ""
                return [Problem((*path, "kind"), unknown("kind", given, known) + own)]
            case "union_tag_not_found":
                return self._without_form(path)
            case "value_error":
                at_key = "[key]" in first["loc"]
                text = self._as_written(path, str(first["ctx"]["error"]))
                return [Problem(path, text, at_key_of=path if at_key else None)]
        return [Problem(path, self._text(path, found))]

    def _text(self, path: Path, found: "list[ErrorDetails]") -> str:
        details, context = found[0], found[0].get("ctx", {})
        wanted = list(dict.fromkeys(_TYPES[each["type"]] for each in found if each["type"] in _TYPES))
        if wanted:
            return self._wrong_type(path, wanted)
        match details["type"]:
            case "literal_error":
                name = next(str(part) for part in reversed(path) if isinstance(part, str))
                known = re.findall(r"'([^']*)'", context["expected"])
                return unknown(name, self._document.written.get(path, "?"), known)
            case "greater_than_equal":
                return f"must be {context['ge']} or more"
            case "less_than_equal":
                return f"must be {context['le']} or less"
            case "string_too_short" | "too_short":
                return "must not be empty"
        return self._as_written(path, details["msg"])

    def _wrong_type(self, path: Path, wanted: Sequence[str]) -> str:
        must = f"must be {' or '.join(wanted)}"
        written = self._document.written.get(path)
        if written is None or is_secret(path):
            return must
        value = value_at(self._document.value, path)
        if value is None:
            return f"is empty; it {must}"
        if "text" in wanted and not isinstance(value, str):
            return f'{must}: YAML reads {written} as {_yaml_name(value)}; write it in quotes: "{written}"'
        return f"{must}, not {written!r}" if isinstance(value, str) else f"{must}, not {written}"

    def _without_form(self, path: Path) -> list[Problem]:
        value = value_at(self._document.value, path)
        if not isinstance(value, dict):
            return [Problem(path, "must be a table of keys")]
        if path[0] == "engines":
            return [Problem(path, "the key 'kind' is missing (kiri, uci, xboard, python or random)")]
        known = [*SUBJECTS, *(name for name in WatchUser.model_fields if name not in SUBJECTS)]
        strange = [key for key in value if key not in known]
        missing = Problem(path, f"names nothing to watch; give one of {', '.join(SUBJECTS)}")
        return [Problem(path, unknown("key", key, known), at_key_of=(*path, key)) for key in strange] or [missing]

    def _as_written(self, path: Path, text: str) -> str:
        """What `${NAME}` stands for may be a secret: it is shown as it was written."""
        value, written = value_at(self._document.value, path), self._document.written.get(path, "")
        return text.replace(value, written) if isinstance(value, str) and value.strip() and value != written else text


def _yaml_name(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"the number {value}"
