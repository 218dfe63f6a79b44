"""The platform's lines as they came: gathered while they wait, kept in compressed blocks, and read back.

A block is Zstandard over records `<wall ms> <steady ms> <line>\\n`. An empty line marks a stream's opening. The lines
of one game and source are numbered from 0 in each run of the program, so that a hole is known as one; after an hour
without a line from 0 again, and then they begin with no opening. What our engines thought is kept likewise, from
sources `engine:ACCOUNT`; it is none of the platform's lines, and told to nobody before a game is over (fair play).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import zstandard

MOST_BYTES = 8 * 1024 * 1024
"""What may wait in memory while the journal cannot be written; further lines are dropped, and leave a hole."""

ENGINE = "engine:"
"""Sources that begin so are our own engines."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a stream: when it came by the wall clock and by the steady clock that the ledger was given."""

    wall_ms: int
    at_ms: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of a game from one source; `first` is the number of the first.

    `after`: the number of the last entry before the transaction that stored it.
    """

    subject: str
    source: str
    first: int
    lines: tuple[Line, ...]
    after: int = 0


class Gathered:
    """The lines that wait for the next transaction."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[str, str], tuple[int, list[Line]]] = {}
        self._numbers: dict[tuple[str, str], tuple[int, int]] = {}
        self._bytes = 0

    def add(self, subject: str, source: str, line: Line) -> None:
        """Number a line and keep it, if there is room."""
        key = (subject, source)
        number, _ = self._numbers.get(key, (0, 0))
        self._numbers[key] = number + 1, line.wall_ms
        first, lines = self._blocks.get(key, (number, []))
        if self._bytes + len(line.text) > MOST_BYTES or first + len(lines) != number:
            return
        self._bytes += len(line.text)
        lines.append(line)
        self._blocks[key] = (first, lines)

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def blocks(self) -> list[Block]:
        """What waits now."""
        return [Block(*key, first, tuple(lines)) for key, (first, lines) in self._blocks.items()]

    def stored(self, blocks: Sequence[Block]) -> None:
        """These are in the journal: let them go; what came meanwhile stays, before what began after it."""
        for block in blocks:
            key = (block.subject, block.source)
            first, lines = self._blocks[key]
            self._bytes -= sum(len(line.text) for line in block.lines)
            if rest := lines[len(block.lines) :]:
                self._blocks[key] = (first + len(block.lines), rest)
            else:
                del self._blocks[key]

    def forget(self, before_ms: int) -> None:
        """Number anew where the last line came before `before_ms`: most of those games are over."""
        self._numbers = {key: known for key, known in self._numbers.items() if known[1] >= before_ms}


def pack(lines: Iterable[Line], compressor: zstandard.ZstdCompressor) -> bytes:
    """The `data` of a block. A compressor that is used again is ten times as fast; it serves one thread at a time."""
    return compressor.compress(b"".join(b"%d %d %b\n" % (line.wall_ms, line.at_ms, line.text) for line in lines))


def unpack(data: bytes) -> Iterator[Line]:
    """The lines of a block.

    Raises:
        ValueError: it is damaged.
    """
    try:
        records = zstandard.decompress(data).split(b"\n")[:-1]
    except zstandard.ZstdError as error:
        raise ValueError(f"a block of lines is damaged: {error}") from error
    for record in records:
        wall_ms, at_ms, text = record.split(b" ", 2)
        yield Line(int(wall_ms), int(at_ms), text)
