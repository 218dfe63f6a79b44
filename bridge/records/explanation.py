"""One game ply by ply: both clocks, the gap, each effect and its cause."""

import chess
from rich.table import Table

from bridge.records.one_line import one_line, seconds, signed
from bridge.records.verdict_json import platform_result, with_san
from bridge.rules.clock_text import clock_text
from bridge.rules.ledger import Row
from bridge.rules.position import read_move, start_board
from bridge.rules.verdict import Verdict


def plies_table(verdict: Verdict) -> Table:
    """The counted plies. The gap is White's clock minus Black's."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("ply", justify="right")
    table.add_column("move", no_wrap=True)
    for name in ("thinking", "white clock", "black clock", "gap"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("effects", overflow="fold")
    base = clock_text(verdict.setup.rules.dials.prices.base_ms)
    table.add_row("", "start", "", base, base, "+0", "")
    start = start_board(verdict.start_fen)
    for row, san in with_san(verdict):
        table.add_row(
            "" if row.ply is None else str(row.ply),
            _move(row, san, start),
            "unknown" if row.think_ms is None else seconds(row.think_ms),
            clock_text(row.white_ms),
            clock_text(row.black_ms),
            signed(row.white_ms - row.black_ms),
            effects_words(row),
        )
    return table


def _move(row: Row, san: str | None, start: chess.Board) -> str:
    if row.ply is None or san is None:
        return f"({chess.COLOR_NAMES[row.side]}, taken back)"
    number = start.fullmove_number + (row.ply - 1 + (start.turn == chess.BLACK)) // 2
    return f"{number}{'.' if row.side else '…'} {san}"


def effects_words(row: Row) -> str:
    """What the ply did to the clocks, layer by layer; `mover/opponent` where both change."""
    effects = row.effects
    if row.ply is None:
        return "time that a takeback did not give back"
    if effects.guarded:
        return "repetition guard: the position has occurred before, nothing is paid" + _increment(row)
    words = []
    if effects.captured is not None:
        piece = chess.piece_name(effects.captured)
        words.append(f"captures a {piece} {signed(effects.gain_ms)}/{signed(-effects.loss_ms)}")
    words.append(f"toll {signed(-effects.toll_ms)}")
    if effects.fee_ms:
        words.append(f"promotion fee {signed(-effects.fee_ms)}")
    if effects.chip_ms:
        words.append(f"check chip {signed(effects.chip_ms)}/{signed(-effects.chip_ms)}")
    return ", ".join(words) + _increment(row)


def _increment(row: Row) -> str:
    return f", increment {signed(row.increment_ms)}" if row.increment_ms else ""


def ending_lines(verdict: Verdict) -> list[str]:
    """How it ended, what was odd, and what was played after the end (R8)."""
    platform = verdict.platform
    lines = [one_line(verdict)]
    if platform is not None:
        lines.append(f"the platform says: {platform_result(platform)} ({platform.status})")
    if not verdict.certain:
        error = verdict.setup.precision_ms
        lines.append(f"not certain: {'no clocks' if error is None else f'a clock reading may be off by {error} ms'}")
    lines += [f"note at ply {note.ply}: {note.kind}: {note.note}" for note in verdict.anomalies]
    if verdict.platform_plies > verdict.plies:
        lines.append(f"played on the platform after the end, not counted: {_after_the_end(verdict)}")
    return lines


def _after_the_end(verdict: Verdict) -> str:
    board, words = start_board(verdict.start_fen), []
    for ply, uci in enumerate(verdict.moves, 1):
        move = read_move(board, uci)
        if ply > verdict.plies:
            words.append(board.san(move))
        board.push(move)
    return " ".join(words)
