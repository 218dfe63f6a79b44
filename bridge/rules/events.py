"""The frozen facts a game is made of. Replaying them gives the same ledger."""

from dataclasses import dataclass
from typing import TypeAlias

import chess

from bridge.rules.pools import Ruleset
from bridge.rules.snapshot import Anomaly, Setup


@dataclass(frozen=True, slots=True)
class Started:
    """First event of every game."""

    setup: Setup


@dataclass(frozen=True, slots=True)
class Agreed:
    """Other rules than those it started by, from the first ply on; only before the second one and before any end."""

    rules: Ruleset


@dataclass(frozen=True, slots=True)
class Moved:
    """One ply. `think_ms` is None where it is not known (R14); `reading_ms` is the mover's platform clock after it,
    `credited_ms` the platform increment that reading holds; `at_ms` when we read it, on a steady clock."""

    uci: str
    think_ms: int | None
    reading_ms: int | None = None
    credited_ms: int = 0
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The platform's game is `plies` long again (R5). What was not given back stays spent; the clocks after it."""

    plies: int
    white_spent_ms: int = 0
    black_spent_ms: int = 0
    white_ms: int | None = None
    black_ms: int | None = None
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TimeGiven:
    """Platform time from the opponent or the server; no KiriChess time (R4)."""

    side: chess.Color
    given_ms: int
    seen: bool = True
    """False where only a negative difference betrayed it: then it was at least that much."""


@dataclass(frozen=True, slots=True)
class Resynced:
    """A platform clock jumped without a move (R13)."""

    side: chess.Color
    reading_ms: int


@dataclass(frozen=True, slots=True)
class Berserked:
    """A side gave up platform time and increment before its first move (R3)."""

    side: chess.Color
    reading_ms: int | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The platform's game, or the record, is over. `pending_ms`: what the side to move had thought by then."""

    status: str
    winner: chess.Color | None = None
    pending_ms: int = 0


@dataclass(frozen=True, slots=True)
class Noted:
    """An anomaly that the source itself brings along."""

    anomaly: Anomaly


Event: TypeAlias = Started | Agreed | Moved | TakenBack | TimeGiven | Resynced | Berserked | Ended | Noted
