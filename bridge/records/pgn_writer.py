"""A judged game → PGN, with the platform's clock and the KiriChess clock after every ply (interfaces, "Verdict")."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import chess
import chess.pgn

from bridge.records.clock_comments import CLK_PRECISION_MS, TENTHS_PRECISION_MS
from bridge.records.own_tags import first_moves_tag
from bridge.records.verdict_json import platform_result
from bridge.rules.diff import diff
from bridge.rules.events import Ended, Moved
from bridge.rules.ledger import Ledger
from bridge.rules.position import read_move, start_board
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.rules.verdict import Verdict

UNKNOWN_DATE = "????.??.??"
_TERMINATIONS = {
    **dict.fromkeys(("mate", "resign", "stalemate", "draw", "insufficientMaterialClaim", "variantEnd"), "Normal"),
    "outoftime": "Time forfeit",
    **dict.fromkeys(("timeout", "noStart", "aborted"), "Abandoned"),
    "cheat": "Rules infraction",
}
"""Lichess status → the Termination it writes; others are `Unterminated`."""


def to_pgn(verdict: Verdict, *, event: str = "KiriChess game", date: str = UNKNOWN_DATE) -> str:
    """The whole game as the platform has it, plies after the KiriChess end included; our reader gives it back.

    `[%clk]` is the platform's clock where it is known; `[%kclk N]` the mover's KiriChess clock after a counted ply, in
    milliseconds; `[%kthink N]` its thinking time, only where the platform's clock would tell another one (time given,
    an increment that a takeback left); time spent on moves that were taken back is in it. `date` is `YYYY.MM.DD`.
    """
    game = chess.pgn.Game()
    _set_position(game, verdict)
    for name, value in _tags(verdict, event, date).items():
        game.headers[name] = _tag_text(value)
    board = start_board(verdict.start_fen)
    untold_ms = _untold(verdict)
    kiri_ms = {row.ply: row.white_ms if row.side else row.black_ms for row in verdict.rows if row.ply is not None}
    node: chess.pgn.GameNode = game
    for ply, (uci, reading_ms) in enumerate(zip(verdict.moves, verdict.readings_ms, strict=True), 1):
        move = read_move(board, uci)
        board.push(move)
        node = node.add_main_variation(move)
        comments = [f"[%clk {clk(reading_ms)}]"] if reading_ms is not None else []
        comments += [f"[%kthink {untold_ms[ply]}]"] if ply in untold_ms else []
        comments += [f"[%kclk {kiri_ms[ply]}]"] if ply in kiri_ms else []
        node.comment = " ".join(comments)
    return game.accept(chess.pgn.StringExporter(columns=100)) + "\n"


def _tag_text(value: str) -> str:
    """On one line, quotes and backslashes escaped (PGN standard 7), which python-chess leaves to its callers."""
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def clk(milliseconds: int) -> str:
    """A platform clock as `h:mm:ss`, with the fraction it has."""
    seconds, fraction = divmod(max(0, milliseconds), 1000)
    shown = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{shown}.{fraction:03}".rstrip("0") if fraction else shown


def _set_position(game: chess.pgn.Game, verdict: Verdict) -> None:
    board = start_board(verdict.start_fen)
    board.chess960 = verdict.chess960
    game.setup(board)
    if verdict.chess960:
        game.headers["Variant"] = "Chess960"
    elif verdict.start_fen is not None:
        game.headers["Variant"] = "From Position"


def _tags(verdict: Verdict, event: str, date: str) -> dict[str, str]:
    setup, outcome = verdict.setup, verdict.outcome
    tags = {
        "Event": event,
        "Site": setup.site or "?",
        "Date": date,
        "White": setup.white or "?",
        "Black": setup.black or "?",
        "Result": platform_result(verdict.platform) if verdict.platform else "*",
        "GameId": setup.game_id,
        "TimeControl": _time_control(setup.time_control),
        "Termination": _termination(verdict.platform),
        "KiriPool": setup.rules.pool or "",
        "KiriRules": json.dumps(setup.rules.dials.to_mapping(), separators=(",", ":")),
        "KiriFirstMoves": first_moves_tag(setup),
        "KiriFinalThinkMs": _final_think(verdict),
        "KiriResult": outcome.result,
        "KiriReason": outcome.reason,
    }
    return {name: value for name, value in tags.items() if value}


def _final_think(verdict: Verdict) -> str:
    """What the side to move had thought at the end, beyond its last ply; empty where the clocks tell or do not know."""
    end = verdict.platform
    if end is None or not any(reading is not None for reading in verdict.readings_ms):
        return ""
    _, spent_ms = _thinking(verdict)
    board = start_board(verdict.start_fen)
    to_move = board.turn if len(verdict.moves) % 2 == 0 else not board.turn
    total_ms = end.pending_ms + spent_ms[to_move]
    return str(total_ms) if total_ms else ""


def _thinking(verdict: Verdict) -> tuple[Mapping[int, int | None], Sequence[int]]:
    """By ply: thinking time, with what was spent on moves taken back before it; by colour: what no ply follows."""
    thinks: dict[int, int | None] = {}
    spent_ms = [0, 0]
    for row in verdict.rows:
        if row.ply is None:
            spent_ms[row.side] += row.think_ms or 0
        else:
            thinks[row.ply] = None if row.think_ms is None else row.think_ms + spent_ms[row.side]
            spent_ms[row.side] = 0
    return thinks, spent_ms


def _untold(verdict: Verdict) -> Mapping[int, int]:
    """By ply: the thinking times that our reader would not find in the clocks alone."""
    if not any(reading is not None for reading in verdict.readings_ms):
        return {}
    end = verdict.platform or Ended("started")
    told = Snapshot(verdict.moves, end.status, end.winner, clocks_ms=verdict.readings_ms, final_think_ms=end.pending_ms)
    thinks, _ = _thinking(verdict)
    # Our reader takes the first moves as free within the error of what it reads.
    fine = any(reading % 1000 for reading in verdict.readings_ms if reading is not None)
    setup = replace(verdict.setup, precision_ms=TENTHS_PRECISION_MS if fine else CLK_PRECISION_MS)
    moved = (event for event in diff(Ledger(setup), told) if isinstance(event, Moved))
    return {
        ply: think_ms
        for ply, event in enumerate(moved, 1)
        if (think_ms := thinks.get(ply)) is not None and event.think_ms not in (None, think_ms)
    }


def _time_control(control: TimeControl | None) -> str:
    return f"{_seconds(control.initial_ms)}+{_seconds(control.increment_ms)}" if control is not None else "-"


def _seconds(milliseconds: int) -> str:
    return f"{(Decimal(milliseconds) / 1000).normalize():f}"


def _termination(end: Ended | None) -> str:
    return _TERMINATIONS.get(end.status, "Unterminated") if end is not None else "Unterminated"
