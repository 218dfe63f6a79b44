"""What a kind of opponent may ask for: variants, modes, clocks and ratings, with Lichess's decline reasons."""

from dataclasses import dataclass

from bridge.rules.snapshot import TimeControl

CORRESPONDENCE = "correspondence"
SPEEDS = ("ultraBullet", "bullet", "blitz", "rapid", "classical", CORRESPONDENCE)
"""Lichess's names, from the fastest to the slowest."""

_MOVES = 40
"""What Lichess takes for a game's length when it names its speed."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What matters of a challenge. Ratings are those of its kind of game; None: there is none.

    `time_control` None with `days`: correspondence; without: no limit at all. `pool`: what its time control maps to,
    None if nothing. `rematches`: how many rematches in a row this would be, 0 for a challenge that is none.
    """

    variant: str
    rated: bool
    time_control: TimeControl | None
    from_bot: bool
    pool: str | None
    speed: str = ""
    days: int | None = None
    challenger: str = ""
    """Its id: lower case."""
    titled: bool = False
    """A title that people win."""
    rating: int | None = None
    own_rating: int | None = None
    rematches: int = 0
    ours: bool = False
    """The challenger is another account of this configuration."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Terms for one kind of opponent. None: no bound; bases and increments in seconds, the duration in minutes."""

    variants: frozenset[str] = frozenset({"standard", "chess960", "fromPosition"})
    modes: frozenset[str] = frozenset({"casual"})
    time_controls: frozenset[str | TimeControl] | None = None
    """Speeds and exact clocks; None: every clock. Correspondence has to be named."""
    min_base: int = 0
    max_base: int | None = None
    min_increment: int = 0
    max_increment: int | None = None
    min_days: int = 1
    max_days: int | None = None
    max_estimated_game_duration: int | None = None
    bullet_requires_increment: bool = False
    min_rating: int | None = None
    max_rating: int | None = None
    rating_difference: int | None = None
    accept_rematch: bool = True
    max_rematches: int | None = None
    max_simultaneous_games_per_user: int | None = None
    max_recent_challenges: int | None = None
    recent_challenge_age: int | None = None
    """Seconds in which `max_recent_challenges` are accepted from one opponent."""


def objection(offer: Offer, rules: Rules) -> str | None:
    """Why the terms of an offer do not fit: one of Lichess's decline reasons, None where they do."""
    return _kind(offer, rules) or _clock(offer, rules) or _rating(offer, rules) or _rematch(offer, rules)


def hindrance(offer: Offer, rules: Rules) -> str | None:
    """Why an offer cannot be played whoever makes it: its variant, or a clock that suits no pool."""
    if offer.rated and offer.ours:
        return "casual"
    if reason := _variant(offer, rules):
        return reason
    if offer.time_control is None:
        named = rules.time_controls is not None and CORRESPONDENCE in rules.time_controls
        return None if named else "timeControl"
    return _without_pool(offer)


def estimated_ms(control: TimeControl) -> int:
    """How long a game takes if both sides use what they have for 40 moves."""
    return 2 * (control.initial_ms + _MOVES * control.increment_ms)


def _kind(offer: Offer, rules: Rules) -> str | None:
    if (offer.rated and "rated" not in rules.modes) or (offer.rated and offer.ours):
        return "casual"
    if not offer.rated and "casual" not in rules.modes:
        return "rated"
    return _variant(offer, rules)


def _variant(offer: Offer, rules: Rules) -> str | None:
    if offer.variant in rules.variants:
        return None
    return "standard" if rules.variants == {"standard"} else "variant"


def _without_pool(offer: Offer) -> str | None:
    """A rated game is plain chess, which every clock suits."""
    return "timeControl" if offer.pool is None and not offer.rated else None


def _clock(offer: Offer, rules: Rules) -> str | None:
    control = offer.time_control
    if control is None:
        return _days(offer, rules)
    if rules.time_controls is not None and not rules.time_controls & {offer.speed, control}:
        return "timeControl"
    if control.initial_ms < 1000 * rules.min_base or control.increment_ms < 1000 * rules.min_increment:
        return "tooFast"
    if rules.bullet_requires_increment and offer.speed in SPEEDS[:2] and control.increment_ms == 0:
        return "tooFast"
    longest_min = rules.max_estimated_game_duration
    if (
        _above(control.initial_ms, rules.max_base, 1000)
        or _above(control.increment_ms, rules.max_increment, 1000)
        or _above(estimated_ms(control), longest_min, 60_000)
    ):
        return "tooSlow"
    return _without_pool(offer)


def _days(offer: Offer, rules: Rules) -> str | None:
    if rules.time_controls is None or CORRESPONDENCE not in rules.time_controls:
        return "timeControl"
    if offer.days is None:
        return None if rules.max_days is None else "tooSlow"
    if offer.days < rules.min_days:
        return "tooFast"
    return "tooSlow" if _above(offer.days, rules.max_days) else None


def _above(value: int, most: int | None, unit: int = 1) -> bool:
    return most is not None and value > most * unit


def _rating(offer: Offer, rules: Rules) -> str | None:
    """Somebody without a rating is let in: there is nothing to go by."""
    rating, own = offer.rating, offer.own_rating
    if rating is None:
        return None
    if (rules.min_rating is not None and rating < rules.min_rating) or _above(rating, rules.max_rating):
        return "generic"
    far = own is not None and _above(abs(rating - own), rules.rating_difference)
    return "generic" if far else None


def _rematch(offer: Offer, rules: Rules) -> str | None:
    if offer.rematches and not rules.accept_rematch:
        return "generic"
    return "later" if _above(offer.rematches, rules.max_rematches) else None
