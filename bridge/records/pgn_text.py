"""PGN text cut into games, each line with its number, before python-chess reads them.

python-chess takes a blank line for the end of a game and skips what it cannot read. Real files have blank lines inside
games, none between them, comments that never close and tags after the moves; and we must not judge half a game. So the
cut is made here, at tags and results, and what is no move, number or sign is a fault of the game.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import chess.pgn

from bridge.errors import RecordError

Line: TypeAlias = tuple[int, str]

_TAG = re.compile(r'\s*\[\s*([A-Za-z0-9][\w+#=:-]*)\s*"((?:[^"\\]|\\.)*)"\s*\]')
_LOOSE_TAG = re.compile(r'\s*\[\s*([A-Za-z0-9][\w+#=:-]*)\s*"(.*)"\s*\]\s*\Z')
_TAG_LIKE = re.compile(r"\s*\[(?!%)")
_STRUCTURE = re.compile(r"[{;()]|(?<![\w/-])(?:1-0|0-1|1/2-1/2|1/2)(?![\w/-])|\*")
_WORD = re.compile(r"[^\W\d_]+|[\u2654-\u265f\[\]{}\"]")
_GLUED = re.compile(r"[a-h][1-8]\d+")
_SIGNS = frozenset({"N", "RR", "TN", "D", "P", "e", "p", "ep", "inf"})
"""Letters that old annotators put beside moves; P before a pawn move is allowed on reading (PGN standard 8.2.3.2)."""


@dataclass(slots=True)
class GameText:
    """The text of one game. `fault`: line and cause of the first thing that makes it unreadable."""

    line: int
    tags: dict[str, str] = field(default_factory=dict)
    tag_lines: dict[str, int] = field(default_factory=dict)
    moves: list[Line] = field(default_factory=list)
    bare: list[Line] = field(default_factory=list)
    """The movetext outside comments and variations."""
    result: str = ""
    """The result that closes the movetext, empty where it is missing."""
    fault: tuple[int, str] | None = None

    @property
    def is_empty(self) -> bool:
        """Nothing but comments and strays: a result told twice, the Ctrl-Z that old DOS files end with."""
        return not self.tags and self.fault is None and not any(c.isalnum() for _, text in self.bare for c in text)

    def complain(self, line: int, cause: str) -> None:
        """Keep the first fault."""
        if self.fault is None:
            self.fault = (line, cause)


def fault(line: int, cause: str) -> RecordError:
    """What makes a game unreadable, and where."""
    return RecordError(cause, place=f"line {line}")


def cut(lines: Iterable[Line]) -> Iterator[GameText]:
    """The games of a PGN text; lines come without their ends."""
    cutter = _Cutter()
    for number, text in lines:
        yield from cutter.feed(number, text)
    yield from cutter.close()


class _Cutter:
    def __init__(self) -> None:
        self.game: GameText | None = None
        self.comment_line = 0
        """Where the open `{` stands, 0 outside comments."""
        self.depth = 0
        self.after_blank = True

    def feed(self, number: int, text: str) -> Iterator[GameText]:
        blank = not text.strip()
        if self.comment_line and self._is_runaway(text):
            yield from self.close()
        if self.comment_line:
            self._moves(number, text)
        elif not blank and not text.startswith("%"):
            if _TAG_LIKE.match(text):
                yield from self._tags(number, text)
            else:
                yield from self._movetext(number, text)
        self.after_blank = blank

    def close(self) -> Iterator[GameText]:
        game, self.game = self.game, None
        if game is not None:
            if self.comment_line:
                game.complain(self.comment_line, "a comment that begins here is never closed")
            elif self.depth:
                game.complain(game.moves[-1][0], "a variation is never closed")
            _find_junk(game)
        self.comment_line = self.depth = 0
        if game is not None and not game.is_empty:
            yield game

    def _is_runaway(self, text: str) -> bool:
        """A new game's first tag inside a comment: the comment was never closed."""
        tag = _LOOSE_TAG.match(text)
        return tag is not None and (tag[1] == "Event" or self.after_blank)

    def _open(self, number: int) -> GameText:
        if self.game is None:
            self.game = GameText(number)
        return self.game

    def _tags(self, number: int, text: str) -> Iterator[GameText]:
        tags, rest = _read_tags(text)
        game = self.game
        if game is not None and (game.result or game.moves):
            known = not tags or tags[0][0] in game.tags or tags[0][0] == "Event"
            if game.result or (tags and known) or not game.tags:
                yield from self.close()
            else:
                game.complain(number, f"a tag inside the moves: {_short(text)}")
        game = self._open(number)
        for name, value in tags:
            game.tags[name] = value
            game.tag_lines[name] = number
        if not tags:
            game.complain(number, f"broken tag {_short(text)}")
        elif rest.strip():
            yield from self._movetext(number, rest)

    def _movetext(self, number: int, text: str) -> Iterator[GameText]:
        while text.strip():
            if self.game is not None and self.game.result:
                yield from self.close()
            text = self._moves(number, text)

    def _moves(self, number: int, text: str) -> str:
        """Take in movetext as far as the game goes; what follows its result on the same line is given back."""
        game = self._open(number)
        at, plain = 0, []
        while at < len(text):
            if self.comment_line:
                at = text.find("}", at) + 1
                if not at:
                    break
                self.comment_line = 0
            elif game.result and text[at:].strip() and text[at:].lstrip()[0] not in "{;":
                break
            mark = _STRUCTURE.search(text, at)
            if not self.depth:
                plain.append(text[at : mark.start() if mark else len(text)])
            if mark is None or mark[0] == ";":
                at = len(text)
                break
            at = mark.end()
            self._mark(game, number, mark[0])
        at = at or len(text)
        game.moves.append((number, text[:at]))
        game.bare.append((number, " ".join(plain)))
        return text[at:]

    def _mark(self, game: GameText, number: int, mark: str) -> None:
        if mark == "{":
            self.comment_line = number
        elif mark == "(":
            self.depth += 1
        elif mark == ")":
            if not self.depth:
                game.complain(number, "')' without a variation")
            self.depth = max(0, self.depth - 1)
        elif not self.depth:
            game.result = mark


def _read_tags(text: str) -> tuple[list[tuple[str, str]], str]:
    """All tags of a line and what follows them; no tags: the line is broken."""
    tags, at = [], 0
    while tag := _TAG.match(text, at):
        tags.append((tag[1], re.sub(r"\\([\"\\])", r"\1", tag[2])))
        at = tag.end()
    rest = text[at:]
    if rest.strip() and (not tags or _TAG_LIKE.match(rest) or '"' in rest):
        loose = _LOOSE_TAG.match(text)
        return ([(loose[1], loose[2])], "") if loose else ([], "")
    return tags, rest


def _find_junk(game: GameText) -> None:
    for number, text in game.bare:
        glued = _GLUED.search(text)
        if glued:
            game.complain(number, f"unreadable text {glued[0]!r}")
        for word in _WORD.findall(chess.pgn.MOVETEXT_REGEX.sub(" ", text)):
            if word not in _SIGNS:
                game.complain(number, f"unreadable text {_short(word)}")
                return


def _short(text: str) -> str:
    stripped = text.strip()
    return repr(stripped if len(stripped) <= 60 else stripped[:57] + "…")
