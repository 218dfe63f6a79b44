"""Challenges of an account's own to other bots: off unless `allow_matchmaking`."""

from collections.abc import Callable
from itertools import product
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from bridge.decisions.matchmaking import Filter, Kind, MatchPolicy, Preference, Selection
from bridge.rules.snapshot import TimeControl
from bridge.settings.base import Many, Section, Text
from bridge.settings.challenge import ListAddress

BASES_S = (0, 15, 30, 45, 60, 90, *range(120, 10801, 60))
_ALL_VARIANTS = ("standard", "chess960")


def _several(value: object) -> object:
    """One value may stand without its list."""
    return value if isinstance(value, list | tuple) else [value]


def _base(value: object) -> object:
    if isinstance(value, int) and value not in BASES_S:
        raise ValueError(f"Lichess offers no clock of {value} s: 15, 30, 45, 60, 90, 120, 180 and so on, by the minute")
    return value


BaseSeconds: TypeAlias = Annotated[int, BeforeValidator(_base)]
Bases: TypeAlias = Annotated[Many[BaseSeconds], BeforeValidator(_several)]
Increments: TypeAlias = Annotated[Many[Annotated[int, Field(ge=0, le=60)]], BeforeValidator(_several)]
Days: TypeAlias = Annotated[Many[Literal[1, 2, 3, 5, 7, 10, 14]], BeforeValidator(_several)]
Variant: TypeAlias = Literal["standard", "chess960", "random"]
Mode: TypeAlias = Literal["casual", "rated", "random"]
Rating: TypeAlias = Annotated[int, Field(ge=0, le=4000)]


class KindSettings(Section):
    """A kind of game to offer. What is left out is as it stands beside the list."""

    challenge_variant: Variant | None = Field(default=None, description="standard, chess960, or random: either.")
    challenge_mode: Mode | None = Field(
        default=None, description="casual, rated or random: either. Rated games are plain chess, without KiriChess."
    )
    challenge_initial_time: Bases | None = Field(
        default=None, description="Seconds to begin with; of several one is drawn. Left out: the pools' own clocks."
    )
    challenge_increment: Increments | None = Field(
        default=None, description="Seconds for each move; of several one is drawn. Left out: 0."
    )
    challenge_days: Days | None = Field(
        default=None, description="Days for each move, for correspondence. KiriChess has none: rated games only."
    )
    opponent_min_rating: Rating | None = Field(default=None, description="No weaker opponents; left out: 600.")
    opponent_max_rating: Rating | None = Field(default=None, description="No stronger opponents; left out: 4000.")
    opponent_rating_difference: Rating | None = Field(
        default=None, description="At most so far from our own rating; outranks the two bounds."
    )
    target_rating_diff: Annotated[int, Field(ge=-4000, le=4000)] | None = Field(
        default=None, description="Those nearest to our own rating and so much; left out: any."
    )
    min_rating_diff: Rating | None = Field(default=None, description="At least so far from our own rating.")
    rating_preference: Preference | None = Field(
        default=None, description="high or low: the strongest or weakest twice as often as the others; left out: none."
    )
    min_games: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Only bots with so many games of that kind; left out: 0."
    )
    pairs: bool | None = Field(
        default=None, description="Whether the same opponent is asked for a second game with the other colour."
    )
    weight: Annotated[float, Field(gt=0, strict=False)] | None = Field(
        default=None,
        description="How often it is offered beside the others; left out: 1, or where none has one the same time each.",
    )


