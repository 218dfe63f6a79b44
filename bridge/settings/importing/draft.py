"""Our file while it is made: values by their paths in order, each with comments, and what could not be taken over."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from bridge.settings.importing.comments import corrected
from bridge.settings.importing.peer_file import PeerFile
from bridge.settings.problems import Path

_PLAIN_KEY = re.compile(r"[A-Za-z_][\w ]*")
_WORDS = ("yes", "no", "on", "off", "true", "false", "null", "y", "n")

Scalar = str | int | float | bool
Node = dict[str, "Node"] | Scalar | list[Scalar]


@dataclass(slots=True)
class Draft:
    """What our file will hold. `folder` is the peer's, as it is seen from our file's; "" where it is the same.

    `notes` are the peer's keys that have no counterpart, with the reason; `choices` the rules that choose an engine.
    """

    peer: PeerFile
    folder: str = ""
    root: dict[str, Node] = field(default_factory=dict)
    comments: dict[Path, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    entry_comments: dict[Path, dict[object, str]] = field(default_factory=dict)
    """Those beside the entries of lists, by the entry."""
    notes: list[str] = field(default_factory=list)
    choices: list[dict[str, object]] = field(default_factory=list)

    def put(self, to: Path, value: object, source: Path = ()) -> None:
        """Set a value; the comments of the key that it came from go with it."""
        node = self.root
        for key in to[:-1]:
            child = node.setdefault(str(key), {})
            assert isinstance(child, dict)
            node = child
        node[str(to[-1])] = value  # type: ignore[assignment]  # the converters give scalars, lists and tables of them
        if source:
            self.comments[to] = self._comment(source)
            self._comment_sections(source[:-1], to[:-1])
            if isinstance(value, list):
                told = self.peer.beside_entries(source)
                self.entry_comments[to] = {each: text for each in value for own, text in told if _is_of(each, own)}

    def _comment(self, source: Path) -> tuple[tuple[str, ...], str]:
        above, beside = self.peer.comment(source)
        return tuple(corrected(source, line) for line in above), corrected(source, beside)

    def _comment_sections(self, source: Path, to: Path) -> None:
        """The sections around a key have their comments too, as far as they are the same."""
        while source and to and str(to[-1]) in (f"{source[-1]}", f"{source[-1]}s"):
            self.comments.setdefault(to, self._comment(source))
            source, to = source[:-1], to[:-1]

    def at(self, path: Path) -> Mapping[str, object]:
        """The table at a path; empty where there is none yet."""
        node: object = self.root
        for key in path:
            node = node.get(str(key)) if isinstance(node, dict) else None
        return node if isinstance(node, dict) else {}

    def move(self, source: Path, to: Path) -> None:
        """Take a value over as it is, if there is one."""
        value = self.peer.take(*map(str, source))
        if value is not None:
            self.put(to, value, source)

    def there(self, path: str) -> str:
        """A path of the peer, which counts from its own folder, as our file has to say it."""
        return str(PurePath(self.folder) / path)

    def program(self, path: PurePath) -> str:
        """The same of a program: never a bare name, which here is looked up on PATH."""
        found = self.there(str(path))
        return found if os.sep in found else f"./{found}"

    def note(self, source: Path, reason: str) -> None:
        """A key of the peer that is given, and has no counterpart here."""
        if self.peer.take(*map(str, source)) is not None:
            self.tell(source, reason)

    def tell(self, source: Path, reason: str) -> None:
        """Something about a key that is told in any case."""
        self.notes.append(f"{'.'.join(map(str, source))}: {reason}")

    def text(self, header: str) -> str:
        """The file."""
        return header + "\n" + "\n".join(self._table(self.root, (), 0)) + "\n"

    def _table(self, table: dict[str, Node], path: Path, depth: int) -> Iterator[str]:
        for key, value in table.items():
            at = (*path, key)
            above, beside = self.comments.get(at, ((), ""))
            indent = "  " * depth
            yield from (f"{indent}{line}" for line in above)
            after = f"  {beside}" if beside else ""
            if key.isdigit():  # an entry of a list: `accounts.0`
                assert isinstance(value, dict)
                lines = list(self._table(value, at, depth + 1))
                yield f"{indent}- {lines[0].lstrip()}"
                yield from lines[1:]
            elif isinstance(value, dict) and value:
                yield f"{indent}{_key(key)}:{after}"
                yield from self._table(value, at, depth + 1)
            elif isinstance(value, list) and (beside_entry := self.entry_comments.get(at)):
                yield f"{indent}{_key(key)}:{after}"
                for each in value:
                    comment = f"  {beside_entry[each]}" if each in beside_entry else ""
                    yield f"{indent}  - {_scalar(each)}{comment}"
            else:
                yield f"{indent}{_key(key)}: {_scalar(value)}{after}"


def _is_of(entry: object, written: str) -> bool:
    """Whether it is that entry of the peer's: it may have got a folder or a scheme in front."""
    return str(entry) == written or str(entry).endswith(f"/{written.removeprefix('./')}")


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS else json.dumps(key, ensure_ascii=False)


def _scalar(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    if isinstance(value, Reference):
        return "${" + value.name + "}"
    if isinstance(value, str):
        if re.fullmatch(r"[A-Za-z_]\w*", value) and value.lower() not in _WORDS:
            return value
        return json.dumps(value.replace("${", "$${"), ensure_ascii=False)
    return json.dumps(value)


@dataclass(frozen=True, slots=True)
class Reference:
    """An environment variable that fills in a value."""

    name: str
