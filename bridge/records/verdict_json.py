"""Verdict → `kirichess.verdict/1` (interfaces, "Verdict")."""

from collections.abc import Iterator, Sequence

import chess

from bridge.rules.endings import Flag
from bridge.rules.events import Ended
from bridge.rules.ledger import Row
from bridge.rules.position import read_legal, start_board
from bridge.rules.verdict import Verdict

SCHEMA = "kirichess.verdict/1"
_DRAWN = frozenset({"draw", "stalemate", "insufficientMaterialClaim", "outoftime", "timeout"})
"""Statuses that mean a draw where the platform names no winner; with all others there is no result."""


def verdict_object(verdict: Verdict, *, ledger: bool = False, sans: Sequence[str] | None = None) -> dict[str, object]:
    """The verdict as JSON values, keys in the documented order; the ledger's rows only where asked for.

    `sans`: the SAN of every ply, where it is known. `scored` is false where plain chess was played, else left out.
    """
    setup, outcome = verdict.setup, verdict.outcome
    out: dict[str, object] = {
        "schema": SCHEMA,
        "id": setup.game_id,
        "site": setup.site,
        "white": setup.white,
        "black": setup.black,
        "pool": setup.rules.pool,
        "rules": setup.rules.dials.to_mapping(),
        "clock_source": setup.source,
        "precision_ms": setup.precision_ms,
        "certain": verdict.certain,
        "final": verdict.final,
        "result": outcome.result,
        "reason": outcome.reason,
        "flag": flag_object(outcome.flag),
        "ended_at_ply": verdict.plies,
        "white_ms": verdict.white_ms,
        "black_ms": verdict.black_ms,
        "anomalies": [{"kind": note.kind, "ply": note.ply, "note": note.note} for note in verdict.anomalies],
        "platform": platform_object(verdict.platform),
        "platform_plies": verdict.platform_plies,
    }
    if not setup.rules.scored:
        out["scored"] = False
    if ledger:
        out["ledger"] = [row_object(row, san) for row, san in with_san(verdict, sans)]
    return out


def flag_object(flag: Flag | None) -> dict[str, object] | None:
    """The flag that decided the game."""
    if flag is None:
        return None
    return {"side": chess.COLOR_NAMES[flag.side], "cause": flag.cause, "forced": flag.forced}


def platform_object(end: Ended | None) -> dict[str, object] | None:
    """The platform's own ending; None where nothing is known of it."""
    return None if end is None else {"result": platform_result(end), "status": end.status}


def platform_result(end: Ended) -> str:
    """The platform's ending as a PGN result."""
    if end.winner is not None:
        return "1-0" if end.winner else "0-1"
    return "1/2-1/2" if end.status in _DRAWN else "*"


def with_san(verdict: Verdict, sans: Sequence[str] | None = None) -> Iterator[tuple[Row, str | None]]:
    """The ledger's rows with the SAN of their moves (None: time spent on moves that were taken back, R5).

    `sans`: those of every ply, where they are known.
    """
    board = start_board(verdict.start_fen)
    for row in verdict.rows:
        if row.uci is None or row.ply is None:
            yield row, None
        elif sans is not None:
            yield row, sans[row.ply - 1]
        else:
            yield row, board.san_and_push(read_legal(board, row.uci))


def row_object(row: Row, san: str | None) -> dict[str, object]:
    """One ledger row as JSON values."""
    return {
        "ply": row.ply,
        "side": chess.COLOR_NAMES[row.side],
        "uci": row.uci,
        "san": san,
        "think_ms": row.think_ms,
        **effects_object(row),
        "white_ms": row.white_ms,
        "black_ms": row.black_ms,
    }


def effects_object(row: Row) -> dict[str, object]:
    """What a row's ply did to the clocks, as JSON values."""
    effects = row.effects
    capture = None
    if effects.captured is not None:
        piece = chess.piece_symbol(effects.captured)
        capture = {"piece": piece, "gain_ms": effects.gain_ms, "loss_ms": effects.loss_ms}
    return {
        "capture": capture,
        "toll_ms": effects.toll_ms,
        "fee_ms": effects.fee_ms,
        "chip_ms": effects.chip_ms,
        "increment_ms": row.increment_ms,
        "guarded": effects.guarded,
    }
