"""Whom to challenge, and to what: a pure choice among the bots that are online, from what is remembered of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from bridge.decisions.challenge import DAY_MS
from bridge.rules.snapshot import TimeControl

T = TypeVar("T")

Selection: TypeAlias = Literal["weighted_random", "sequential", "cyclic"]
Preference: TypeAlias = Literal["none", "high", "low"]
Filter: TypeAlias = Literal["none", "coarse", "fine"]
Outcome: TypeAlias = Literal["accepted", "declined", "lapsed", "refused", "limit"]

DURING_GAMES_MS = 600_000
"""Between challenges while games run."""
BETWEEN_MS = 60_000
"""Between challenges otherwise, at least."""

_MOVES = 40
"""What Lichess takes for a game's length when it names its speed."""
_SPEEDS_S = (("ultraBullet", 30), ("bullet", 180), ("blitz", 480), ("rapid", 1500))
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot that is online; `id` is lower case. Ratings and numbers of games by perf: blitz, chess960, …"""

    id: str
    ratings: Mapping[str, int] = field(default_factory=dict)
    games: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of game to offer. Of several clocks, variants or modes one is drawn; `days`: correspondence.

    `weight` None: 1 beside kinds that have one; where none has, the longer its games, the smaller, so that each kind
    gets the same time. `pairs`: two games with each opponent, white and then black.
    """

    name: str
    clocks: tuple[TimeControl, ...] = ()
    days: tuple[int, ...] = ()
    variants: tuple[str, ...] = ("standard",)
    modes: tuple[bool, ...] = (False,)
    """Rated or not."""
    weight: float | None = 1.0
    pairs: bool = False
    min_rating: int = 0
    max_rating: int = 4000
    rating_difference: int | None = None
    """At most so far from our own; outranks the two bounds."""
    min_rating_diff: int = 0
    """At least so far from our own."""
    target_rating_diff: int | None = None
    """Those nearest to our own rating and so much."""
    preference: Preference = "none"
    min_games: int = 0


@dataclass(frozen=True, slots=True)
class MatchPolicy:
    """What an account offers to other bots, unasked. `blocked` are ids; none of them is ever challenged."""

    kinds: tuple[Kind, ...]
    selection: Selection = "weighted_random"
    filter: Filter = "none"
    blocked: frozenset[str] = frozenset()
    idle_ms: int = 1_800_000
    """After the last game or challenge, before the next one is offered."""
    during_games: bool = False
    back_off_ms: int = 600_000
    """Before the same bot is challenged again; each failure doubles it, up to a day."""
    lease_ms: int | None = None
    """After which an offer without an answer is taken back; None: when the platform has let it lapse."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A challenge to be sent. `clock` None: correspondence of so many `days`. `color` is ours."""

    opponent: str
    kind: str
    clock: TimeControl | None
    days: int | None
    variant: str
    rated: bool
    color: str = "random"

    @property
    def perf(self) -> str:
        """The rating that counts."""
        return perf_of(self.variant, self.clock)


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a challenge, at a time of the wall clock. `wait_ms`: how long the opponent can play no bot.

    `clock` None with `days`: correspondence.
    """

    at_ms: int
    opponent: str
    kind: str
    perf: str
    rated: bool
    color: str
    outcome: Outcome
    wait_ms: int = 0
    clock: TimeControl | None = None
    days: int | None = None

    def is_at(self, terms: Proposal) -> bool:
        """Whether it was of just such a game."""
        return (self.perf, self.rated, self.clock, self.days) == (terms.perf, terms.rated, terms.clock, terms.days)


def perf_of(variant: str, clock: TimeControl | None) -> str:
    """Lichess's name for the kind of rating."""
    if variant != "standard":
        return variant
    if clock is None:
        return "correspondence"
    estimate_s = (clock.initial_ms + _MOVES * clock.increment_ms) // 1000
    return next((name for name, below_s in _SPEEDS_S if estimate_s < below_s), "classical")


