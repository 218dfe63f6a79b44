"""One account's door: challenges in, games started, slots counted.

A slot is reserved before an acceptance is sent and given back when the game ends, the acceptance fails, the challenge
is withdrawn, or the game never starts. Nothing here waits for the network while it reads the event stream.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Protocol

import structlog

from bridge import event_types
from bridge.decisions.challenge import Accept, Answer, ChallengePolicy, Decline, Offer, Situation, answer
from bridge.errors import BridgeError, PlatformError, RateLimited
from bridge.interfaces import (
    AcceptChallenge,
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    Connected,
    DeclineChallenge,
    Disconnected,
    Draft,
    GameFinished,
    GameStarted,
)
from bridge.rules.snapshot import TimeControl
from bridge.session import BotAccount

log = structlog.get_logger("kirichess_lobby")

_LEASE_S = 60.0
"""How long an accepted challenge may take to become a game before its slot is given back."""


_REMEMBERED = 1000
"""Ids kept to know a repeated event by; a platform repeats only what is recent."""

_SESSION_TRIES = 5


class Running(Protocol):
    """What the lobby needs of a game."""

    async def run(self) -> None:
        """Play to the end."""


class Lobby:
    """The account stream of one bot. `open_session` makes a game's session; `wall_ms` is the wall clock, for dates."""

    def __init__(
        self,
        bot: BotAccount,
        policy: ChallengePolicy,
        pool_of: Callable[[TimeControl | None], str | None],
        open_session: Callable[[str], Running],
        wall_ms: Callable[[], int],
    ) -> None:
        self._bot = bot
        self._policy = policy
        self._pool_of = pool_of
        self._open_session = open_session
        self._wall_ms = wall_ms
        self._reserved: dict[str, asyncio.TimerHandle] = {}
        self._games: dict[str, asyncio.Task[None]] = {}
        self._finished: deque[str] = deque(maxlen=_REMEMBERED)
        self._answered: deque[str] = deque(maxlen=_REMEMBERED)
        self._errands: set[asyncio.Task[None]] = set()
        self._bot_games_ms: list[int] = []
        self._draining = False
        self._idle = asyncio.Event()
        self._idle.set()
        self.name = bot.name
        self.online = False
        self.trouble = "not connected yet"

    @property
    def games(self) -> tuple[str, ...]:
        """The running games."""
        return tuple(self._games)

    async def run(self) -> None:
        """Follow the account for ever."""
        await self._count_bot_games()
        try:
            async for event in self._bot.platform.account_events():
                match event:
                    case ChallengeReceived():
                        await self._challenged(event.challenge)
                    case ChallengeGone():
                        self._release(event.challenge_id)
                    case GameStarted():
                        self._start(event.game_id)
                    case GameFinished():
                        self._release(event.game_id)
                    case Connected():
                        await self._went(online=True, reason="")
                    case Disconnected():
                        await self._went(online=False, reason=event.reason)
        finally:
            for task in (*self._games.values(), *self._errands):
                task.cancel()
            await asyncio.gather(*self._games.values(), *self._errands, return_exceptions=True)

    async def drain(self) -> None:
        """Take no more challenges; return when the running games are over."""
        self._draining = True
        await self._idle.wait()

    # -- challenges ----------------------------------------------------------------------------------------------

    async def _challenged(self, challenge: Challenge) -> None:
        if challenge.id in self._answered or challenge.challenger.id == self._bot.name.lower():
            return
        self._answered.append(challenge.id)
        offer = Offer(
            challenge.variant,
            challenge.rated,
            challenge.time_control,
            challenge.challenger.is_bot,
            self._pool_of(challenge.time_control),
        )
        situation = Situation(
            len(self._reserved) + len(self._games), self._wall_ms(), self._draining, self._bot_games_ms
        )
        decision = answer(offer, self._policy, situation)
        if isinstance(decision, Accept):
            self._reserve(challenge.id)
        await self._journal(event_types.CHALLENGE_RECEIVED, challenge.id, _about(challenge))
        self._spawn(self._reply(challenge, decision))

    async def _reply(self, challenge: Challenge, decision: Answer) -> None:
        match decision:
            case Accept(pool):
                try:
                    await self._bot.platform.perform(AcceptChallenge(challenge.id))
                except PlatformError as error:
                    self._release(challenge.id)
                    if isinstance(error, RateLimited):
                        self._answered.remove(challenge.id)
                    log.warning("accept_failed", challenge=challenge.id, cause=str(error))
                    return
                if challenge.challenger.is_bot:
                    self._bot_games_ms.append(self._wall_ms())
                await self._journal(event_types.CHALLENGE_ACCEPTED, challenge.id, {"pool": pool})
            case Decline(reason):
                try:
                    await self._bot.platform.perform(DeclineChallenge(challenge.id, reason))
                except PlatformError as error:
                    # An unanswered challenge lapses by itself.
                    log.warning("decline_failed", challenge=challenge.id, cause=str(error))
                await self._journal(event_types.CHALLENGE_DECLINED, challenge.id, {"reason": reason})

    def _reserve(self, challenge_id: str) -> None:
        loop = asyncio.get_running_loop()
        self._reserved[challenge_id] = loop.call_later(_LEASE_S, self._release, challenge_id)
        self._idle.clear()

    def _release(self, challenge_id: str) -> None:
        lease = self._reserved.pop(challenge_id, None)
        if lease is not None:
            lease.cancel()
        self._settle()

    def _settle(self) -> None:
        if not self._games and not self._reserved:
            self._idle.set()

    # -- games ---------------------------------------------------------------------------------------------------

    def _start(self, game_id: str) -> None:
        """Start a game once, however often it is told; a challenge's id becomes its game's."""
        if game_id in self._games or game_id in self._finished:
            self._release(game_id)
            return
        self._idle.clear()
        self._games[game_id] = asyncio.create_task(self._play(game_id))
        self._release(game_id)

    async def _play(self, game_id: str) -> None:
        try:
            for attempt in range(_SESSION_TRIES):
                if await self._run_session(game_id):
                    break
                await asyncio.sleep(2**attempt)
        finally:
            self._games.pop(game_id, None)
            self._finished.append(game_id)
            self._settle()

    async def _run_session(self, game_id: str) -> bool:
        """True when the game is over; False when its session broke and the game may still run."""
        try:
            await self._open_session(game_id).run()
        except BridgeError as error:
            log.error("game_failed", game=game_id, cause=str(error))
            return False
        except Exception:
            # One game's fault must not end the others: it is told with its trace, and the game taken up again.
            log.exception("game_crashed", game=game_id)
            return False
        return True

    # -- the day's count and the journal -------------------------------------------------------------------------

    async def _count_bot_games(self) -> None:
        """Games against bots, from the journal: the platform's daily limit outlives a restart."""
        after = 0
        while page := await self._bot.journal.read(types=[event_types.GAME_STARTED], after=after):
            after = page[-1].seq
            self._bot_games_ms += [
                entry.time_ms
                for entry in page
                if entry.data.get("white_title") == entry.data.get("black_title") == "BOT"
                and self._bot.name in (entry.data.get("white"), entry.data.get("black"))
            ]

    async def _went(self, *, online: bool, reason: str) -> None:
        if online == self.online:
            return
        self.online = online
        self.trouble = reason
        kind = event_types.ACCOUNT_ONLINE if online else event_types.ACCOUNT_OFFLINE
        await self._journal(kind, "", {"reason": reason} if reason else {})

    async def _journal(self, kind: str, subject: str, data: dict[str, object]) -> None:
        await self._bot.journal.append([Draft(kind, subject, data, self._bot.name)])

    def _spawn(self, errand: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)


def _about(challenge: Challenge) -> dict[str, object]:
    control = challenge.time_control
    return {
        "challenger": challenge.challenger.name,
        "title": challenge.challenger.title,
        "variant": challenge.variant,
        "rated": challenge.rated,
        "time_control": None
        if control is None
        else {"initial_ms": control.initial_ms, "increment_ms": control.increment_ms},
    }
