"""An account's door: from a challenge to its slot, or to the reason why not.

A slot is reserved before an acceptance is sent and given back when the platform's game ends, the acceptance is refused,
the challenge is withdrawn, or the game never starts. Nothing here waits for the network while the event stream is read.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import structlog

from bridge import event_types, history
from bridge.account_log import AccountLog
from bridge.decisions.challenge import (
    DAY_MS,
    Accept,
    Answer,
    ChallengePolicy,
    Decline,
    Situation,
    Wait,
    answer,
    has_room_for_bot,
)
from bridge.decisions.challenge_queue import Waiting, in_order
from bridge.decisions.challenge_rules import Offer
from bridge.decisions.pool_choice import Terms
from bridge.errors import DailyLimit, PlatformError, RateLimited, Refused
from bridge.forgetting import forget_oldest
from bridge.history import Accepted
from bridge.interfaces import AcceptChallenge, Challenge, DeclineChallenge, Player
from bridge.name_lists import NameLists
from bridge.session import BotAccount
from bridge.slots import Guest, Slots
from bridge.tasks import Tasks

log = structlog.get_logger("kirichess_lobby")

_LEASE_S = 60.0
"""How long an accepted challenge may take to become a game before its slot is given back."""
_ACCEPT_FOR_S = 90.0
"""How long an acceptance that is held up is tried for: challenges seldom live longer."""
_ACCEPT_AGAIN_S = 1.0
_RATE_LIMIT_S = 60.0
"""After a 429 without a figure (Lichess API, limits)."""

_REMEMBERED = 1000
"""Ids kept to know a repeated event by; a platform repeats only what is recent."""


class Doorkeeper:
    """Answers the challenges of one account. `is_ours`: whether a player is another account of this configuration.

    `bot_games_ms`: when the account's games against bots began, on the wall clock; `no_bots_before_ms`: until then the
    platform wants no more of them.
    """

    def __init__(
        self,
        bot: BotAccount,
        policy: ChallengePolicy,
        pool_of: Callable[[Terms], str | None],
        slots: Slots,
        lists: NameLists,
        is_ours: Callable[[Player], bool],
    ) -> None:
        self._bot = bot
        self._account = AccountLog(bot.name, bot.journal)
        self._policy = policy
        self._pool_of = pool_of
        self._slots = slots
        self._lists = lists
        self._is_ours = is_ours
        self._tasks = Tasks()
        self._answered: deque[str] = deque(maxlen=_REMEMBERED)
        self._waiting: dict[str, tuple[Waiting, Challenge]] = {}
        self._came = 0
        self._accepted_ms: deque[tuple[str, int]] = deque(maxlen=_REMEMBERED)
        self._rematches: dict[str, int] = {}
        """How many rematches in a row a recent game is."""
        self._draining = False
        self.bot_games_ms: list[int] = []
        self.no_bots_before_ms = 0
        self.set_policy(policy)

    @property
    def queued(self) -> int:
        """The challenges that wait for a slot."""
        return len(self._waiting)

    @property
    def free(self) -> int:
        """Slots that are free now."""
        most = self._policy.concurrency
        return max(0, most - self._slots.taken_of(most))

    def set_policy(self, policy: ChallengePolicy, pool_of: Callable[[Terms], str | None] | None = None) -> None:
        """From the next challenge on; those that wait are looked at again."""
        self._policy = policy
        self._pool_of = pool_of or self._pool_of
        for name, (one, challenge) in self._waiting.items():
            self._waiting[name] = (replace(one, offer=self._offer(challenge)), challenge)
        self._lists.names(policy.online_block_list + policy.online_allow_list)
        self.admit()

    def drain(self) -> None:
        """Accept nothing more; those that wait are told so."""
        self._draining = True
        self.admit()

    async def recall(self) -> None:
        """What the journal has of challenges that were accepted: windows and rematches go on. Raises JournalError."""
        since_ms = self._bot.wall_ms() - self._policy.window_ms
        for one in await history.accepted(self._bot.journal, self._bot.name, since_ms):
            self._note(one)

    async def end(self) -> None:
        """Stop whatever is under way."""
        await self._tasks.end()

    async def received(self, challenge: Challenge) -> None:
        """Answer a challenge, once however often it is told."""
        if challenge.id in self._answered or challenge.challenger.id == self._bot.name.lower():
            return
        self._answered.append(challenge.id)
        offer = self._offer(challenge)
        decision = self._answer(offer)
        if isinstance(decision, Accept):
            self._slots.reserve(challenge.id, _guest(offer))
        if not await self._account.store(event_types.CHALLENGE_RECEIVED, challenge.id, _about(challenge)):
            # A game that cannot be stored is not begun.
            self._slots.release(challenge.id)
            decision = decision if isinstance(decision, Decline) else Decline("later")
        if isinstance(decision, Wait):
            self._came += 1
            self._waiting[challenge.id] = (Waiting(challenge.id, self._came, offer), challenge)
            self._tasks.spawn(self._wait_out(challenge.id, self._policy.queue_ms))
            self.admit()
        else:
            self._act(challenge, offer, decision)

    def gone(self, challenge_id: str) -> None:
        """It was withdrawn, or has lapsed."""
        self._waiting.pop(challenge_id, None)
        self._slots.release(challenge_id)

    def admit(self) -> None:
        """Look again at those that wait: a slot may be free, or they may not be wanted any more."""
        waiting = [one for one, _ in self._waiting.values()]
        for one in in_order(waiting, self._policy.sort_by, self._policy.preference):
            decision = self._answer(one.offer, waiting=one.id)
            if not isinstance(decision, Wait):
                _, challenge = self._waiting.pop(one.id)
                if isinstance(decision, Accept):
                    self._slots.reserve(one.id, _guest(one.offer))
                self._act(challenge, one.offer, decision)

    async def _wait_out(self, challenge_id: str, wait_ms: int) -> None:
        await asyncio.sleep(wait_ms / 1000)
        if (found := self._waiting.pop(challenge_id, None)) is not None:
            await self._decline(found[1], "later")

    # -- deciding ------------------------------------------------------------------------------------------------

    def _offer(self, challenge: Challenge) -> Offer:
        control, player = challenge.time_control, challenge.challenger
        terms = Terms(control, player.id.lower(), player.is_bot, challenge.variant, challenge.speed)
        return Offer(
            *(challenge.variant, challenge.rated, control, player.is_bot, self._pool_of(terms)),
            speed=challenge.speed,
            days=challenge.days,
            challenger=player.id.lower(),
            titled=bool(player.title) and not player.is_bot,
            rating=player.rating,
            own_rating=challenge.opponent.rating,
            rematches=self._in_a_row(challenge.rematch_of),
            ours=self._is_ours(player),
        )

    def _answer(self, offer: Offer, waiting: str = "") -> Answer:
        return answer(offer, self._policy, self._situation(offer.challenger, waiting))

    def _situation(self, challenger: str, waiting: str) -> Situation:
        """`waiting` is the challenge that is looked at again, if it waits: it does not stand in its own way."""
        now_ms = self._bot.wall_ms()
        self.bot_games_ms = [started_ms for started_ms in self.bot_games_ms if now_ms - started_ms < DAY_MS]
        others = [one for one, _ in self._waiting.values() if one.id != waiting]
        theirs = sum(one.offer.challenger == challenger for one in others)
        return Situation(
            *(
                self._slots.taken_of(self._policy.concurrency),
                now_ms,
                self._draining,
                self.bot_games_ms,
                self.no_bots_before_ms,
            ),
            bot_slots=self._slots.bots,
            queued=len(others),
            with_challenger=self._slots.with_opponent(challenger) + theirs,
            accepted_ms=[at_ms for name, at_ms in self._accepted_ms if name == challenger],
            blocked=self._lists.names(self._policy.online_block_list),
            allowed=self._lists.names(self._policy.online_allow_list),
        )

    def _act(self, challenge: Challenge, offer: Offer, decision: Accept | Decline) -> None:
        if isinstance(decision, Decline):
            self._tasks.spawn(self._decline(challenge, decision.reason))
            return
        self._note(Accepted(challenge.id, offer.challenger, self._bot.wall_ms(), challenge.rematch_of))
        self._tasks.spawn(self._accept(challenge, decision.pool))

    def _note(self, accepted: Accepted) -> None:
        self._accepted_ms.append((accepted.challenger, accepted.at_ms))
        self._rematches[accepted.id] = self._in_a_row(accepted.rematch_of)
        forget_oldest(self._rematches, _REMEMBERED)

    def _in_a_row(self, rematch_of: str) -> int:
        return self._rematches.get(rematch_of, 0) + 1 if rematch_of else 0

    def may_challenge(self) -> bool:
        """Whether the account may challenge a bot now: a slot that bots get is free, and the day has games left."""
        return has_room_for_bot(self._policy, self._situation("", ""))

    def may_join(self) -> bool:
        """Whether a slot is free for a tournament, whose games no daily limit counts."""
        return not self._draining and self._slots.taken_of(self._policy.concurrency) < self._policy.concurrency

    # -- acting --------------------------------------------------------------------------------------------------

    async def _accept(self, challenge: Challenge, pool: str | None) -> None:
        """Hold a slot: until the game starts, or the challenge is gone, or nothing came of it."""
        if not await self._accepted(challenge):
            self._slots.release(challenge.id)
            return
        if challenge.challenger.is_bot:
            self.bot_games_ms.append(self._bot.wall_ms())
        data: dict[str, object] = {} if pool is None else {"pool": pool}
        await self._account.store(event_types.CHALLENGE_ACCEPTED, challenge.id, data)
        if challenge.id in self._slots.reserved:
            await asyncio.sleep(_LEASE_S)
            self._slots.release(challenge.id)

    async def _accepted(self, challenge: Challenge) -> bool:
        """Ask until there is an answer; after one that did not come, the game may begin nevertheless."""
        loop, uncertain = asyncio.get_running_loop(), False
        give_up_s = loop.time() + _ACCEPT_FOR_S
        while challenge.id in self._slots.reserved:
            try:
                await self._bot.platform.perform(AcceptChallenge(challenge.id))
                return True
            except PlatformError as error:
                log.warning("accept_failed", challenge=challenge.id, cause=str(error))
                if isinstance(error, DailyLimit):
                    self.hold_bots(error)
                    return False
                if isinstance(error, Refused):
                    return uncertain
                uncertain = uncertain or not isinstance(error, RateLimited)
                wait_s = _wait_s(error)
            if loop.time() + wait_s > give_up_s:
                # Should it be told again, it is answered again.
                self._forget(challenge.id)
                return uncertain
            await asyncio.sleep(wait_s)
        return challenge.id in self._slots.games

    def _forget(self, challenge_id: str) -> None:
        if challenge_id in self._answered:
            self._answered.remove(challenge_id)

    def hold_bots(self, limit: DailyLimit) -> None:
        """No games against bots until the platform wants them again, if the limit is ours."""
        if limit.ours:
            wait_s = _RATE_LIMIT_S if limit.retry_after_s is None else limit.retry_after_s
            self.no_bots_before_ms = self._bot.wall_ms() + round(1000 * wait_s)

    async def _decline(self, challenge: Challenge, reason: str) -> None:
        try:
            await self._bot.platform.perform(DeclineChallenge(challenge.id, reason))
        except PlatformError as error:
            # An unanswered challenge lapses by itself.
            log.warning("decline_failed", challenge=challenge.id, cause=str(error))
        await self._account.store(event_types.CHALLENGE_DECLINED, challenge.id, {"reason": reason})


def _guest(offer: Offer) -> Guest:
    return Guest(offer.challenger, offer.from_bot)


def _wait_s(error: PlatformError) -> float:
    if not isinstance(error, RateLimited):
        return _ACCEPT_AGAIN_S
    return _RATE_LIMIT_S if error.retry_after_s is None else error.retry_after_s


def _about(challenge: Challenge) -> dict[str, object]:
    control = challenge.time_control
    about: dict[str, object] = {
        "challenger": challenge.challenger.name,
        "title": challenge.challenger.title,
        "variant": challenge.variant,
        "rated": challenge.rated,
        "time_control": None
        if control is None
        else {"initial_ms": control.initial_ms, "increment_ms": control.increment_ms},
    }
    if challenge.days is not None:
        about["days"] = challenge.days
    if challenge.rematch_of:
        about["rematch_of"] = challenge.rematch_of
    return about