def due(policy: MatchPolicy, *, games: int, idle_ms: int, since_challenge_ms: int) -> bool:
    """Whether it is time for a challenge. `idle_ms`: since the last game ended; both from the start at the latest."""
    if games:
        return policy.during_games and since_challenge_ms >= DURING_GAMES_MS
    return idle_ms >= policy.idle_ms and since_challenge_ms >= BETWEEN_MS


def choose(
    policy: MatchPolicy,
    bots: Sequence[Bot],
    me: Bot,
    memory: Sequence[Answered],
    now_ms: int,
    draw: Callable[[], float],
) -> Proposal | None:
    """The next challenge, None: nobody fits now. `memory` in the order of time; `draw` gives numbers from 0 to 1."""
    there = {bot.id: bot for bot in bots if bot.id != me.id and bot.id not in policy.blocked}
    owed = _owed(policy, memory, now_ms)
    if owed is not None and owed.opponent in there and _at_limit(owed.opponent, memory) <= now_ms:
        return owed
    rested = [bot for bot in there.values() if _rests_until(bot.id, policy, memory) <= now_ms]
    for kind in _kinds(policy, memory, draw):
        proposal = _terms(kind, draw)
        fitting = [bot for bot in rested if _fits(bot, me, kind, proposal, policy, memory, now_ms)]
        if fitting:
            opponent = _drawn(fitting, _weights(fitting, me, kind, proposal.perf), draw)
            return _to(opponent.id, proposal)
    return None


# -- what is remembered ------------------------------------------------------------------------------------------


def _of(opponent: str, memory: Sequence[Answered]) -> list[Answered]:
    return [answer for answer in memory if answer.opponent == opponent]


def _rests_until(opponent: str, policy: MatchPolicy, memory: Sequence[Answered]) -> int:
    """A game is a rest as well; every failure after it doubles the next one."""
    answers = _of(opponent, memory)
    if not answers:
        return 0
    failures = next((at for at, answer in enumerate(reversed(answers)) if answer.outcome == "accepted"), len(answers))
    rest_ms = min(DAY_MS, policy.back_off_ms << min(20, max(0, failures - 1)))
    return max(answers[-1].at_ms + rest_ms, _at_limit(opponent, memory))


def _at_limit(opponent: str, memory: Sequence[Answered]) -> int:
    """Until when it can play no bot, by the platform's own word."""
    return max((answer.at_ms + answer.wait_ms for answer in _of(opponent, memory)), default=0)


def _declined(opponent: str, proposal: Proposal, policy: MatchPolicy, memory: Sequence[Answered], now_ms: int) -> bool:
    """Coarse: it declined anything within a day; fine: the same kind of game."""
    if policy.filter == "none":
        return False
    return any(
        answer.outcome == "declined"
        and now_ms - answer.at_ms < DAY_MS
        and (policy.filter == "coarse" or (answer.perf, answer.rated) == (proposal.perf, proposal.rated))
        for answer in _of(opponent, memory)
    )


def _owed(policy: MatchPolicy, memory: Sequence[Answered], now_ms: int) -> Proposal | None:
    """The second game of a pair: asked for once, after the first one."""
    pairs = {kind.name: kind for kind in policy.kinds if kind.pairs}
    last: dict[str, Answered] = {}
    for answer in memory:
        last[answer.opponent] = answer
    for answer in last.values():
        kind = pairs.get(answer.kind)
        if kind and answer.outcome == "accepted" and answer.color == "white" and now_ms - answer.at_ms < DAY_MS:
            terms = next(filter(answer.is_at, _all_terms(kind)), None)
            if terms is not None:
                return _to(answer.opponent, terms, "black")
    return None


# -- kinds and their terms ---------------------------------------------------------------------------------------


