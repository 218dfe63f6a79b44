"""Which challenges to accept: a pure answer to one challenge, with Lichess's own decline reasons."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from bridge.decisions.challenge_queue import Preference, SortBy
from bridge.decisions.challenge_rules import Offer, Rules, hindrance, objection

BOT_GAMES_A_DAY = 100
"""Games against other bots that Lichess allows in 24 hours, for either side (`bot.vsBot.day`)."""

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class ChallengePolicy:
    """What an account plays, and with whom. `humans`, `bots`: the terms for each; None: none of them.

    Names are ids: lower case. The lists at addresses are read by whoever fills in the `Situation`.
    """

    humans: Rules | None = field(default_factory=Rules)
    bots: Rules | None = field(default_factory=Rules)
    concurrency: int = 1
    games_reserved_for_humans: int = 0
    block_list: frozenset[str] = frozenset()
    online_block_list: tuple[str, ...] = ()
    allow_list: frozenset[str] = frozenset()
    online_allow_list: tuple[str, ...] = ()
    whitelist: frozenset[str] = frozenset()
    """Of these every game is accepted that can be played, whatever lists, terms and caps say."""
    sort_by: SortBy = "best"
    preference: Preference = "none"
    max_queued: int = 0
    """Challenges that wait for a slot, at most."""
    queue_ms: int = 60_000
    """How long one waits, at most."""

    def rules(self, *, bot: bool) -> Rules | None:
        """The terms for a kind of opponent."""
        return self.bots if bot else self.humans

    @property
    def window_ms(self) -> int:
        """How far back accepted challenges matter: a day, for rematches, or further."""
        ages_s = [rules.recent_challenge_age or 0 for rules in (self.humans, self.bots) if rules is not None]
        return max([DAY_MS, *(1000 * age_s for age_s in ages_s)])


@dataclass(frozen=True, slots=True)
class Situation:
    """What the account is doing now. `bot_games_ms`: when its games against bots started, on the wall clock;
    `no_bots_before_ms`: until then the platform wants no more of them.

    `bot_slots` are those of the `taken_slots` that bots have. `queued`: the challenges that wait. Of the challenger:
    `with_challenger`, its games and challenges that run, are accepted or wait, and `accepted_ms`, when challenges of
    its were accepted. `blocked`, `allowed`: the names on the lists at addresses.
    """

    taken_slots: int
    now_ms: int
    draining: bool = False
    bot_games_ms: Sequence[int] = field(default=())
    no_bots_before_ms: int = 0
    bot_slots: int = 0
    queued: int = 0
    with_challenger: int = 0
    accepted_ms: Sequence[int] = field(default=())
    blocked: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Accept:
    """`pool` None: the game is plain chess."""

    pool: str | None


@dataclass(frozen=True, slots=True)
class Wait:
    """It would be accepted, were a slot free."""


@dataclass(frozen=True, slots=True)
class Decline:
    """`reason` is one of Lichess's decline reasons."""

    reason: str


Answer: TypeAlias = Accept | Wait | Decline


def answer(offer: Offer, policy: ChallengePolicy, situation: Situation) -> Answer:
    """Accept only what can be played and refereed now; the slot must be reserved before the acceptance is sent."""
    friend = offer.challenger in policy.whitelist
    if not friend and _unwelcome(offer, policy, situation):
        return Decline("generic")
    rules = policy.rules(bot=offer.from_bot) or (Rules() if friend else None)
    if rules is None:
        return Decline("noBot" if offer.from_bot else "onlyBot")
    if reason := hindrance(offer, rules) if friend else objection(offer, rules):
        return Decline(reason)
    if situation.draining or (not friend and _too_many(offer, rules, situation)) or _no_more_bots(offer, situation):
        return Decline("later")
    if not _slot_free(offer, policy, situation):
        return Wait() if situation.queued < policy.max_queued else Decline("later")
    return Accept(None if offer.rated or offer.time_control is None else offer.pool)


def bot_games_today(situation: Situation) -> int:
    """Games against bots started in the last 24 hours."""
    return sum(1 for started_ms in situation.bot_games_ms if situation.now_ms - started_ms < DAY_MS)


def has_room_for_bot(policy: ChallengePolicy, situation: Situation) -> bool:
    """Whether one more game against a bot can begin now, by anybody's challenge."""
    free = situation.taken_slots < policy.concurrency
    for_bots = situation.bot_slots < policy.concurrency - policy.games_reserved_for_humans
    return free and for_bots and not situation.draining and not _bots_done(situation)


def _bots_done(situation: Situation) -> bool:
    return bot_games_today(situation) >= BOT_GAMES_A_DAY or situation.now_ms < situation.no_bots_before_ms


def _unwelcome(offer: Offer, policy: ChallengePolicy, situation: Situation) -> bool:
    """Whoever is blocked; where there are lists of those allowed, whoever stands on none of them."""
    name = offer.challenger
    if name in policy.block_list or name in situation.blocked:
        return True
    listed = policy.allow_list or policy.online_allow_list
    return bool(listed) and name not in policy.allow_list and name not in situation.allowed


def _too_many(offer: Offer, rules: Rules, situation: Situation) -> bool:
    now_ms, most, age_s = situation.now_ms, rules.max_simultaneous_games_per_user, rules.recent_challenge_age
    if most is not None and situation.with_challenger >= most:
        return True
    if rules.max_recent_challenges is not None and age_s is not None:
        recent = sum(1 for at_ms in situation.accepted_ms if now_ms - at_ms < 1000 * age_s)
        if recent >= rules.max_recent_challenges:
            return True
    return False


def _no_more_bots(offer: Offer, situation: Situation) -> bool:
    return offer.from_bot and _bots_done(situation)


def _slot_free(offer: Offer, policy: ChallengePolicy, situation: Situation) -> bool:
    """Bots leave the slots that are kept for people, whoever has those now."""
    for_bots = policy.concurrency - policy.games_reserved_for_humans
    return situation.taken_slots < policy.concurrency and (not offer.from_bot or situation.bot_slots < for_bots)
