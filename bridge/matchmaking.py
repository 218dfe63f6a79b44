"""An account's own challenges to other bots: offered when there is time for a game, and what became of each remembered.

A challenge holds a slot from before it is sent until it is a game, is answered, or has had its time. The memory is
the journal's: a restart forgets no decline.
"""

import asyncio
from collections.abc import Callable
from random import random

import structlog

from bridge import event_types, history
from bridge.account_log import AccountLog
from bridge.decisions.challenge import DAY_MS
from bridge.decisions.matchmaking import Answered, Bot, MatchPolicy, Outcome, Proposal, choose, due
from bridge.errors import DailyLimit, JournalError, PlatformError, RateLimited, Refused
from bridge.interfaces import AccountEvent, ChallengeGone, Entry, GameStarted
from bridge.lobby import Lobby
from bridge.pairing import Pairing, RatedBot
from bridge.rules.snapshot import TimeControl
from bridge.session import BotAccount
from bridge.slots import Guest

log = structlog.get_logger("kirichess_matchmaking")

_LOOK_S = 1.0
_RECALL_S = 30.0
"""Between looks at whether it is time."""
_LEASE_S = 25.0
"""How long an offer stands: without an answer Lichess lets it lapse after 20 s."""
_PROBES = 5
"""Opponents that are looked at in one round: the first of them that is free is challenged."""
_PAUSES_S = (60, 600)
"""After a 429 without a figure, doubled while they go on."""
_DENIED_S = 600
"""After a token was refused."""
_OWN_RATING_MS = 600_000
_LIMIT_MS = 3_600_000
"""After an opponent's daily limit without a figure."""


