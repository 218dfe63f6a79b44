"""A ledger once more from its source, and what is stored held against it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from bridge import event_types
from bridge.errors import RecordError
from bridge.event_data import facts_after, settled, take_in
from bridge.interfaces import Entry
from bridge.records import fields
from bridge.records.events import decode, encode
from bridge.records.fields import Json
from bridge.records.one_line import one_line
from bridge.records.pgn_difference import pgn_differences
from bridge.records.pgn_writer import UNKNOWN_DATE, to_pgn
from bridge.records.verdict_json import verdict_object
from bridge.rules.diff import diff
from bridge.rules.events import Ended, Event, Moved, Started
from bridge.rules.ledger import Ledger
from bridge.rules.refine import refine
from bridge.rules.snapshot import RUNNING, Setup, Snapshot
from bridge.rules.verdict import Verdict, verdict

_DATE = re.compile(r'^\[Date "([^"]*)"\]$', re.MULTILINE)
"""The day on which the game was first stored, or unknown: it says nothing of the game."""


class Recomputed:
    """The events of a game, found again in its platform's snapshots as the live game found them."""

    def __init__(self, setup: Setup) -> None:
        self.ledger = Ledger(setup)
        self.events: list[Event] = [Started(setup)]

    def resume(self, stored: Sequence[Event]) -> None:
        """The program was started anew: it went on from what was stored, and its last lines may have had no effect."""
        kept = list(stored) or self.events[:1]  # nothing stored: it began the game once more
        if self.events[: len(kept)] == kept:
            self.events = kept
            self.ledger = Ledger.replay(kept)

    def take(self, snapshots: Iterable[Snapshot], *, from_first: bool) -> None:
        """What one run of the program read. `from_first`: the source tells a game anew from its first position."""
        behind = from_first and bool(self.ledger.moves)
        for snapshot in snapshots:
            behind = behind and self._repeats(snapshot)
            if not behind:
                self._bring_to(snapshot)

    def _repeats(self, snapshot: Snapshot) -> bool:
        moves, told = self.ledger.moves, len(snapshot.moves)
        return snapshot.status in RUNNING and told < len(moves) and list(snapshot.moves) == moves[:told]

    def _bring_to(self, snapshot: Snapshot) -> None:
        try:
            for event in diff(self.ledger, snapshot):
                self.ledger.apply(event)
                self.events.append(event)
        except RecordError:
            return  # an illegal move ends the intake of its snapshot, as in the live game


@dataclass(frozen=True, slots=True)
class Difference:
    """Something stored that does not agree; `ply` 0 where it belongs to no ply."""

    game: str
    ply: int
    what: str

    def __str__(self) -> str:
        return f"game {self.game}, ply {self.ply}: {self.what}" if self.ply else f"game {self.game}: {self.what}"


def stored_events(entries: Iterable[Entry]) -> list[tuple[Entry, Event]]:
    """The events among a game's entries, and the entries they stand in. Raises RecordError."""
    found = ((entry, entry.data.get("event")) for entry in entries)
    return [(entry, _decoded(entry, event)) for entry, event in found if isinstance(event, dict)]


def _decoded(entry: Entry, event: Json) -> Event:
    try:
        return decode(event)
    except RecordError as error:
        raise RecordError(f"entry {entry.seq}: {error}") from error


def against_events(
    game: str, entries: Sequence[Entry], clocks_ms: Sequence[int | None] = (), told_after: int = 0
) -> Iterator[Difference]:
    """Stored clocks, effects and verdicts that do not come of the stored events. Raises RecordError.

    `clocks_ms`: the archive's, told after an entry, with which final verdicts from then on filled in what was missed
    (R14). What comes after an event that cannot have happened is not looked at.
    """
    ledger: Ledger | None = None
    events: list[Event] = []
    for entry in entries:
        stored = entry.data.get("event")
        if isinstance(stored, dict):
            event = _decoded(entry, stored)
            events.append(event)
            facts: dict[str, object] = {}
            if isinstance(event, Started):
                ledger = Ledger(event.setup)
                facts = settled(event.setup)
            elif ledger is not None:
                applied = _applied(game, ledger, entry, event)
                if isinstance(applied, Difference):
                    yield applied
                    return
                facts = applied
            if ledger is not None:
                facts |= facts_after(ledger)
                yield from _differences(game, len(ledger.moves), entry.data, facts, "stored", "its events give")
        elif entry.type in event_types.VERDICTS and ledger is not None:
            told = entry.data.get("verdict")
            if isinstance(told, dict) and told.get("clock_source") == ledger.setup.source:
                final = told.get("final") is True
                refined = final and clocks_ms and entry.seq > told_after
                whole = Ledger.replay(refine(events, clocks_ms)) if refined else ledger
                yield from against_verdict(game, entry.data, verdict(whole, final=final))


