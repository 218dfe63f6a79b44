"""Verdicts as tables: for people (rich) and for spreadsheets (CSV)."""

from collections.abc import Iterable, Sequence

import chess
from rich import box
from rich.table import Table

from bridge.records.one_line import reason_words
from bridge.records.verdict_json import platform_result, row_object, with_san
from bridge.rules.clock_text import clock_text
from bridge.rules.verdict import Verdict

CSV_COLUMNS = (
    "id", "site", "white", "black", "pool", "clock_source", "precision_ms", "certain", "final", "result", "reason",
    "flag_side", "flag_cause", "flag_forced", "ended_at_ply", "white_ms", "black_ms", "platform_result",
    "platform_status", "platform_plies", "anomalies",
)  # fmt: skip
CSV_LEDGER_COLUMNS = (
    "id", "ply", "side", "uci", "san", "think_ms", "captured", "gain_ms", "loss_ms", "toll_ms", "fee_ms", "chip_ms",
    "increment_ms", "guarded", "white_ms", "black_ms",
)  # fmt: skip


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """One row a game."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("game", "white", "black", "result", "how"):
        table.add_column(name, overflow="fold")
    for name in ("ply", "white clock", "black clock"):
        table.add_column(name, justify="right")
    for name in ("pool", "certain", "platform"):
        table.add_column(name)
    for verdict in verdicts:
        table.add_row(*_cells(verdict))
    return table


def _cells(verdict: Verdict) -> Sequence[str]:
    setup, outcome, platform = verdict.setup, verdict.outcome, verdict.platform
    return (
        setup.game_id,
        setup.white,
        setup.black,
        outcome.result,
        reason_words(outcome),
        str(verdict.plies),
        clock_text(verdict.white_ms),
        clock_text(verdict.black_ms),
        setup.rules.pool or "custom",
        "yes" if verdict.certain else "no",
        f"{platform_result(platform)} {platform.status}" if platform else "",
    )


def csv_row(verdict: Verdict) -> list[object]:
    """One game, in `CSV_COLUMNS`; what does not apply is empty."""
    setup, outcome, platform = verdict.setup, verdict.outcome, verdict.platform
    flag = outcome.flag
    return [
        setup.game_id, setup.site, setup.white, setup.black, setup.rules.pool, setup.source, setup.precision_ms,
        _word(verdict.certain), _word(verdict.final), outcome.result, outcome.reason,
        chess.COLOR_NAMES[flag.side] if flag else None, flag.cause if flag else None,
        _word(flag.forced) if flag else None, verdict.plies, verdict.white_ms, verdict.black_ms,
        platform_result(platform) if platform else None, platform.status if platform else None,
        verdict.platform_plies, " ".join(dict.fromkeys(note.kind for note in verdict.anomalies)),
    ]  # fmt: skip


def csv_ledger_rows(verdict: Verdict) -> Iterable[list[object]]:
    """One ply a row, in `CSV_LEDGER_COLUMNS`."""
    for row, san in with_san(verdict):
        given = row_object(row, san) | {"id": verdict.setup.game_id, "guarded": _word(row.effects.guarded)}
        captured = row.effects.captured
        given |= {
            "captured": chess.piece_symbol(captured) if captured is not None else None,
            "gain_ms": row.effects.gain_ms,
            "loss_ms": row.effects.loss_ms,
        }
        yield [given[name] for name in CSV_LEDGER_COLUMNS]


def _word(value: bool) -> str:
    return "true" if value else "false"
