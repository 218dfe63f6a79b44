"""A game as its page shows it, ply by ply: a fold of the journal's entries about it."""

from collections.abc import Iterable, Mapping

import chess

from bridge import event_types
from bridge.interfaces import Entry, Journal
from bridge.rules.bills import Bill, conversion_bill
from bridge.verdicts import told_verdicts

_ABOUT = ("white", "black", "white_title", "black_title", "url", "seat", "delayed", "time_control", "rated")
_CLOCKS = ("white_ms", "black_ms", "platform_white_ms", "platform_black_ms")
_EFFECTS = ("think_ms", "capture", "toll_ms", "fee_ms", "chip_ms", "increment_ms", "guarded", "white_ms", "black_ms")
_PLY = ("ply", "side", "uci", "san", "fen", "counted", *_EFFECTS, "platform_white_ms", "platform_black_ms")
_FEW_MEN = 4
"""Priced endings have no more men than this."""

Json = dict[str, object]


async def game_entries(journal: Journal, game_id: str) -> list[Entry]:
    """Everything the journal holds about a game, in order. Raises JournalError."""
    entries: list[Entry] = []
    while page := await journal.read(subject=game_id, after=entries[-1].seq if entries else 0):
        entries += page
    return entries


def sheet(entries: Iterable[Entry]) -> Json | None:
    """The game as JSON values; None where its start is not among the entries.

    `plies`: as in the events `kirichess.game.ply`. `clocks`: both clocks as the newest entry tells them, `at_ms` the
    wall clock of the running turn's start. `over`: the platform's game has ended; only then are plies priced (`bill`).
    """
    entries = list(entries)
    start = next((entry for entry in entries if entry.type == event_types.GAME_STARTED), None)
    if start is None:
        return None
    out: Json = {"id": start.subject, "started_ms": start.time_ms, **_picked(start.data, _ABOUT)}
    out |= {**_rules(start.data), "start": _picked(start.data, ("fen", *_CLOCKS))}
    out |= {"clocks": _clocks({}, start), "flag": "", "over": False, "plies": []}
    plies: list[Json] = []
    for entry in entries:
        _take(out, plies, entry)
    told = told_verdicts(entries)
    if told:
        _judged(plies, told[-1].verdict)
        out["clocks"] = {**_table(out["clocks"]), **_known(told[-1].verdict, ("white_ms", "black_ms"))}
    if out["over"]:
        for ply in plies:
            ply["bill"] = _bill(ply)
    out["plies"] = plies
    out["judged"] = bool(told)
    out["seq"] = entries[-1].seq
    return out


def _take(out: Json, plies: list[Json], entry: Entry) -> None:
    data = entry.data
    match entry.type:
        case event_types.GAME_RULES:
            base_ms = data.get("base_ms")
            out |= {"clocks": _clocks(out["clocks"], entry), **_rules(data)}
            out["start"] = {**_table(out["start"]), "white_ms": base_ms, "black_ms": base_ms}
            if plies:
                plies[-1] |= _picked(data, _EFFECTS)
        case event_types.GAME_PLY:
            plies.append(_picked(data, _PLY))
            out |= {"clocks": _clocks(out["clocks"], entry), "pool": data.get("pool"), "flag": ""}
        case event_types.GAME_TAKEBACK:
            left = data.get("plies")
            del plies[left if isinstance(left, int) else len(plies) :]
            out |= {"clocks": _clocks(out["clocks"], entry), "flag": ""}
        case event_types.FLAG_PROVISIONAL:
            out["flag"] = data.get("side")
        case event_types.FLAG_WITHDRAWN:
            out["flag"] = ""
        case event_types.GAME_FINISHED:
            out |= {"clocks": _clocks(out["clocks"], entry), "over": True, "flag": ""}
        case event_types.VERDICT_FINAL:
            out |= {"over": True, "flag": ""}


def _rules(data: Mapping[str, object]) -> Json:
    return {"pool": data.get("pool"), "scored": data.get("scored") is not False}


def _judged(plies: list[Json], verdict: Mapping[str, object]) -> None:
    """The verdict's own ledger outranks what was told live: it may be made from a finer record."""
    rows = verdict.get("ledger")
    by_ply = {row.get("ply"): row for row in rows if isinstance(row, dict)} if isinstance(rows, list) else {}
    last = verdict.get("ended_at_ply")
    for ply in plies:
        number = ply["ply"]
        ply |= _picked(by_ply.get(number, {}), _EFFECTS) if number in by_ply else {}
        if isinstance(last, int) and isinstance(number, int):
            ply["counted"] = number <= last


def _bill(ply: Json) -> Json | None:
    """What winning costs from here, for the side that can (rules §7)."""
    fen = ply.get("fen")
    if not isinstance(fen, str) or sum(map(str.isalpha, fen.split(" ")[0])) > _FEW_MEN:
        return None
    board = chess.Board(fen)
    for side in chess.COLORS:
        bill = conversion_bill(board, side)
        clock_ms = ply.get(f"{chess.COLOR_NAMES[side]}_ms")
        if bill is not None and isinstance(clock_ms, int):
            return _priced(bill, side, clock_ms)
    return None


def _priced(bill: Bill, side: chess.Color, clock_ms: int) -> Json:
    return {
        "side": chess.COLOR_NAMES[side],
        "ending": bill.ending,
        "bill_ms": bill.seconds * 1000,
        "needed_ms": (bill.seconds - bill.last_toll_s) * 1000,
        "moves": bill.moves,
        "clock_ms": clock_ms,
        "payable": bill.can_be_paid(clock_ms),
    }


def _clocks(known: object, entry: Entry) -> Json:
    return {**_table(known), **_known(entry.data, _CLOCKS), "at_ms": entry.time_ms}


def _known(data: Mapping[str, object], names: Iterable[str]) -> Json:
    return {name: value for name in names if (value := data.get(name)) is not None}


def _picked(data: Mapping[str, object], names: Iterable[str]) -> Json:
    return {name: data.get(name) for name in names}


def _table(value: object) -> Json:
    return dict(value) if isinstance(value, Mapping) else {}
