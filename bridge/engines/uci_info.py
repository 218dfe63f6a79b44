"""What a UCI engine says while it thinks: `info` lines, kept by the move they prefer."""

from collections.abc import Sequence

from bridge.engines.view import Found

MATE_CP = 100_000
"""A mate in n is ±(MATE_CP − n)."""


class Heads:
    """The moves a search preferred, newest last: one line for each, as of the last depth that preferred it."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def take(self, line: str) -> None:
        """Keep an `info` line that holds an exact score and a line of play; others say nothing of a choice."""
        if not line.startswith("info ") or " score " not in line or "bound " in line:
            return
        head = line.partition(" pv ")[2].partition(" ")[0]
        if head:
            self._lines.pop(head, None)
            self._lines[head] = line

    def found(self, uci: str) -> Found:
        """The end of a search that chose `uci`."""
        told = self._lines.get(uci, next(reversed(self._lines.values()), ""))
        earlier = tuple(parse_info(head, line) for head, line in self._lines.items() if head != uci)
        return parse_info(uci, told, earlier)


def parse_info(uci: str, line: str, earlier: tuple[Found, ...] = ()) -> Found:
    """One `info` line → what was found; a missing or odd figure is None."""
    words = line.split()
    pv = tuple(words[words.index("pv") + 1 :]) if "pv" in words else ()
    return Found(uci, _score_cp(words), figure(words, "depth"), pv, earlier)


def figure(words: Sequence[str], name: str) -> int | None:
    """The whole number behind a word."""
    try:
        return int(words[words.index(name) + 1])
    except (ValueError, IndexError):
        return None


def _score_cp(words: Sequence[str]) -> int | None:
    if "score" not in words:
        return None
    told = words[words.index("score") :]
    if (mate := figure(told[:3], "mate")) is not None:
        return MATE_CP - mate if mate > 0 else -MATE_CP - mate
    return figure(told[:3], "cp")
