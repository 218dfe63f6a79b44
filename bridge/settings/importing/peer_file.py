"""Another bot's YAML: values by their paths, the comments beside them, and which of them were looked at."""

import re
from collections.abc import Iterator

from bridge.errors import UsageError
from bridge.settings.problems import Path
from bridge.settings.yaml_source import Value, read_yaml

_SETTING = re.compile(r"#\s*(-\s|[\w ]+:(\s|$))")
"""A comment that is a setting switched off: it says nothing about the key below it."""


class PeerFile:
    """A file that is being converted. Every value is taken once; what nobody took is left."""

    def __init__(self, text: str, name: str) -> None:
        document = read_yaml(text, {})
        if document.problems:
            found = document.problems[0]
            line, column = found.place or document.place(found.path)
            raise UsageError(f"{name}:{line}:{column}: {found.text}")
        if document.value is None:
            raise UsageError(f"{name}: is empty")
        if not isinstance(document.value, dict):
            raise UsageError(f"{name}: holds no table of keys, so it is no configuration of lichess-bot or BotLi")
        self.root: dict[str, Value] = document.value
        self._lines = text.splitlines()
        self._document = document
        self._taken: set[Path] = set()

    def take(self, *path: str) -> Value:
        """The value at a path, None where there is none; it counts as dealt with, all below it too."""
        self._taken.add(path)
        return self.look(*path)

    def look(self, *path: str) -> Value:
        """The same, without being counted."""
        value: Value = self.root
        for key in path:
            if not isinstance(value, dict):
                return None
            value = value.get(key)
        return value

    def table(self, *path: str) -> dict[str, Value]:
        """A table at a path; empty where there is none."""
        value = self.look(*path)
        return value if isinstance(value, dict) else {}

    def has(self, *path: str) -> bool:
        """Whether the key is there and not blank."""
        return self.look(*path) is not None

    def comment(self, path: Path) -> tuple[tuple[str, ...], str]:
        """The comment lines above a key, and the one beside it; each with its `#`, or empty."""
        if path not in self._document.keys:
            return (), ""
        at, column = self._document.keys[path]
        above: list[str] = []
        for line in reversed(self._lines[: at - 1]):
            stripped = line.strip()
            if not stripped.startswith("#") or len(line) - len(line.lstrip()) != column - 1:
                break
            if _SETTING.match(stripped):
                break
            above.insert(0, stripped)
        return tuple(above), self._beside(path, at)

    def beside_entries(self, path: Path) -> tuple[tuple[str, str], ...]:
        """The entries of a list that have lines and comments of their own: as they are written, with the comment."""
        found = []
        value, key_line = self.look(*map(str, path)), self._document.keys.get(path, (0, 0))[0]
        for index in range(len(value)) if isinstance(value, list) else ():
            entry = (*path, index)
            at = self._document.place(entry)[0]
            if (
                entry in self._document.written
                and at > key_line
                and (comment := self._after(entry, self._lines[at - 1]))
            ):
                found.append((self._document.written[entry], comment))
        return tuple(found)

    def _beside(self, path: Path, at: int) -> str:
        return self._after(path, self._lines[at - 1].partition(":")[2])

    def _after(self, path: Path, rest: str) -> str:
        """The comment behind a value in what is left of its line."""
        written = self._document.written.get(path, "")
        start = rest.find(written) + len(written) if written and written in rest else 0
        found = re.search(r"(^|[\s\"'\]}])(#.*)$", rest[start:])
        return found[2].rstrip() if found else ""

    def left(self) -> Iterator[Path]:
        """The paths of all values that nobody took."""
        yield from self._left(self.root, ())

    def _left(self, value: Value, path: Path) -> Iterator[Path]:
        if path in self._taken or value is None:
            return
        if isinstance(value, dict) and value:
            for key, child in value.items():
                yield from self._left(child, (*path, key))
        elif path:
            yield path