def _kinds(policy: MatchPolicy, memory: Sequence[Answered], draw: Callable[[], float]) -> Iterator[Kind]:
    """Every kind, the one to be tried first at the front."""
    kinds = list(policy.kinds)
    if policy.selection == "cyclic":
        names = [kind.name for kind in kinds]
        last = next((answer.kind for answer in reversed(memory) if answer.kind in names), None)
        turn = 0 if last is None else names.index(last) + 1
        kinds = kinds[turn:] + kinds[:turn]
    while kinds:
        at = 0
        if policy.selection == "weighted_random":
            at = _drawn(range(len(kinds)), _kind_weights(kinds), draw)
        yield kinds.pop(at)


def _kind_weights(kinds: Sequence[Kind]) -> list[float]:
    if all(kind.weight is None for kind in kinds):
        return [_share_of_time(kind) for kind in kinds]
    return [1.0 if kind.weight is None else kind.weight for kind in kinds]


def _share_of_time(kind: Kind) -> float:
    lengths = [(clock.initial_ms + _MOVES * clock.increment_ms) / 1000 for clock in kind.clocks]
    lengths += [days * _DAY_S * _MOVES for days in kind.days]
    return len(lengths) / max(1.0, sum(lengths))


def _all_terms(kind: Kind) -> Iterator[Proposal]:
    lengths: list[tuple[TimeControl | None, int | None]] = [(clock, None) for clock in kind.clocks]
    lengths += [(None, days) for days in kind.days]
    color = "white" if kind.pairs else "random"
    for clock, days in lengths:
        for variant in kind.variants:
            for rated in kind.modes:
                yield Proposal("", kind.name, clock, days, variant, rated, color)


def _terms(kind: Kind, draw: Callable[[], float]) -> Proposal:
    every = list(_all_terms(kind))
    return _drawn(every, [1.0] * len(every), draw)


def _to(opponent: str, terms: Proposal, color: str = "") -> Proposal:
    return Proposal(opponent, terms.kind, terms.clock, terms.days, terms.variant, terms.rated, color or terms.color)


# -- opponents ---------------------------------------------------------------------------------------------------


def _fits(
    bot: Bot,
    me: Bot,
    kind: Kind,
    proposal: Proposal,
    policy: MatchPolicy,
    memory: Sequence[Answered],
    now_ms: int,
) -> bool:
    if _declined(bot.id, proposal, policy, memory, now_ms) or bot.games.get(proposal.perf, 0) < kind.min_games:
        return False
    rating, own = bot.ratings.get(proposal.perf), me.ratings.get(proposal.perf)
    if rating is None:
        return kind.rating_difference is None and not kind.min_rating_diff
    if own is not None and abs(rating - own) < kind.min_rating_diff:
        return False
    if kind.rating_difference is not None and own is not None:
        return abs(rating - own) <= kind.rating_difference
    return kind.min_rating <= rating <= kind.max_rating


def _weights(bots: Sequence[Bot], me: Bot, kind: Kind, perf: str) -> list[float]:
    """Everybody the same; the extreme of those preferred twice as often as the other; or the nearest alone."""
    ratings = [bot.ratings.get(perf, 0) for bot in bots]
    if kind.target_rating_diff is not None:
        target = me.ratings.get(perf, 0) + kind.target_rating_diff
        nearest = min(abs(rating - target) for rating in ratings)
        return [1.0 if abs(rating - target) == nearest else 0.0 for rating in ratings]
    low, high = min(ratings), max(ratings)
    if kind.preference == "none" or low == high:
        return [1.0] * len(bots)
    rises = [(rating - low) / (high - low) for rating in ratings]
    return [1.0 + (rise if kind.preference == "high" else 1.0 - rise) for rise in rises]


def _drawn(every: Sequence[T], weights: Sequence[float], draw: Callable[[], float]) -> T:
    left = draw() * sum(weights)
    for each, weight in zip(every, weights, strict=True):
        left -= weight
        if left < 0:
            return each
    return every[-1]