class Matchmaker:
    """Challenges bots for one account. `policy` None: it does not, now. `blocked`: more ids that never are."""

    def __init__(
        self,
        bot: BotAccount,
        lobby: Lobby,
        pairing: Pairing,
        policy: MatchPolicy | None,
        blocked: Callable[[], frozenset[str]],
        clock: Callable[[], int],
        draw: Callable[[], float] = random,
    ) -> None:
        self._bot = bot
        self._lobby = lobby
        self._pairing = pairing
        self._blocked = blocked
        self._clock = clock
        self._draw = draw
        self._account = AccountLog(bot.name, bot.journal)
        self._memory: list[Answered] = []
        self._heard: dict[str, str] = {}
        """What the account's stream has said of challenges and games since the offer that is made; "": it is a game."""
        self._offers = False
        self._news = asyncio.Event()
        self._ending = False
        self._asked_ms = self._played_ms = clock()
        self._pause_until_ms = 0
        self._me: Bot | None = None
        self._me_ms = 0
        self._limited = 0
        self.policy = policy
        lobby.listeners.append(self._hear)

    async def _recalled(self) -> list[Answered]:
        """What came of offers before a restart: nobody is challenged until that is known."""
        while True:
            since_ms = self._bot.wall_ms() - 2 * DAY_MS
            try:
                found = await history.challenges_answered(self._bot.journal, self._bot.name, since_ms)
                return [_remembered(entry) for entry in found]
            except JournalError as error:
                log.error("matchmaking_waits", account=self._bot.name, cause=str(error), again_in_s=_RECALL_S)
                await asyncio.sleep(_RECALL_S)

    async def run(self) -> None:
        """Challenge for ever."""
        self._memory = await self._recalled()
        while True:
            await asyncio.sleep(_LOOK_S)
            policy = self.policy
            if policy is not None and self._is_time(policy):
                self._asked_ms = self._clock()
                try:
                    await self._round(policy)
                except PlatformError as error:
                    self._pause(error)
                except Exception:
                    # One round's fault must not end the search for good: it is told with its trace.
                    log.exception("matchmaking_crashed", account=self._bot.name)
                    self._pause_until_ms = self._clock() + 1000 * _DENIED_S

    def drain(self) -> None:
        """Challenge nobody more, and take back what stands."""
        self._ending = True
        self._news.set()

    def _is_time(self, policy: MatchPolicy) -> bool:
        now_ms, games = self._clock(), len(self._lobby.games)
        if games:
            self._played_ms = now_ms
        since_ms = now_ms - self._asked_ms
        if not due(policy, games=games, idle_ms=now_ms - self._played_ms, since_challenge_ms=since_ms):
            return False
        ready = self._lobby.online and now_ms >= self._pause_until_ms and not self._ending
        return ready and self._lobby.doorkeeper.may_challenge()

    def _pause(self, error: PlatformError) -> None:
        log.warning("matchmaking_failed", account=self._bot.name, cause=str(error))
        wait_s = 0.0
        if isinstance(error, DailyLimit):
            self._lobby.doorkeeper.hold_bots(error)
        elif isinstance(error, RateLimited):
            first, longest = _PAUSES_S
            wait_s = min(longest, first * 2**self._limited) if error.retry_after_s is None else error.retry_after_s
            self._limited = min(10, self._limited + 1)
        elif isinstance(error, Refused):
            wait_s = _DENIED_S
        self._pause_until_ms = self._clock() + round(1000 * wait_s)

    # -- one round -----------------------------------------------------------------------------------------------

    async def _round(self, policy: MatchPolicy) -> None:
        bots = [_bot(bot) for bot in await self._pairing.online_bots()]
        me = await self._myself()
        blocked = self._blocked()
        for _ in range(_PROBES):
            bots = [bot for bot in bots if bot.id not in blocked]
            proposal = choose(policy, bots, me, self._memory, self._bot.wall_ms(), self._draw)
            if proposal is None:
                return
            if await self._pairing.is_free(proposal.opponent):
                # What became free or taken meanwhile counts, not what was so before the requests.
                if self._lobby.doorkeeper.may_challenge() and not self._ending:
                    await self._offer(proposal)
                return
            blocked |= {proposal.opponent}

    async def _myself(self) -> Bot:
        """Our own ratings, of late: Lichess does not like to be asked for them often."""
        if self._me is None or self._clock() - self._me_ms >= _OWN_RATING_MS:
            self._me, self._me_ms = _bot(await self._pairing.me()), self._clock()
        return self._me

    async def _offer(self, proposal: Proposal) -> None:
        slots, slot = self._lobby.slots, f"challenge to {proposal.opponent}"
        guest = Guest(proposal.opponent, is_bot=True)
        self._heard.clear()
        self._offers = True
        slots.reserve(slot, guest)
        try:
            challenge_id = await self._send(proposal)
            if challenge_id is None:
                return
            if challenge_id not in slots.games:
                slots.reserve(challenge_id, guest)
            slots.release(slot)
            try:
                await self._account.store(event_types.CHALLENGE_SENT, challenge_id, _about(proposal))
                outcome, reason = await self._answer(challenge_id)
            finally:
                slots.release(challenge_id)
            await self._remember(proposal, outcome, challenge_id, reason=reason)
        finally:
            self._offers = False
            slots.release(slot)

    async def _send(self, proposal: Proposal) -> str | None:
        """None: there is no challenge. Raises PlatformError: nor should there be one soon."""
        try:
            challenge_id = await self._pairing.challenge(
                proposal.opponent,
                rated=proposal.rated,
                time_control=proposal.clock,
                days=proposal.days,
                color=proposal.color,
                variant=proposal.variant,
            )
        except DailyLimit as error:
            if error.ours:
                raise
            wait_ms = _LIMIT_MS if error.retry_after_s is None else round(1000 * error.retry_after_s)
            await self._remember(proposal, "limit", "", reason=str(error), wait_ms=wait_ms)
        except Refused as error:
            if error.status in (401, 403):
                raise
            await self._remember(proposal, "refused", "", reason=str(error))
        except RateLimited:
            raise
        except PlatformError as error:
            log.warning("challenge_without_answer", account=self._bot.name, cause=str(error))
            outcome: Outcome = "accepted" if await self._begun(proposal.opponent) else "lapsed"
            await self._remember(proposal, outcome, "", reason=str(error))
        else:
            self._limited = 0
            return challenge_id
        return None

    # -- the answer ----------------------------------------------------------------------------------------------

    def _hear(self, event: AccountEvent) -> None:
        if not self._offers:
            return
        if isinstance(event, GameStarted):
            self._heard[event.game_id] = ""
        elif isinstance(event, ChallengeGone):
            self._heard[event.challenge_id] = event.reason or "declined"
        else:
            return
        self._news.set()

    async def _answer(self, challenge_id: str) -> tuple[Outcome, str]:
        """What became of it; an offer without an answer is taken back."""
        if not await self._told(challenge_id, self._lease_s):
            taken_back = await self._taken_back(challenge_id)
            if not taken_back:
                # It is a game, or may be one: the stream is about to tell, or does when it is back.
                await self._told(challenge_id, _LEASE_S)
            if taken_back is False:
                return "accepted", ""
        reason = self._heard.get(challenge_id, "canceled")
        if not reason:
            return "accepted", ""
        return ("lapsed", "") if reason == "canceled" else ("declined", reason)

    @property
    def _lease_s(self) -> float:
        wanted_ms = None if self.policy is None else self.policy.lease_ms
        return _LEASE_S if wanted_ms is None else wanted_ms / 1000

    async def _told(self, challenge_id: str, lease_s: float) -> bool:
        try:
            async with asyncio.timeout(lease_s):
                while challenge_id not in self._heard and not self._ending:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return challenge_id in self._heard

    async def _begun(self, opponent: str) -> bool:
        """Whether an offer that nobody told us of has become a game: its slot is kept for as long as it could."""
        try:
            async with asyncio.timeout(_LEASE_S):
                while not any(guest.opponent == opponent for guest in self._lobby.slots.games.values()):
                    self._news.clear()
                    await self._news.wait()
                    # The lobby acts on what it hears after we have.
                    await asyncio.sleep(0)
        except TimeoutError:
            return False
        return True

    async def _taken_back(self, challenge_id: str) -> bool | None:
        """False: it is a game. None: nobody knows; if it is none, it lapses by itself."""
        try:
            return await self._pairing.take_back(challenge_id)
        except PlatformError as error:
            log.info("offer_not_taken_back", challenge=challenge_id, cause=str(error))
            return True if isinstance(error, Refused) else None

    async def _remember(
        self, proposal: Proposal, outcome: Outcome, challenge_id: str, *, reason: str, wait_ms: int = 0
    ) -> None:
        now_ms = self._bot.wall_ms()
        self._memory = [answer for answer in self._memory if now_ms - answer.at_ms < 2 * DAY_MS]
        self._memory.append(_answered(proposal, outcome, now_ms, wait_ms))
        if outcome == "accepted":
            self._lobby.doorkeeper.bot_games_ms.append(now_ms)
        data = {**_about(proposal), "outcome": outcome, "wait_ms": wait_ms, "reason": reason}
        await self._account.store(event_types.CHALLENGE_ANSWERED, challenge_id, data)


