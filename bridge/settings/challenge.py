"""Which challenges are accepted (`play.challenge`). A key that lichess-bot has too keeps its name and meaning."""

from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from bridge.addresses import is_loopback
from bridge.decisions.challenge import ChallengePolicy
from bridge.decisions.challenge_rules import SPEEDS, Rules
from bridge.decisions.pool_choice import parse_time_control
from bridge.rules.snapshot import TimeControl
from bridge.settings.base import HttpAddress, Many, Section, Text

Variant: TypeAlias = Literal["standard", "chess960", "fromPosition"]
Mode: TypeAlias = Literal["casual", "rated"]

_BOUNDS = ("base", "increment", "days", "rating")


def _clock(value: str) -> str:
    if value not in SPEEDS:
        try:
            parse_time_control(value)
        except ValueError:
            known = ", ".join(SPEEDS)
            raise ValueError(f"must be a speed ({known}) or a clock such as 10+0, not {value!r}") from None
    return value


def _safe_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise ValueError("must start with https://: whoever sits between could change the list")
    return value


SpeedOrClock: TypeAlias = Annotated[str, AfterValidator(_clock)]
ListAddress: TypeAlias = Annotated[HttpAddress, AfterValidator(_safe_address)]
Seconds: TypeAlias = Annotated[int, Field(ge=0, le=86_400)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=10_000)]
Days: TypeAlias = Annotated[int, Field(ge=1, le=14)]
Rating: TypeAlias = Annotated[int, Field(ge=0, le=10_000)]


class Terms(Section):
    """What may be asked for. A key that is left out has no bound, or the value of the section around it."""

    variants: Many[Variant] | None = Field(default=None, min_length=1, description="Variants that are played.")
    modes: Many[Mode] | None = Field(
        default=None, min_length=1, description="casual, rated or both; rated games are played as plain chess."
    )
    time_controls: Many[SpeedOrClock] | None = Field(
        default=None,
        min_length=1,
        description="Speeds (blitz) and clocks (10+0); left out: all but correspondence, which has to be named.",
    )
    min_base: Seconds | None = Field(default=None, description="Seconds each side has at the start, at least.")
    max_base: Seconds | None = Field(default=None, description="And at most.")
    min_increment: Seconds | None = Field(default=None, description="Seconds given for each move, at least.")
    max_increment: Seconds | None = Field(default=None, description="And at most.")
    max_estimated_game_duration: Count | None = Field(
        default=None, description="Minutes a game may take: what both sides have for 40 moves."
    )
    min_days: Days | None = Field(default=None, description="Days for each move of correspondence, at least.")
    max_days: Days | None = Field(
        default=None, description="And at most; left out: games without any limit are taken too."
    )
    min_rating: Rating | None = Field(default=None, description="The opponent's rating, at least, if it has one.")
    max_rating: Rating | None = Field(default=None, description="And at most.")
    rating_difference: Rating | None = Field(default=None, description="How far it may be from our own.")
    bullet_requires_increment: bool | None = Field(
        default=None, description="Whether bullet needs an increment; outside `humans:` it counts for bots alone."
    )
    max_simultaneous_games_per_user: Count | None = Field(
        default=None, description="Games with one opponent at the same time, challenges that wait included."
    )
    accept_rematch: bool | None = Field(default=None, description="Whether an opponent's rematch is accepted.")
    max_rematches: Count | None = Field(default=None, description="Rematches in a row with one opponent.")

    @model_validator(mode="after")
    def _bounds(self) -> "Terms":
        for name in _BOUNDS:
            least, most = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if least is not None and most is not None and least > most:
                raise ValueError(f"min_{name} is above max_{name}: nobody could be accepted")
        return self


class KindTerms(Terms):
    """What one kind of opponent may ask for."""

    recent_challenge_age: Annotated[int, Field(ge=1, le=31 * 86_400)] | None = Field(
        default=None, description="Seconds in which max_recent_challenges of one opponent are accepted."
    )
    max_recent_challenges: Count | None = Field(default=None, description="How many those are.")

    @model_validator(mode="after")
    def _window(self) -> "KindTerms":
        if (self.recent_challenge_age is None) != (self.max_recent_challenges is None):
            raise ValueError("recent_challenge_age and max_recent_challenges are one setting: give both or neither")
        return self


