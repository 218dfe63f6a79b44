"""Two PGN texts of one game held against each other, tag by tag and ply by ply."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

import chess.pgn

_TAG = re.compile(r'^\[(\w+) "(.*)"\]$', re.MULTILINE)
_BEFORE_CLOCKS_TAG = frozenset({"KiriFinalThinkMs", "kthink", "keff", "kspent"})
"""What v0.3.0 and earlier wrote otherwise or not at all; their PGN has no `KiriClocks`."""
_NOT_OF_THE_GAME = frozenset({"eval"})
"""What an engine thought."""
_COMMAND = re.compile(r"\[%(\w+)\s+([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class PgnDifference:
    """`name` is a tag (`ply` 0), `move`, or what a `[%name …]` in the comment of a ply says; empty: nothing."""

    ply: int
    name: str
    told: str
    given: str


def pgn_differences(told: str, given: str) -> Iterator[PgnDifference]:
    """What `told` says unlike `given`; of the tags those that both have: later versions may tell more."""
    if told == given:
        return
    ours, theirs = _tags(told), _tags(given)
    passed_over = _NOT_OF_THE_GAME | (frozenset() if "KiriClocks" in ours else _BEFORE_CLOCKS_TAG)
    for name, value in theirs.items():
        if name not in passed_over and ours.get(name, value) != value:
            yield PgnDifference(0, name, ours[name], value)
    for ply, nodes in enumerate(zip_longest(_read(told).mainline(), _read(given).mainline()), 1):
        says, gives = map(_said, nodes)
        for name in sorted((gives | says).keys() - passed_over):
            if says.get(name, "") != gives.get(name, ""):
                yield PgnDifference(ply, name, says.get(name, ""), gives.get(name, ""))


def _read(text: str) -> chess.pgn.Game:
    return chess.pgn.read_game(io.StringIO(text)) or chess.pgn.Game()


def _tags(text: str) -> dict[str, str]:
    """As they are written, which python-chess does not tell; without escapes, which v0.1.0 left out.

    The result behind the moves is among them.
    """
    tags = {name: re.sub(r'\\([\\"])', r"\1", value) for name, value in _TAG.findall(text)}
    return {**tags, "the result behind the moves": "".join(text.split()[-1:])}


def _said(node: chess.pgn.ChildNode | None) -> dict[str, str]:
    if node is None:
        return {}
    return {"move": node.move.uci(), **{name: value.strip() for name, value in _COMMAND.findall(node.comment)}}