class MatchmakingSettings(KindSettings):
    """Challenges to other bots, when there is nothing else to do."""

    allow_matchmaking: bool = Field(default=False, description="Whether the account challenges bots by itself.")
    allow_during_games: bool = Field(
        default=False, description="Whether it does so while it plays, every 10 minutes at most, if a slot is free."
    )
    challenge_timeout: int = Field(
        default=30, ge=1, le=10_080, description="Minutes without a game before the next challenge."
    )
    timeout: int | None = Field(
        default=None,
        ge=1,
        le=60,
        description="Seconds after which an offer is taken back; left out: when it has lapsed.",
    )
    challenge_filter: Filter = Field(
        default="none",
        description="Whom a decline spares for a day: nobody (none), the bot (coarse), the bot in such games (fine).",
    )
    back_off_minutes: int = Field(
        default=10,
        ge=1,
        le=1440,
        description="Minutes before the same bot is challenged again; every failure doubles them, up to a day.",
    )
    block_list: Many[Text] = Field(default=(), description="Bots that are never challenged.")
    online_block_list: Many[ListAddress] = Field(default=(), description="Addresses of more such lists, a name a line.")
    include_challenge_block_list: bool = Field(
        default=False, description="Whether the lists of `challenge:` count here too."
    )
    selection: Selection = Field(
        default="weighted_random",
        description="Which of several kinds is next: by weight, the first that finds an opponent, or each in turn.",
    )
    types: dict[Text, KindSettings] = Field(
        default_factory=dict, description="Kinds of games by a name of your own; these alone are offered."
    )
    overrides: dict[Text, KindSettings] = Field(
        default_factory=dict, description="More kinds of games, beside the one that the keys here describe."
    )

    def offerless(self, usual: tuple[TimeControl, ...], has_pool: Callable[[TimeControl], bool]) -> list[str]:
        """The kinds of games that could never be offered, by name; "" is the one that the keys here describe."""
        if not self.allow_matchmaking:
            return []
        kinds = (self._kind(name, own, usual, has_pool) for name, own in self._named().items())
        return [kind.name for kind in kinds if not kind.clocks and not kind.days]

    def _named(self) -> dict[str, KindSettings]:
        return {**({} if self.types else {"": KindSettings()}), **self.types, **self.overrides}

    def policy(
        self,
        usual: tuple[TimeControl, ...],
        has_pool: Callable[[TimeControl], bool],
        also_blocked: frozenset[str] = frozenset(),
    ) -> MatchPolicy:
        """What is offered. `usual`: the clocks where none is named; casual games have only those that `has_pool`."""
        return MatchPolicy(
            kinds=tuple(self._kind(name, own, usual, has_pool) for name, own in self._named().items()),
            selection=self.selection,
            filter=self.challenge_filter,
            blocked=frozenset(name.lower() for name in self.block_list) | also_blocked,
            idle_ms=60_000 * self.challenge_timeout,
            during_games=self.allow_during_games,
            back_off_ms=60_000 * self.back_off_minutes,
            lease_ms=None if self.timeout is None else 1000 * self.timeout,
        )

    def _kind(
        self, name: str, own: KindSettings, usual: tuple[TimeControl, ...], has_pool: Callable[[TimeControl], bool]
    ) -> Kind:
        given = {key: value for key, value in self.model_dump(include=_KIND_KEYS).items() if value is not None}
        # A weight is a kind's own.
        weight = given.pop("weight", None)
        given |= {key: value for key, value in own.model_dump().items() if value is not None}
        mode, variant = given.get("challenge_mode", "casual"), given.get("challenge_variant", "standard")
        modes = {"casual": (False,), "rated": (True,), "random": (False, True)}[mode]
        clocks = _clocks(given, usual)
        return Kind(
            name=name,
            clocks=clocks if mode == "rated" else tuple(clock for clock in clocks if has_pool(clock)),
            days=tuple(given.get("challenge_days", ())) if mode == "rated" else (),
            variants=_ALL_VARIANTS if variant == "random" else (variant,),
            modes=modes,
            weight=given.get("weight") if name else weight,
            pairs=given.get("pairs", False),
            min_rating=given.get("opponent_min_rating", 600),
            max_rating=given.get("opponent_max_rating", 4000),
            rating_difference=given.get("opponent_rating_difference"),
            min_rating_diff=given.get("min_rating_diff", 0),
            target_rating_diff=given.get("target_rating_diff"),
            preference=given.get("rating_preference", "none"),
            min_games=given.get("min_games", 0),
        )


_KIND_KEYS = set(KindSettings.model_fields)


def _clocks(given: dict[str, object], usual: tuple[TimeControl, ...]) -> tuple[TimeControl, ...]:
    bases, increments = given.get("challenge_initial_time"), given.get("challenge_increment") or (0,)
    if not isinstance(bases, tuple) or not isinstance(increments, tuple):
        return () if given.get("challenge_days") else usual
    return tuple(TimeControl(1000 * base, 1000 * increment) for base, increment in product(bases, increments))
