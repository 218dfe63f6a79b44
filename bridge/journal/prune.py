"""Let old things go, beside the running program: in transactions so short that no commit waits long for one.

Numbers stay what they are: an entry keeps its own, and the number of one that went is never given again.
"""

import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.journal.reader import writing

AT_ONCE = 200
PAUSE_S = 0.01
"""Between transactions, so that whoever waits for the file gets it."""

_OLD_RAW = "SELECT id FROM raw WHERE until_ms < :before"
# A game that is judged, with nothing said of it since, and every sink has seen it all.
_OLD_GAMES = """
    SELECT subject FROM event WHERE subject != ''
    GROUP BY subject
    HAVING max(time_ms) < :before AND max(seq) <= :seen
       AND (max(type = 'kirichess.verdict.final') OR max(type LIKE 'kirichess.game.%') = 0)
"""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went, or would go; `held_by`: the sink that is furthest behind, if entries stay for its sake."""

    games: int
    entries: int
    raw_blocks: int
    held_by: str = ""


def prune(file: Path, *, before_ms: int, raw_before_ms: int, dry: bool = False) -> Pruned:
    """Delete games that were judged and silent since `before_ms`, and raw lines older than `raw_before_ms`.

    Entries of running games stay, and those that a sink has still to deliver. Raises JournalError, UsageError.
    """
    with writing(file) as connection:
        name, seen = _furthest_behind(connection)
        bounds = {"before": before_ms, "seen": seen}
        games = [str(game) for (game,) in connection.execute(_OLD_GAMES, bounds)]
        every = len(connection.execute(_OLD_GAMES, {**bounds, "seen": 2**62}).fetchall())
        blocks = _delete(connection, "raw", _OLD_RAW, {"before": raw_before_ms}, dry) if _has_raw(connection) else 0
        entries = 0
        for game in games:
            entries += _delete(connection, "event", "SELECT seq FROM event WHERE subject = :game", {"game": game}, dry)
            if _has_raw(connection):
                blocks += _delete(connection, "raw", "SELECT id FROM raw WHERE subject = :game", {"game": game}, dry)
        loose = "SELECT seq FROM event WHERE subject = '' AND time_ms < :before AND seq <= :seen"
        entries += _delete(connection, "event", loose, bounds, dry)
        return Pruned(len(games), entries, blocks, name if every > len(games) else "")


def _has_raw(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'raw'").fetchone()[0])


def _furthest_behind(connection: sqlite3.Connection) -> tuple[str, int]:
    """A sink is known by a second cursor, `NAME known`, and its own may still be 0 and not stored."""
    query = """
        SELECT substr(mark.name, 1, length(mark.name) - 6), coalesce(own.seq, 0) FROM cursor AS mark
        LEFT JOIN cursor AS own ON own.name = substr(mark.name, 1, length(mark.name) - 6)
        WHERE mark.name LIKE '% known' ORDER BY 2 LIMIT 1
    """
    found = connection.execute(query).fetchone()
    return (str(found[0]), int(found[1])) if found is not None else ("", 2**62)


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
