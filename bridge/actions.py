"""What is asked of a platform: one frozen value for each request."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class PlayMove:
    """`repeatable`: once played it may be legal at our next turn too; no resend before the stream's fresh word."""

    game_id: str
    uci: str
    offering_draw: bool = False
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Resign:
    game_id: str


@dataclass(frozen=True, slots=True)
class Abort:
    game_id: str


@dataclass(frozen=True, slots=True)
class AnswerDraw:
    """`accept` True offers a draw where none stands."""

    game_id: str
    accept: bool


@dataclass(frozen=True, slots=True)
class AnswerTakeback:
    game_id: str
    accept: bool


@dataclass(frozen=True, slots=True)
class ClaimVictory:
    game_id: str


@dataclass(frozen=True, slots=True)
class ClaimDraw:
    """Of an opponent who has left; not of a repetition."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Say:
    """One chat line of at most 140 characters."""

    game_id: str
    text: str
    room: str = "player"


@dataclass(frozen=True, slots=True)
class AcceptChallenge:
    challenge_id: str


@dataclass(frozen=True, slots=True)
class DeclineChallenge:
    challenge_id: str
    reason: str = "generic"


@dataclass(frozen=True, slots=True)
class CancelChallenge:
    """Take back a challenge of our own. Of one that was accepted it would abort the game."""

    challenge_id: str


Action: TypeAlias = (
    PlayMove
    | Resign
    | Abort
    | AnswerDraw
    | AnswerTakeback
    | ClaimVictory
    | ClaimDraw
    | Say
    | AcceptChallenge
    | DeclineChallenge
    | CancelChallenge
)
