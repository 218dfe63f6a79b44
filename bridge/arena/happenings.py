"""What a game can tell the world: the closed union that the referee answers with, and its refusal."""

import enum
from dataclasses import dataclass

import chess

from bridge.errors import BridgeError


class Status(enum.Enum):
    """Where a game stands: Lichess's number and name (Lichess API §3.1)."""

    STARTED = (20, "started")
    ABORTED = (25, "aborted")
    MATE = (30, "mate")
    RESIGN = (31, "resign")
    STALEMATE = (32, "stalemate")
    TIMEOUT = (33, "timeout")
    DRAW = (34, "draw")
    OUT_OF_TIME = (35, "outoftime")
    CHEAT = (36, "cheat")
    NO_START = (37, "noStart")
    UNKNOWN_FINISH = (38, "unknownFinish")
    INSUFFICIENT_MATERIAL_CLAIM = (39, "insufficientMaterialClaim")

    @property
    def number(self) -> int:
        return self.value[0]

    @property
    def key(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Moved:
    """A ply was added."""

    uci: str


@dataclass(frozen=True, slots=True)
class Undone:
    """Plies were taken back."""

    plies: int


@dataclass(frozen=True, slots=True)
class Changed:
    """The position stands, what surrounds it does not: an offer, a proposal, a clock."""


@dataclass(frozen=True, slots=True)
class Said:
    """The platform itself says something in the players' room."""

    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The game is over; no winner: drawn or aborted."""

    status: Status
    winner: chess.Color | None


Happening = Moved | Undone | Changed | Said | Ended


class Rejected(BridgeError):
    """The request is answered with an HTTP error; `body` is the whole JSON answer."""

    def __init__(self, error: str, *, status: int = 400, **more: object) -> None:
        super().__init__(error)
        self.status = status
        self.body: dict[str, object] = {"error": error, **more}