def _bot(bot: RatedBot) -> Bot:
    return Bot(bot.id, bot.ratings, bot.games)


def _answered(proposal: Proposal, outcome: Outcome, now_ms: int, wait_ms: int) -> Answered:
    terms = (proposal.opponent, proposal.kind, proposal.perf, proposal.rated, proposal.color)
    return Answered(now_ms, *terms, outcome, wait_ms, proposal.clock, proposal.days)


def _about(proposal: Proposal) -> dict[str, object]:
    clock = proposal.clock
    return {
        "opponent": proposal.opponent,
        "kind": proposal.kind,
        "perf": proposal.perf,
        "variant": proposal.variant,
        "rated": proposal.rated,
        "color": proposal.color,
        "days": proposal.days,
        "time_control": None if clock is None else {"initial_ms": clock.initial_ms, "increment_ms": clock.increment_ms},
    }


def _remembered(entry: Entry) -> Answered:
    """Raises JournalError: an entry that is none of ours."""
    data = entry.data
    outcome, wait_ms = data.get("outcome"), data.get("wait_ms")
    for known in ("accepted", "declined", "lapsed", "refused", "limit"):
        if outcome == known and isinstance(wait_ms, int):
            return Answered(
                at_ms=entry.time_ms,
                opponent=str(data.get("opponent", "")),
                kind=str(data.get("kind", "")),
                perf=str(data.get("perf", "")),
                rated=bool(data.get("rated")),
                color=str(data.get("color", "")),
                outcome=known,
                wait_ms=wait_ms,
                clock=_clock(data.get("time_control")),
                days=days if isinstance(days := data.get("days"), int) else None,
            )
    raise JournalError(f"entry {entry.seq} of the journal tells of a challenge in a way that is not known here")


def _clock(told: object) -> TimeControl | None:
    if not isinstance(told, dict):
        return None
    return TimeControl(int(told["initial_ms"]), int(told["increment_ms"]))
