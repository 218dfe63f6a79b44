"""The verdict: what a ledger says of its game, as one frozen value."""

from dataclasses import dataclass

import chess

from bridge.rules.diff import diff
from bridge.rules.endings import Outcome
from bridge.rules.events import Ended
from bridge.rules.ledger import Ledger, Row
from bridge.rules.snapshot import RUNNING, Anomaly, Setup, Snapshot


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that is known about a game; `final` is False while a finer source or more moves may change it.

    `plies`: the last counted ply; `platform_plies`: those played on the platform (R8), all of them in `moves` (UCI),
    with the mover's platform clock after each in `readings_ms`. `platform`: its own ending; `berserk`: who gave up its
    increment (R3).
    """

    setup: Setup
    outcome: Outcome
    certain: bool
    final: bool
    plies: int
    platform_plies: int
    moves: tuple[str, ...]
    readings_ms: tuple[int | None, ...]
    white_ms: int
    black_ms: int
    anomalies: tuple[Anomaly, ...]
    platform: Ended | None
    rows: tuple[Row, ...]
    start_fen: str | None
    chess960: bool
    berserk: frozenset[chess.Color] = frozenset()


def verdict(ledger: Ledger, *, final: bool) -> Verdict:
    """Judge a ledger as it stands; without any ending the game is `unfinished`."""
    return Verdict(
        setup=ledger.setup,
        outcome=ledger.outcome or Outcome("unfinished"),
        certain=ledger.certain,
        final=final,
        plies=ledger.plies,
        platform_plies=len(ledger.moves),
        moves=tuple(ledger.moves),
        readings_ms=tuple(ledger.readings_ms),
        white_ms=ledger.white_ms,
        black_ms=ledger.black_ms,
        anomalies=tuple(ledger.anomalies),
        platform=ledger.platform,
        rows=tuple(ledger.rows),
        start_fen=ledger.setup.start_fen,
        chess960=ledger.chess960,
        berserk=frozenset(ledger.berserk),
    )


def judge(setup: Setup, *snapshots: Snapshot) -> Verdict:
    """The whole line in one call: snapshots of a game in, its verdict out.

    Raises:
        RecordError: bad FEN or an illegal move.
    """
    ledger = Ledger(setup)
    for snapshot in snapshots:
        for event in diff(ledger, snapshot):
            ledger.apply(event)
    return verdict(ledger, final=bool(snapshots) and snapshots[-1].status not in RUNNING)
