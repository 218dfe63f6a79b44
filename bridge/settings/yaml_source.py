"""YAML as plain values that still know where they were written, with the traps of YAML 1.1 told apart.

Only composing is left to PyYAML: it keeps silent about duplicate keys, and reads 6:00 as 360 and 010 as 8.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from bridge.settings.problems import Path, Problem

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Place: TypeAlias = tuple[int, int]

LARGEST_BYTES = 1_000_000
DEEPEST = 50
MOST_VALUES = 100_000
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_REFERENCE = re.compile(r"\$(\$?)\{([^}]*)\}?")
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Stand in for the braces of `${NAME}` while YAML is read, which would take them for a table inside `{…}` and `[…]`."""
_INDENTED_BY_TAB = re.compile(r"[ -]*\t")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INT, _FLOAT, _BOOL, _NULL = (f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
_PLAIN_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_PLAIN_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(slots=True)
class Document:
    """A file's values. `places` holds line and column of every value, `keys` those of every key (both from 1);
    `written` is each scalar as it stands in the file, before `${…}` is filled in; `variables` are those it names.
    `unset` are the paths whose text refers to a variable that does not exist, with its name: their values are not
    known."""

    value: Value = None
    places: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    written: dict[Path, str] = field(default_factory=dict)
    variables: dict[Path, set[str]] = field(default_factory=dict)
    unset: dict[Path, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: Path) -> Place:
        """Where a value is written, or the nearest thing around it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (1, 1))

    def key_place(self, path: Path) -> Place:
        """Where a key is written."""
        return self.keys.get(path) or self.place(path)


def read_yaml(text: str, variables: Mapping[str, str]) -> Document:
    """Read one YAML document; `variables` fills in `${NAME}` (`$${` stands for a plain `${`)."""
    document = Document()
    try:
        root = yaml.compose(re.sub(r"\$\{([^{}\n]*)\}", rf"${_OPEN}\1{_CLOSE}", text), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        if mark and _INDENTED_BY_TAB.match("".join(text.splitlines()[mark.line : mark.line + 1])):
            what = "the line is indented with a tab; use spaces"
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        document.problems.append(Problem((), f"this is not YAML: {what}", place))
        return document
    except (yaml.YAMLError, RecursionError) as error:
        document.problems.append(Problem((), f"this is not YAML: {str(error).splitlines()[0]}", (1, 1)))
        return document
    if root is not None:
        document.value = _Reader(document, variables).value(root, ())
    return document


class _Reader:
    """Walks the composed nodes once; aliases are read anew at each place that they stand for."""

    def __init__(self, document: Document, variables: Mapping[str, str]) -> None:
        self._document = document
        self._variables = variables

    def value(self, node: yaml.Node, path: Path) -> Value:
        self._document.places[path] = _place(node)
        if len(path) > DEEPEST or len(self._document.places) > MOST_VALUES:
            if not self._document.problems:
                self._problem(path, "this lies too deep, holds itself, or stands for too much")
            return None
        if isinstance(node, yaml.MappingNode):
            return {key: self.value(child, (*path, key)) for key, child in self._pairs(node, path)}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(child, (*path, index)) for index, child in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return self._scalar(node, path)

    def _pairs(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, yaml.Node]]:
        """A key is text as it is written: 6+0, 6:00 and no are no numbers or booleans here."""
        seen: dict[str, int] = {}
        for key_node, child in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(path, "a key must be one word", _place(key_node))
                continue
            key = _text(key_node)
            if key in seen:
                self._problem((*path, key), f"duplicate key {key!r} (first on line {seen[key]})", _place(key_node))
                continue
            seen[key] = key_node.start_mark.line + 1
            self._document.keys[(*path, key)] = _place(key_node)
            yield key, child

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Value:
        written = _text(node)
        self._document.written[path] = written
        reading = _READINGS.get(node.tag)
        if reading is None:
            return self._filled_in(written, path)
        value = reading(written)
        if value is _TRAP:
            self._problem(path, f'YAML takes {written} for a number in its own way; write it in quotes: "{written}"')
            return written
        return value  # type: ignore[return-value]  # the readings give Values

    def _filled_in(self, text: str, path: Path) -> str:
        def fill(match: re.Match[str]) -> str:
            escaped, name = match.groups()
            if escaped:
                return match[0][1:]
            if not match[0].endswith("}") or not _NAME.fullmatch(name):
                self._problem(path, "a reference to a variable is written ${NAME}; write $${ for a plain ${")
            elif name not in self._variables:
                self._document.unset[path] = name
            self._document.variables.setdefault(path, set()).add(name)
            return self._variables.get(name, match[0])

        return _REFERENCE.sub(fill, text)

    def _problem(self, path: Path, text: str, place: Place | None = None) -> None:
        self._document.problems.append(Problem(path, text, place))


_TRAP = object()


def _int(written: str) -> object:
    plain = written.replace("_", "")
    return int(plain) if _PLAIN_INT.fullmatch(plain) else _TRAP


def _float(written: str) -> object:
    if _PLAIN_FLOAT.fullmatch(written) or written.lower().lstrip("+-") in (".inf", ".nan"):
        return float(written.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return _TRAP


_READINGS: Mapping[str, Callable[[str], object]] = {
    _INT: _int,
    _FLOAT: _float,
    _BOOL: lambda written: written.lower() in ("yes", "true", "on"),
    _NULL: lambda written: None,
}
"""How a scalar without quotes is read, by the tag PyYAML resolved; all other tags are text."""


def _text(node: yaml.ScalarNode) -> str:
    return str(node.value).replace(_OPEN, "{").replace(_CLOSE, "}")


def _place(node: yaml.Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1
