"""Which challenges to accept: a pure answer to one challenge, with Lichess's own decline reasons."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from bridge.rules.snapshot import TimeControl

BOT_GAMES_A_DAY = 100
"""Games against other bots that Lichess allows in 24 hours, for either side (`bot.vsBot.day`)."""

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Offer:
    """What matters of a challenge."""

    variant: str
    rated: bool
    time_control: TimeControl | None
    from_bot: bool
    pool: str | None
    """The pool its time control maps to, None if none."""


@dataclass(frozen=True, slots=True)
class ChallengePolicy:
    """What an account plays. Rated challenges are never taken: KiriChess acts only in casual games."""

    variants: frozenset[str] = frozenset({"standard", "chess960", "fromPosition"})
    accept_bots: bool = True
    accept_humans: bool = True
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class Situation:
    """What the account is doing now. `bot_games_ms`: when its games against bots started, on the wall clock;
    `no_bots_before_ms`: until then the platform wants no more of them."""

    taken_slots: int
    now_ms: int
    draining: bool = False
    bot_games_ms: Sequence[int] = field(default=())
    no_bots_before_ms: int = 0


@dataclass(frozen=True, slots=True)
class Accept:
    pool: str


@dataclass(frozen=True, slots=True)
class Decline:
    """`reason` is one of Lichess's decline reasons."""

    reason: str


Answer: TypeAlias = Accept | Decline


def answer(offer: Offer, policy: ChallengePolicy, situation: Situation) -> Answer:
    """Accept only what can be played and refereed now; the slot must be reserved before the acceptance is sent."""
    if offer.rated:
        return Decline("casual")
    if offer.variant not in policy.variants:
        return Decline("variant" if len(policy.variants) > 1 else "standard")
    if offer.from_bot and not policy.accept_bots:
        return Decline("noBot")
    if not offer.from_bot and not policy.accept_humans:
        return Decline("onlyBot")
    if offer.time_control is None or offer.pool is None:
        return Decline("timeControl")
    if situation.draining or situation.taken_slots >= policy.concurrency:
        return Decline("later")
    if offer.from_bot and (
        bot_games_today(situation) >= BOT_GAMES_A_DAY or situation.now_ms < situation.no_bots_before_ms
    ):
        return Decline("later")
    return Accept(offer.pool)


def bot_games_today(situation: Situation) -> int:
    """Games against bots started in the last 24 hours."""
    return sum(1 for started_ms in situation.bot_games_ms if situation.now_ms - started_ms < DAY_MS)
