"""Challenges and the pure rules about them (Lichess API §1.6)."""

import enum
from dataclasses import dataclass, field

import chess

from bridge.arena.accounts import Account
from bridge.arena.control import VARIANTS, Control, Correspondence, TimeControl
from bridge.arena.happenings import Rejected

_LIMITS_S = frozenset({0, 15, 30, 45, 60, 90, *range(120, 10801, 60)})
_DAYS = frozenset({1, 2, 3, 5, 7, 10, 14})
_RULES = frozenset({"noAbort", "noRematch", "noGiveTime", "noClaimWin", "noEarlyDraw"})
_FASTEST_BOT_S = 30

DECLINE_REASONS = {
    "generic": "I'm not accepting challenges at the moment.",
    "later": "This is not the right time for me, please ask again later.",
    "tooFast": "This time control is too fast for me, please challenge again with a slower game.",
    "tooSlow": "This time control is too slow for me, please challenge again with a faster game.",
    "timeControl": "I'm not accepting challenges with this time control.",
    "rated": "Please send me a rated challenge instead.",
    "casual": "Please send me a casual challenge instead.",
    "standard": "I'm not accepting variant challenges right now.",
    "variant": "I'm not willing to play this variant right now.",
    "noBot": "I'm not accepting challenges from bots.",
    "onlyBot": "I'm only accepting challenges from bots.",
}


class ChallengeStatus(enum.Enum):
    CREATED = "created"
    OFFLINE = "offline"
    CANCELED = "canceled"
    DECLINED = "declined"
    ACCEPTED = "accepted"


@dataclass(slots=True, kw_only=True)
class Challenge:
    """One account asks another for a game; the id becomes the game's."""

    id: str
    challenger: Account
    dest: Account
    control: Control
    variant: str
    fen: str | None
    rated: bool
    color: str
    """As chosen: `white`, `black` or `random`."""
    final_color: chess.Color
    """The challenger's."""
    expires_at_ms: int
    rules: frozenset[str] = field(default_factory=frozenset)
    kept_alive: bool = False
    status: ChallengeStatus = ChallengeStatus.CREATED
    decline_reason: str | None = None
    rematch_of: str = ""
    """The game that it is a rematch of."""

    @property
    def speed(self) -> str:
        return self.control.speed

    def white_black(self) -> tuple[Account, Account]:
        pair = (self.challenger, self.dest)
        return pair if self.final_color else (pair[1], pair[0])


@dataclass(frozen=True, slots=True)
class Wish:
    """What a challenger asked for, checked."""

    control: Control
    variant: str
    fen: str | None
    rated: bool
    color: str
    rules: frozenset[str]


def wish_of(form: dict[str, str]) -> Wish:
    """Read a challenge's form; raises Rejected with the field's name, as Lichess and as older clients read it."""
    rules = frozenset(rule for rule in form.get("rules", "").split(",") if rule)
    color = form.get("color", "random")
    if color not in ("white", "black", "random"):
        raise _wrong("color", "Invalid value")
    if not rules <= _RULES:
        raise _wrong("rules", "Invalid value")
    variant, fen = _position(form.get("variant", "standard"), form.get("fen") or form.get("position"))
    return Wish(_control(form), variant, fen, trueish(form.get("rated", "")), color, rules)


def trueish(value: str) -> bool:
    return value.lower() in ("true", "1", "yes", "on")


def _wrong(name: str, text: str) -> Rejected:
    rejected = Rejected(text)
    rejected.body = {"error": {name: [text]}, name: [text]}
    return rejected


def _whole(form: dict[str, str], name: str, allowed: frozenset[int] | range) -> int:
    try:
        value = int(float(form[name]))
    except KeyError:
        raise _wrong(name, "This field is required") from None
    except ValueError:
        raise _wrong(name, "Numeric value expected") from None
    if value not in allowed:
        raise _wrong(name, "Invalid value")
    return value


def _control(form: dict[str, str]) -> Control:
    if "clock.limit" in form or "clock.increment" in form:
        return TimeControl(_whole(form, "clock.limit", _LIMITS_S), _whole(form, "clock.increment", range(61)))
    return Correspondence(_whole(form, "days", _DAYS) if "days" in form else None)


def _position(variant: str, fen: str | None) -> tuple[str, str | None]:
    if variant not in VARIANTS:
        raise _wrong("variant", "Invalid value")
    if fen is None:
        if variant == "fromPosition":
            raise _wrong("fen", "Invalid position")
        return variant, None
    try:
        board = chess.Board(fen, chess960=True)
    except ValueError:
        raise _wrong("fen", "Invalid position") from None
    if not board.is_valid() or board.is_game_over():
        raise _wrong("fen", "Invalid position")
    if variant == "standard" and fen == chess.STARTING_FEN:
        return variant, None
    return ("fromPosition" if variant == "standard" else variant), fen


def check_wish(wish: Wish, challenger: Account, dest: Account) -> None:
    """Whether these two may play this at all; raises Rejected."""
    if challenger.id == dest.id:
        raise Rejected("You cannot challenge yourself")
    if wish.rules and dest.is_bot:
        raise Rejected("Rules not applicable for bots")
    bots = challenger.is_bot or dest.is_bot
    if bots and isinstance(wish.control, TimeControl) and wish.control.estimate_s < _FASTEST_BOT_S:
        raise Rejected("Bots cannot play UltraBullet. Choose a slower time control.")
    if wish.rated and (wish.variant == "fromPosition" or wish.fen is not None):
        raise Rejected("This challenge cannot be rated")
