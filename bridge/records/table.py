"""Verdicts as tables: for people (rich) and for spreadsheets (CSV)."""

from collections.abc import Iterable, Sequence

import chess
from rich.table import Table

from bridge.records.one_line import reason_words
from bridge.records.verdict_json import platform_result, row_object, with_san
from bridge.rules.clock_text import clock_text
from bridge.rules.verdict import Verdict

CSV_COLUMNS = (
    "id", "site", "white", "black", "pool", "clock_source", "precision_ms", "certain", "final", "result", "reason",
    "flag_side", "flag_cause", "flag_forced", "ended_at_ply", "white_ms", "black_ms", "platform_result",
    "platform_status", "platform_plies", "anomalies", "scored",
)  # fmt: skip
CSV_LEDGER_COLUMNS = (
    "id", "ply", "side", "uci", "san", "think_ms", "captured", "gain_ms", "loss_ms", "toll_ms", "fee_ms", "chip_ms",
    "increment_ms", "guarded", "white_ms", "black_ms",
)  # fmt: skip


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """One row a game, narrow enough for 80 columns; the pool stands below where all share one."""
    pools = {verdict.setup.rules.pool or "custom dials" for verdict in verdicts}
    shared = len(pools) == 1
    count = f"{len(verdicts)} verdict{'s' if len(verdicts) > 1 else ''}"
    caption = f"{count} by the rules of {pools.pop()}" if shared else None
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, caption=caption, caption_justify="left")
    table.add_column("game", overflow="fold")
    table.add_column("players", overflow="fold")
    table.add_column("result", no_wrap=True)
    table.add_column("how", overflow="fold", min_width=16)
    table.add_column("clocks", justify="right", no_wrap=True)
    table.add_column("platform", no_wrap=True)
    for verdict in verdicts:
        table.add_row(*_cells(verdict, with_pool=not shared))
    return table


def _cells(verdict: Verdict, *, with_pool: bool) -> Sequence[str]:
    setup, outcome, platform = verdict.setup, verdict.outcome, verdict.platform
    how = [f"{reason_words(outcome)} at ply {verdict.plies}"]
    how += [setup.rules.pool or "custom dials"] if with_pool else []
    how += [] if setup.rules.scored else ["not scored"]
    how += [] if verdict.certain else ["uncertain"]
    return (
        setup.game_id,
        f"{setup.white or '?'} v {setup.black or '?'}",
        outcome.result,
        ", ".join(how),
        f"{clock_text(verdict.white_ms)} v {clock_text(verdict.black_ms)}",
        platform_result(platform) if platform else "",
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
        _word(setup.rules.scored),
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
