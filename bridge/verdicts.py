"""The verdicts of a game as they were told, one after the other: provisional, final, and what changed since and why.

A verdict is replaced by compare and set: the key of the change names the number of the verdict it takes the place of,
so that of two who would replace the same one only the first is stored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bridge import event_types
from bridge.interfaces import Entry, Journal

_COMPARED = ("result", "reason", "flag", "ended_at_ply")
"""What makes another verdict; clocks may differ by their source's error without being news."""


@dataclass(frozen=True, slots=True)
class ToldVerdict:
    """`verdict` as in `kirichess.verdict/1`; `cause` and `previous` say why and from what it was changed, if it was."""

    seq: int
    time_ms: int
    type: str
    verdict: Mapping[str, object]
    cause: str = ""
    previous: Mapping[str, object] | None = None

    @property
    def final(self) -> bool:
        """Whether the game was over when it was told."""
        return self.verdict.get("final") is True

    def core(self) -> dict[str, object]:
        """Result, reason, flag and ply: what a change is measured by."""
        return {name: self.verdict.get(name) for name in _COMPARED}


async def verdict_history(journal: Journal, game_id: str) -> list[ToldVerdict]:
    """Every verdict told of a game, oldest first; the last one stands. Raises JournalError."""
    entries: list[Entry] = []
    after = 0
    while page := await journal.read(subject=game_id, types=event_types.VERDICTS, after=after):
        entries += page
        after = page[-1].seq
    return told_verdicts(entries)


def told_verdicts(entries: Iterable[Entry]) -> list[ToldVerdict]:
    """The verdicts among a game's entries."""
    return [_told(entry) for entry in entries if entry.type in event_types.VERDICTS]


def standing(entries: Iterable[Entry]) -> ToldVerdict | None:
    """The final verdict that stands; None before there is one."""
    told = told_verdicts(entries)
    if not any(verdict.type == event_types.VERDICT_FINAL for verdict in told):
        return None
    return [verdict for verdict in told if verdict.final][-1]


def replacing(verdict: ToldVerdict | None, game_id: str) -> str:
    """The key of the change that takes a final verdict's place; None: a provisional one's."""
    return f"changed:{game_id}" if verdict is None else f"changed:{game_id}:{verdict.seq}"


def _told(entry: Entry) -> ToldVerdict:
    verdict, previous = entry.data.get("verdict"), entry.data.get("previous")
    return ToldVerdict(
        entry.seq,
        entry.time_ms,
        entry.type,
        verdict if isinstance(verdict, Mapping) else {},
        str(entry.data.get("cause", "")),
        previous if isinstance(previous, Mapping) else None,
    )