def _applied(game: str, ledger: Ledger, entry: Entry, event: Event) -> dict[str, object] | Difference:
    """Take an event in: what was to be told of it, or why it cannot come next."""
    ply = len(ledger.moves) + 1
    told = entry.data.get("ply", ply) if isinstance(event, Moved) else ply
    if isinstance(told, int) and told > ply:
        return Difference(game, ply, f"is not stored; the next one that is stored is ply {told}")
    try:
        return take_in(ledger, event)
    except (RecordError, TypeError, ValueError, AttributeError) as error:  # a field may be of another kind
        return Difference(game, ply, f"entry {entry.seq} cannot come next: {error}")


def against_source(game: str, stored: Sequence[Event], events: Sequence[Event]) -> Iterator[Difference]:
    """Stored events that are not those of the platform's lines; the first that differs stands for those after it.

    The lines of a game that still runs may be ahead of its events.
    """
    over = any(isinstance(event, Ended) for event in stored)
    ply = 0
    for ours, theirs in zip_longest(stored, events):
        if isinstance(ours, Moved) or isinstance(theirs, Moved):
            ply += 1
        if ours == theirs:
            continue
        if ours is None and not over:
            return
        if ours is None or theirs is None:
            which = "is not stored" if ours is None else "is not in the platform's lines"
            yield Difference(game, ply, f"{_name(ours or theirs)} {which}")
            return
        told, given = encode(ours), encode(theirs)
        if told["event"] != given["event"]:
            yield Difference(game, ply, f"stored is {_name(ours)}, the platform's lines give {_name(theirs)}")
            return
        yield from _differences(game, ply, told, given, "stored", "the platform's lines give")


def against_verdict(game: str, data: Json, judged: Verdict) -> Iterator[Difference]:
    """A stored verdict, with text, PGN and the rows of its ledger, that is not the one that comes of the game."""
    told = fields.mapping(data, "verdict") or {}
    given = verdict_object(judged, ledger=True)
    rows, ours = given.pop("ledger"), told.get("ledger")
    yield from _differences(game, 0, told, given, "the verdict says", "the game gives")
    yield from _differences(game, 0, data, {"text": one_line(judged)}, "the verdict's", "the game gives")
    yield from _against_pgn(game, data.get("pgn"), judged)
    if not isinstance(rows, list) or not isinstance(ours, list):
        return
    if len(rows) != len(ours):
        ply = next((row["ply"] or 0 for row in [*rows, *ours][min(len(rows), len(ours)) :] if isinstance(row, dict)), 0)
        yield Difference(game, ply, f"the verdict's ledger has {len(ours)} rows, the game gives {len(rows)}")
    for row, stored in zip(rows, ours, strict=False):
        if isinstance(stored, dict):
            ply = row["ply"] or 0  # time that was thought without a move belongs to no ply
            yield from _differences(game, ply, stored, row, "the verdict's ledger says", "the game gives")


def _against_pgn(game: str, told: object, judged: Verdict) -> Iterator[Difference]:
    if not isinstance(told, str):
        return
    date = _DATE.search(told)
    for found in pgn_differences(told, to_pgn(judged, date=date[1] if date else UNKNOWN_DATE)):
        says, gives = found.told or "nothing", found.given or "nothing"
        yield Difference(game, found.ply, f"{found.name} the PGN says {says}, the game gives {gives}")


def _differences(game: str, ply: int, told: Json, given: Json, says: str, gives: str) -> Iterator[Difference]:
    """Among the fields that both have: later versions of the program may tell more."""
    for name, value in given.items():
        if name in told and told[name] != _plain(value):
            yield Difference(game, ply, f"{name} {says} {told[name]}, {gives} {value}")


def _plain(value: object) -> object:
    """As it comes back from JSON."""
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return {key: _plain(each) for key, each in value.items()} if isinstance(value, dict) else value


def _name(event: Event | None) -> str:
    return "nothing" if event is None else str(encode(event)["event"])
