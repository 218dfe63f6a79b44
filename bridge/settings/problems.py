"""What is wrong with a configuration: where, and in words that say how to mend it."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys, and positions in lists from 0."""

_TOKEN = re.compile(r"\b(lip|lio|whsec)_[A-Za-z0-9+/=]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. It is placed at `place` (line and column, from 1), else at the key of `at_key_of`, else where the
    value of `path` is written."""

    path: Path
    text: str
    place: tuple[int, int] | None = None
    at_key_of: Path | None = None

    def line(self, file: str, place: tuple[int, int]) -> str:
        """`file:line:column: path: text`, never with a token in it."""
        where = f"{shown(self.path)}: " if self.path else ""
        text = _TOKEN.sub(r"\1_…", where + self.text)
        return f"{file}:{place[0]}:{place[1]}: {text}"


def shown(path: Path) -> str:
    """`accounts[0].play.pool`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """`unknown key 'incremnt'; did you mean 'increment'? (known: …)`."""
    names = list(known)
    near = difflib.get_close_matches(given.lower(), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {given!r}{hint} (known: {', '.join(names)})"
