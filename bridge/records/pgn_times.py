"""What a PGN of ours tells of time beside the platform's clocks, so that our reader finds the same thinking times."""

from collections.abc import Mapping, Sequence

import chess

from bridge.rules.diff import diff
from bridge.rules.events import Moved
from bridge.rules.ledger import Ledger
from bridge.rules.position import start_board
from bridge.rules.snapshot import RECORD_END, Snapshot
from bridge.rules.verdict import Verdict


def untold_ms(verdict: Verdict) -> Mapping[int, int]:
    """By ply: the thinking times that our reader would not find in the clocks alone.

    A time that is told sets the clock right for what follows, so what is found after it is looked at again.
    """
    thinks = _thinking(verdict)
    untold: dict[int, int] = {}
    while True:
        events = diff(Ledger(verdict.setup), _read_back(verdict, untold))
        found = dict(enumerate((event.think_ms for event in events if isinstance(event, Moved)), 1))
        wrong = {ply: ms for ply, ms in thinks.items() if ms is not None and found[ply] != ms}
        if not wrong.keys() - untold.keys():
            return untold
        untold |= wrong


def spent_ms(verdict: Verdict) -> Mapping[int, Sequence[int]]:
    """By ply and colour: time spent on moves that were taken back after it (R5); 0: before the first."""
    spent: dict[int, list[int]] = {}
    ply = 0
    for row in verdict.rows:
        if row.ply is None:
            spent.setdefault(ply, [0, 0])[row.side] += row.think_ms or 0
        else:
            ply = row.ply
    return spent


def final_think_ms(verdict: Verdict) -> int | None:
    """What the side to move had thought at the end, since its last row; None where nothing is known of time."""
    if verdict.setup.source == "none":
        return None
    end = verdict.platform
    if end is None or (_fell_thinking(verdict) and verdict.plies == len(verdict.moves)):
        return _charged_ms(verdict, _side_at(verdict, len(verdict.moves) + 1))
    return end.pending_ms


def _read_back(verdict: Verdict, untold: Mapping[int, int]) -> Snapshot:
    end, plies = verdict.platform, range(1, len(verdict.moves) + 1)
    clocks_ms = [None if reading is None else max(0, reading) for reading in verdict.readings_ms]
    return Snapshot(
        verdict.moves,
        RECORD_END if end is None else end.status,
        None if end is None else end.winner,
        clocks_ms=clocks_ms if any(reading is not None for reading in clocks_ms) else None,
        think_ms=[untold.get(ply) for ply in plies] if untold else None,
        final_think_ms=final_think_ms(verdict) or 0,
        berserk=verdict.berserk,
        spent_ms=spent_ms(verdict),
    )


def _side_at(verdict: Verdict, ply: int) -> chess.Color:
    turn = start_board(verdict.start_fen).turn
    return turn if ply % 2 else not turn


def _thinking(verdict: Verdict) -> Mapping[int, int | None]:
    """By ply."""
    thinks = {row.ply: row.think_ms for row in verdict.rows if row.ply is not None}
    next_ply = verdict.plies + 1
    if _fell_thinking(verdict) and next_ply <= len(verdict.moves):
        # The flag fell before a move that was made all the same: it does not count, its thinking time does.
        thinks[next_ply] = _charged_ms(verdict, _side_at(verdict, next_ply))
    return thinks


def _fell_thinking(verdict: Verdict) -> bool:
    return verdict.outcome.flag is not None and verdict.outcome.flag.cause == "thinking"


def _charged_ms(verdict: Verdict, side: chess.Color) -> int:
    """What was taken off a clock after the last row."""
    dials = verdict.setup.rules.dials
    halved = dials.berserk == "halve" and side in verdict.berserk
    before_ms = dials.prices.base_ms // (2 if halved else 1)
    if verdict.rows:
        before_ms = verdict.rows[-1].white_ms if side else verdict.rows[-1].black_ms
    return max(0, before_ms - (verdict.white_ms if side else verdict.black_ms))
