"""The journal's games and entries as tables."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from bridge import event_types
from bridge.interfaces import Entry
from bridge.records.pool_told import pool_told
from bridge.rules.clock_text import clock_text

if TYPE_CHECKING:
    from rich.table import Table

    from bridge.journal.reader import JournalReader


def game_rows(reader: "JournalReader") -> list[dict[str, object]]:
    """One object a game, in the order in which they started."""
    plies = reader.plies()
    rows: dict[str, dict[str, object]] = {}
    types = [event_types.GAME_STARTED, event_types.GAME_RULES, event_types.GAME_FINISHED, *event_types.VERDICTS]
    for entry in reader.entries(types=types):
        if entry.type == event_types.GAME_STARTED:
            rows.setdefault(entry.subject, _started(entry, plies.get(entry.subject, 0)))
        elif (row := rows.get(entry.subject)) is not None:
            row.update(_rules(entry) if entry.type == event_types.GAME_RULES else _end(entry))
    return list(rows.values())


def _started(entry: Entry, plies: int) -> dict[str, object]:
    about = {name: entry.data.get(name) for name in ("white", "black", "url")} | _rules(entry)
    end = {"state": "running", "result": "*", "reason": None}
    return {"id": entry.subject, "started_ms": entry.time_ms, "account": entry.account, **about, "plies": plies, **end}


def _rules(entry: Entry) -> dict[str, object]:
    return {"pool": entry.data.get("pool"), "scored": entry.data.get("scored") is not False}


def _end(entry: Entry) -> dict[str, object]:
    verdict = entry.data.get("verdict")
    if not isinstance(verdict, Mapping):
        return {"state": "over"}
    state = "final" if verdict.get("final") is True else "provisional"
    return {"state": state, "result": verdict.get("result"), "reason": verdict.get("reason")}


def games_table(rows: Sequence[Mapping[str, object]]) -> "Table":
    """What `journal games` shows to people."""
    table = _table("game", "started", "white", "black", "pool", "plies", "result", "reason", "state")
    for row in rows:
        started = _date(int(str(row["started_ms"])))
        names = ("white", "black", "pool", "plies", "result", "reason", "state")
        shown = {**row, "pool": pool_told(row)}
        table.add_row(str(row["id"]), started, *(_text(shown[name]) for name in names))
    return table


def entries_table(entries: Sequence[Entry]) -> "Table":
    """What `journal show` shows to people."""
    table = _table("number", "time", "event", "ply", "move", "white", "black", "what")
    for entry in entries:
        data = entry.data
        table.add_row(
            str(entry.seq),
            _date(entry.time_ms),
            entry.type.removeprefix("kirichess."),
            _text(data.get("ply")),
            _text(data.get("san")),
            _clock(data.get("white_ms")),
            _clock(data.get("black_ms")),
            next((_text(data[name]) for name in ("text", "note", "cause", "reason", "status") if name in data), ""),
        )
    return table


def _table(*columns: str) -> "Table":
    from rich import box
    from rich.table import Table

    return Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)


def _date(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000).strftime("%Y-%m-%d %H:%M:%S")


def _clock(value: object) -> str:
    return clock_text(value) if isinstance(value, int) else ""


def _text(value: object) -> str:
    return "" if value is None else str(value)
