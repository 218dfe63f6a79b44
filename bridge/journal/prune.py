"""Let old things go, beside the running program: in transactions so short that no commit waits long for one.

Numbers stay what they are: an entry keeps its own, and the number of one that went is never given again.
"""

import sqlite3
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.errors import UsageError
from bridge.journal import marks
from bridge.journal.reader import writing

AT_ONCE = 200
PAUSE_S = 0.01
"""Between transactions, so that whoever waits for the file gets it."""

_OLD_RAW = "SELECT id FROM raw WHERE until_ms < :before"
# A game that is judged, with nothing said of it since, and every sink has seen it all.
_OLD_GAMES = """
    SELECT subject, max(seq) FROM event WHERE subject != ''
    GROUP BY subject
    HAVING max(time_ms) < :before AND max(seq) <= :seen
       AND (max(type = 'kirichess.verdict.final') OR max(type LIKE 'kirichess.game.%') = 0)
"""
_OLD_LOOSE = "SELECT seq FROM event WHERE subject = '' AND time_ms < :before AND seq <= :seen"
_EVERY = 2**62
"""Greater than any number."""
_OF_A_GAME = tuple(f"{kind} " for kind in marks.OF_A_GAME)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went, or would go; `held_by`: the sink that is furthest behind, if entries stay for its sake."""

    games: int
    entries: int
    raw_blocks: int
    held_by: str = ""


def prune(file: Path, *, before_ms: int, raw_before_ms: int, forget: Sequence[str] = (), dry: bool = False) -> Pruned:
    """Delete games that were judged and silent since `before_ms`, and raw lines older than `raw_before_ms`.

    Entries of running games stay, and those that a sink has still to deliver; the sinks in `forget` have a claim to
    nothing any more. Raises JournalError; UsageError for a sink that the journal does not know.
    """
    with writing(file) as connection:
        claims = _sinks(connection)
        for name in forget:
            if claims.pop(name, None) is None:
                raise UsageError(f"the journal knows no sink {name!r}; it knows {', '.join(claims) or 'none'}")
        if not dry:
            _unmark(connection, [mark for name in forget for mark in (name, f"{name}{marks.KNOWN}")])
        name, seen = min(claims.items(), key=lambda claim: claim[1], default=("", _EVERY))
        bounds = {"before": before_ms, "seen": seen}
        held = _old(connection, {**bounds, "seen": _EVERY}) - _old(connection, bounds)
        blocks = _old_raw(connection, raw_before_ms, dry)
        games, entries, theirs = _old_entries(connection, bounds, dry)
        return Pruned(games, entries, blocks + theirs, name if held else "")


def _sinks(connection: sqlite3.Connection) -> dict[str, int]:
    """A sink is known by a mark of its own: its cursor may still be 0 and not stored."""
    found = {str(name): int(seq) for name, seq in connection.execute("SELECT name, seq FROM cursor ORDER BY name")}
    known = [name.removesuffix(marks.KNOWN) for name in found if name.endswith(marks.KNOWN)]
    return {name: found.get(name, 0) for name in known}


def _old(connection: sqlite3.Connection, bounds: Mapping[str, int]) -> int:
    """How many games and loose entries are old enough."""
    games = connection.execute(f"SELECT count(*) FROM ({_OLD_GAMES})", bounds).fetchone()[0]
    return int(games + connection.execute(f"SELECT count(*) FROM ({_OLD_LOOSE})", bounds).fetchone()[0])


def _old_raw(connection: sqlite3.Connection, before_ms: int, dry: bool) -> int:
    if not _has_raw(connection):
        return 0
    if not dry:
        # First: whoever finds lines gone must know already that they may be.
        connection.execute(marks.RAISE_KNOWN, (before_ms, marks.RAW_SINCE))
    return _delete(connection, "raw", _OLD_RAW, {"before": before_ms}, dry)


def _old_entries(connection: sqlite3.Connection, bounds: Mapping[str, int], dry: bool) -> tuple[int, int, int]:
    """How many games, entries and raw blocks went."""
    games = {str(game): int(last) for game, last in connection.execute(_OLD_GAMES, bounds)}
    last = connection.execute(f"SELECT max(seq) FROM ({_OLD_LOOSE})", bounds).fetchone()[0] or 0
    if not dry and (games or last):
        connection.execute(marks.RAISE, (marks.PRUNED, max(last, *games.values())))
        _unmark(connection, _marks_of(connection, games))
    entries = blocks = 0
    for game in games:
        entries += _delete(connection, "event", "SELECT seq FROM event WHERE subject = :game", {"game": game}, dry)
        if _has_raw(connection):
            blocks += _delete(connection, "raw", "SELECT id FROM raw WHERE subject = :game", {"game": game}, dry)
    return len(games), entries + _delete(connection, "event", _OLD_LOOSE, bounds, dry), blocks


def _marks_of(connection: sqlite3.Connection, games: Container[str]) -> list[str]:
    """What is remembered of games beside their entries."""
    names = [str(name) for (name,) in connection.execute("SELECT name FROM cursor")]
    return [name for name in names if name.startswith(_OF_A_GAME) and name.rpartition(" ")[2] in games]


def _unmark(connection: sqlite3.Connection, names: Sequence[str]) -> None:
    for begin in range(0, len(names), AT_ONCE):
        some = names[begin : begin + AT_ONCE]
        connection.execute(f"DELETE FROM cursor WHERE name IN ({', '.join('?' * len(some))})", some)
        time.sleep(PAUSE_S)


def _has_raw(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'raw'").fetchone()[0])


def _delete(connection: sqlite3.Connection, table: str, rows: str, values: Mapping[str, object], dry: bool) -> int:
    """How many rows went. The names are this module's own, never anybody's input."""
    if dry:
        return int(connection.execute(f"SELECT count(*) FROM ({rows})", values).fetchone()[0])
    key = "id" if table == "raw" else "seq"
    gone = 0
    while True:
        done = connection.execute(f"DELETE FROM {table} WHERE {key} IN ({rows} LIMIT {AT_ONCE})", values).rowcount
        gone += done
        if done < AT_ONCE:
            return gone
        time.sleep(PAUSE_S)
