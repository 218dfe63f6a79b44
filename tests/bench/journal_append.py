"""What an append costs against bare sqlite3 in the same run: same file system, same settings, same rows.

Usage: python tests/bench/journal_append.py [ROUNDS]

"one at a time" is one task that waits for each append; "200 games" are as many tasks at once, whose appends share
transactions. "bare" is one insert and one commit for each event on the driver itself, with nothing around it: for the
second figure it cannot share. Each append brings one platform line along, as in play.
"""

import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bridge.interfaces import Draft
from bridge.journal import SqlJournal

EVENTS = 1000
GAMES = 200
LINE = json.dumps({"type": "gameState", "moves": "e2e4 e7e5 " * 40, "wtime": 123450, "btime": 99870}).encode()
DATA = {
    "ply": 41,
    "san": "Nf3",
    "white_ms": 123450,
    "black_ms": 99870,
    "fen": "r1bqkb1r/pppp1ppp/2n2n2/4p3/4P3/2N2N2/PPPP1PPP/R1BQKB1R w KQkq - 4 4",
    "event": {"event": "moved", "uci": "g1f3", "think_ms": 1200, "reading_ms": 123450, "credited_ms": 0},
}


def bare(folder: Path) -> float:
    """Microseconds an event."""
    base = sqlite3.connect(folder / "bare.db", isolation_level=None)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = NORMAL")
    base.execute(
        "CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, time_ms, type, subject, account, "
        "data, key TEXT UNIQUE)"
    )
    base.execute("CREATE INDEX event_by_subject ON event (subject, seq)")
    started = time.perf_counter()
    for number in range(EVENTS):
        base.execute("BEGIN IMMEDIATE")
        row = (f"id-{number}", number, "kirichess.game.ply", "game", "me", json.dumps(DATA), None)
        base.execute("INSERT INTO event VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
        base.execute("COMMIT")
    used = time.perf_counter() - started
    base.close()
    return used / EVENTS * 1e6


async def ours(folder: Path, tasks: int) -> float:
    """Microseconds an event."""

    async def play(journal: SqlJournal, game: str) -> None:
        for number in range(EVENTS // tasks):
            journal.keep(game, "bot:me", LINE, number)
            await journal.append([Draft("kirichess.game.ply", game, DATA, "me")])

    async with SqlJournal(f"sqlite:///{folder}/ours-{tasks}.db") as journal:
        started = time.perf_counter()
        await asyncio.gather(*(play(journal, f"game{number}") for number in range(tasks)))
        return (time.perf_counter() - started) / EVENTS * 1e6


def main(rounds: int) -> None:
    rows = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rows.append((bare(folder), asyncio.run(ours(folder, 1)), asyncio.run(ours(folder, GAMES))))
    for title, column in (("one at a time", 1), (f"{GAMES} games", 2)):
        ratios = sorted(row[column] / row[0] for row in rows)
        used = statistics.median(row[column] for row in rows)
        print(
            f"{title}: {used:.0f} us an event, bare {statistics.median(row[0] for row in rows):.0f} us; ratio "
            f"min {ratios[0]:.2f} median {statistics.median(ratios):.2f} max {ratios[-1]:.2f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
