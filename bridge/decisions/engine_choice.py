"""Which of several engines plays a game: the rule that says most of it, the first of equals."""

from collections.abc import Sequence
from dataclasses import dataclass

from bridge.rules.snapshot import TimeControl


@dataclass(frozen=True, slots=True)
class Occasion:
    """A game as the choice sees it. `pool` `standard`: plain chess. `speed` and `variant` as Lichess names them."""

    pool: str
    speed: str
    variant: str
    opponent: str
    """human or bot."""
    rating: int | None
    """The opponent's."""
    color: str
    """Ours: white or black."""
    time_control: TimeControl | None = None
    mode: str = "casual"
    """casual or rated."""
    tournament: bool = False


@dataclass(frozen=True, slots=True)
class EngineRule:
    """An engine and what a game must be for it; None: anything. Bounds of ratings need one."""

    engine: str
    pool: str | None = None
    speed: str | None = None
    variant: str | None = None
    opponent: str | None = None
    min_rating: int | None = None
    max_rating: int | None = None
    color: str | None = None
    time_control: TimeControl | None = None
    mode: str | None = None
    tournament: bool | None = None


_NAMES = ("pool", "speed", "variant", "opponent", "color", "time_control", "mode", "tournament")


def choose_engine(usual: str, rules: Sequence[EngineRule], game: Occasion) -> str:
    """The engine's name; `usual` where no rule fits."""
    fitting = [rule for rule in rules if _fits(rule, game)]
    return max(fitting, key=_length).engine if fitting else usual


def _fits(rule: EngineRule, game: Occasion) -> bool:
    if any(getattr(rule, name) not in (None, getattr(game, name)) for name in _NAMES):
        return False
    if rule.min_rating is None and rule.max_rating is None:
        return True
    rating = game.rating
    return (
        rating is not None
        and (rule.min_rating or 0) <= rating
        and (rule.max_rating is None or rating <= rule.max_rating)
    )


def _length(rule: EngineRule) -> int:
    """How much a rule says of a game; bounds of the rating are two things, as each can be given alone."""
    return sum(getattr(rule, name) is not None for name in (*_NAMES, "min_rating", "max_rating"))