class ChallengeSettings(Terms):
    """Who may challenge the account, to what, and who waits while every slot is taken."""

    variants: Many[Variant] = Field(
        default=("standard", "chess960", "fromPosition"), min_length=1, description="Variants that are played."
    )
    modes: Many[Mode] = Field(
        default=("casual",), min_length=1, description="casual, rated or both; rated games are played as plain chess."
    )
    accept_bot: bool = Field(default=True, description="Whether challenges of BOT accounts are accepted.")
    only_bot: bool = Field(default=False, description="Whether only those are.")
    humans: KindTerms = Field(default_factory=KindTerms, description="What differs for people.")
    bots: KindTerms = Field(default_factory=KindTerms, description="What differs for bots.")
    block_list: Many[Text] = Field(default=(), description="Names whose challenges are declined.")
    online_block_list: Many[ListAddress] = Field(
        default=(), description="Addresses of such lists, one name a line; fetched now and then, https or loopback."
    )
    allow_list: Many[Text] = Field(default=(), description="Where there are any, only these names are accepted.")
    online_allow_list: Many[ListAddress] = Field(default=(), description="Addresses of such lists.")
    whitelist: Many[Text] = Field(
        default=(),
        description="Names from whom every game is accepted that can be played, whatever lists, terms and caps say.",
    )
    games_reserved_for_humans: Count = Field(default=0, description="Of all slots, those that bots do not get.")
    recent_bot_challenge_age: Annotated[int, Field(ge=1, le=31 * 86_400)] | None = Field(
        default=None, description="Seconds in which max_recent_bot_challenges of one bot are accepted."
    )
    max_recent_bot_challenges: Count | None = Field(default=None, description="How many those are.")
    max_queued: Count = Field(default=0, description="Challenges that wait for a slot, at most; others: later.")
    queue_s: Annotated[int, Field(ge=1, le=3600)] = Field(
        default=60, description="Seconds that one waits before it is declined."
    )
    sort_by: Literal["best", "first"] = Field(
        default="best", description="Who waits in front: the strongest (rated and titled ones stronger), or the first."
    )
    preference: Literal["none", "human", "bot"] = Field(default="none", description="And before all: people or bots.")

    @model_validator(mode="after")
    def _recent(self) -> "ChallengeSettings":
        if (self.recent_bot_challenge_age is None) != (self.max_recent_bot_challenges is None):
            raise ValueError(
                "recent_bot_challenge_age and max_recent_bot_challenges are one setting: give both or neither"
            )
        if self.only_bot and not self.accept_bot:
            raise ValueError("only_bot without accept_bot: nobody could be accepted")
        return self

    def policy(self, concurrency: int) -> ChallengePolicy:
        """What all this means for an account with so many slots."""
        return ChallengePolicy(
            humans=None if self.only_bot else self._rules(self.humans, bot=False),
            bots=self._rules(self.bots, bot=True) if self.accept_bot else None,
            concurrency=concurrency,
            games_reserved_for_humans=self.games_reserved_for_humans,
            block_list=_ids(self.block_list),
            online_block_list=self.online_block_list,
            allow_list=_ids(self.allow_list),
            online_allow_list=self.online_allow_list,
            whitelist=_ids(self.whitelist),
            sort_by=self.sort_by,
            preference=self.preference,
            max_queued=self.max_queued,
            queue_ms=1000 * self.queue_s,
        )

    def _rules(self, kind: KindTerms, *, bot: bool) -> Rules:
        found: dict[str, object] = {name: getattr(self, name) for name in Terms.model_fields}
        if bot:
            found["recent_challenge_age"] = self.recent_bot_challenge_age
            found["max_recent_challenges"] = self.max_recent_bot_challenges
        else:
            del found["bullet_requires_increment"]
        found |= {name: value for name in KindTerms.model_fields if (value := getattr(kind, name)) is not None}
        given = {name: _plain(name, value) for name, value in found.items() if value is not None}
        return Rules(**given)  # type: ignore[arg-type]  # the models have checked each value


def _plain(name: str, value: object) -> object:
    if name == "time_controls" and isinstance(value, tuple):
        return frozenset(_speed_or_clock(one) for one in value)
    return frozenset(value) if isinstance(value, tuple) else value


def _speed_or_clock(value: str) -> str | TimeControl:
    return value if value in SPEEDS else parse_time_control(value)


def _ids(names: Many[Text]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)
