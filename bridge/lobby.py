"""One account's door: challenges in, games started, slots counted.

A slot is reserved before an acceptance is sent and given back when the platform's game ends, the acceptance is refused,
the challenge is withdrawn, or the game never starts. Nothing here waits for the network while it reads the event
stream.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import aclosing
from enum import Enum, auto
from functools import partial
from typing import Protocol

import structlog

from bridge import event_types, history
from bridge.decisions.challenge import DAY_MS, Accept, ChallengePolicy, Decline, Offer, Situation, answer
from bridge.errors import BridgeError, DailyLimit, JournalError, PlatformError, RateLimited, Refused
from bridge.interfaces import (
    AcceptChallenge,
    AccountEvent,
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
from bridge.tasks import Tasks

log = structlog.get_logger("kirichess_lobby")

_LEASE_S = 60.0
"""How long an accepted challenge may take to become a game before its slot is given back."""
_ACCEPT_FOR_S = 90.0
"""How long an acceptance that is held up is tried for: challenges seldom live longer."""
_ACCEPT_AGAIN_S = 1.0
_RATE_LIMIT_S = 60.0
"""After a 429 without a figure (Lichess API, limits)."""
_REFUSED_PAUSE_S = 60.0
"""Between looks at whether a token that was refused is valid again."""

_REMEMBERED = 1000
"""Ids kept to know a repeated event by; a platform repeats only what is recent."""

_SESSION_TRIES = 5
"""For a game that is over on the platform, or that it does not know; one that runs is taken up for ever."""
_LONGEST_PAUSE_S = 30


class Running(Protocol):
    """What the lobby needs of a game."""

    async def run(self, over: Callable[[], None]) -> None:
        """Play to the end; `over` is called as soon as the platform's game has ended, whatever is to be said yet.

        Raises:
            Refused: with 404, the platform knows no such game.
            BridgeError: it cannot be read now.
        """

    async def abandon(self) -> None:
        """Judge what is known of a game that the platform does not know any more."""


class _SessionEnd(Enum):
    OVER = auto()
    """With its game."""
    BROKEN = auto()
    """The game may still run."""
    NO_GAME = auto()
    """The platform knows no such game."""


class Lobby:
    """The account stream of one bot. `open_session` makes a game's session."""

    def __init__(
        self,
        bot: BotAccount,
        policy: ChallengePolicy,
        pool_of: Callable[[TimeControl | None], str | None],
        open_session: Callable[[str], Running],
    ) -> None:
        self._bot = bot
        self._policy = policy
        self._pool_of = pool_of
        self._open_session = open_session
        self._reserved: set[str] = set()
        self._games: set[str] = set()
        """The games that hold a slot."""
        self._sessions: set[str] = set()
        """Those, and the ones that are still being judged and told."""
        self._finished: deque[str] = deque(maxlen=_REMEMBERED)
        self._told_finished: deque[str] = deque(maxlen=_REMEMBERED)
        self._answered: deque[str] = deque(maxlen=_REMEMBERED)
        self._tasks = Tasks()
        self._bot_games_ms: list[int] = []
        self._no_bots_before_ms = 0
        self._draining = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._welcome = asyncio.Event()
        self._welcome.set()
        self.name = bot.name
        self.online = self._was_online = False
        self.trouble = "not connected yet"

    @property
    def games(self) -> tuple[str, ...]:
        """The running games."""
        return tuple(self._games)

    async def run(self) -> None:
        """Follow the account for ever.

        Raises:
            Refused: the token may not do this. One that was good and is refused later is looked at again, calmly.
            JournalError: what the journal has of the account cannot be read.
        """
        journal = self._bot.journal
        self._bot_games_ms = await history.bot_games_ms(journal, self.name, self._bot.wall_ms() - DAY_MS)
        for game_id in await history.unfinished(journal, self.name):
            self._start(game_id)
        try:
            while True:
                try:
                    await self._follow()
                    return
                except Refused as error:
                    if not self._was_online:
                        raise
                    self._welcome.clear()
                    if self.trouble != str(error):
                        log.error("account_refused", account=self.name, cause=str(error))
                    await self._went(online=False, reason=str(error))
                    await asyncio.sleep(_REFUSED_PAUSE_S)
        finally:
            await self._tasks.end()

    async def _follow(self) -> None:
        async with aclosing(self._bot.platform.account_events()) as events:
            async for event in events:
                try:
                    await self._take(event)
                except Exception:
                    # One event's fault must not end the games that run.
                    log.exception("account_event_crashed", account=self.name, event_type=type(event).__name__)

    async def _take(self, event: AccountEvent) -> None:
        match event:
            case ChallengeReceived():
                await self._challenged(event.challenge)
            case ChallengeGone():
                self._release(event.challenge_id)
            case GameStarted():
                self._start(event.game_id)
            case GameFinished():
                self._told_finished.append(event.game_id)
                self._release(event.game_id)
            case Connected():
                self._welcome.set()
                await self._went(online=True, reason="")
            case Disconnected():
                await self._went(online=False, reason=event.reason)

    async def drain(self) -> None:
        """Take no more challenges; return when the running games are over."""
        self._draining = True
        await self._idle.wait()

    # -- challenges ----------------------------------------------------------------------------------------------

    async def _challenged(self, challenge: Challenge) -> None:
        if challenge.id in self._answered or challenge.challenger.id == self._bot.name.lower():
            return
        self._answered.append(challenge.id)
        control = challenge.time_control
        offer = Offer(challenge.variant, challenge.rated, control, challenge.challenger.is_bot, self._pool_of(control))
        decision = answer(offer, self._policy, self._situation())
        if isinstance(decision, Accept):
            self._reserved.add(challenge.id)
            self._idle.clear()
        stored = await self._journal(event_types.CHALLENGE_RECEIVED, challenge.id, _about(challenge))
        if isinstance(decision, Decline):
            self._tasks.spawn(self._decline(challenge, decision.reason))
        elif stored:
            self._tasks.spawn(self._accept(challenge, decision.pool))
        else:
            # A game that cannot be stored is not begun.
            self._release(challenge.id)
            self._tasks.spawn(self._decline(challenge, "later"))

    def _situation(self) -> Situation:
        now_ms = self._bot.wall_ms()
        self._bot_games_ms = [started_ms for started_ms in self._bot_games_ms if now_ms - started_ms < DAY_MS]
        taken = len(self._reserved | self._games)
        return Situation(taken, now_ms, self._draining, self._bot_games_ms, self._no_bots_before_ms)

    async def _accept(self, challenge: Challenge, pool: str) -> None:
        """Hold a slot: until the game starts, or the challenge is gone, or nothing came of it."""
        if not await self._accepted(challenge):
            self._release(challenge.id)
            return
        if challenge.challenger.is_bot:
            self._bot_games_ms.append(self._bot.wall_ms())
        await self._journal(event_types.CHALLENGE_ACCEPTED, challenge.id, {"pool": pool})
        if challenge.id in self._reserved:
            await asyncio.sleep(_LEASE_S)
            self._release(challenge.id)

    async def _accepted(self, challenge: Challenge) -> bool:
        """Ask until there is an answer; after one that did not come, the game may begin nevertheless."""
        loop, uncertain = asyncio.get_running_loop(), False
        give_up_s = loop.time() + _ACCEPT_FOR_S
        while challenge.id in self._reserved:
            try:
                await self._bot.platform.perform(AcceptChallenge(challenge.id))
                return True
            except PlatformError as error:
                log.warning("accept_failed", challenge=challenge.id, cause=str(error))
                if isinstance(error, DailyLimit):
                    self._hold_bots(error)
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
        return challenge.id in self._games

    def _forget(self, challenge_id: str) -> None:
        if challenge_id in self._answered:
            self._answered.remove(challenge_id)

    def _hold_bots(self, limit: DailyLimit) -> None:
        if limit.ours:
            wait_s = _RATE_LIMIT_S if limit.retry_after_s is None else limit.retry_after_s
            self._no_bots_before_ms = self._bot.wall_ms() + round(1000 * wait_s)

    async def _decline(self, challenge: Challenge, reason: str) -> None:
        try:
            await self._bot.platform.perform(DeclineChallenge(challenge.id, reason))
        except PlatformError as error:
            # An unanswered challenge lapses by itself.
            log.warning("decline_failed", challenge=challenge.id, cause=str(error))
        await self._journal(event_types.CHALLENGE_DECLINED, challenge.id, {"reason": reason})

    def _release(self, challenge_id: str) -> None:
        self._reserved.discard(challenge_id)
        self._settle()

    def _settle(self) -> None:
        if not self._sessions and not self._reserved:
            self._idle.set()

    # -- games ---------------------------------------------------------------------------------------------------

    def _start(self, game_id: str) -> None:
        """Start a game once, however often it is told; a challenge's id becomes its game's."""
        if game_id not in self._sessions and game_id not in self._finished:
            self._idle.clear()
            self._games.add(game_id)
            self._sessions.add(game_id)
            self._tasks.spawn(self._play(game_id))
        self._release(game_id)

    async def _play(self, game_id: str) -> None:
        """A broken session is followed by another one, for as long as the platform's game runs."""
        try:
            attempt = 0
            while (end := await self._run_session(game_id)) is not _SessionEnd.OVER:
                gone = end is _SessionEnd.NO_GAME
                if attempt >= _SESSION_TRIES and (gone or game_id in self._told_finished):
                    await self._give_up(game_id, gone=gone)
                    return
                await asyncio.sleep(min(_LONGEST_PAUSE_S, 2**attempt))
                # An account that is refused is so in all its games.
                await self._welcome.wait()
                attempt += 1
            self._finished.append(game_id)
        finally:
            self._games.discard(game_id)
            self._sessions.discard(game_id)
            self._settle()
        await self._mark_finished()

    async def _run_session(self, game_id: str) -> _SessionEnd:
        try:
            await self._open_session(game_id).run(partial(self._games.discard, game_id))
        except BridgeError as error:
            log.error("game_failed", game=game_id, cause=str(error))
            return _SessionEnd.NO_GAME if isinstance(error, Refused) and error.status == 404 else _SessionEnd.BROKEN
        except Exception:
            # One game's fault must not end the others: it is told with its trace, and the game taken up again.
            log.exception("game_crashed", game=game_id)
            return _SessionEnd.BROKEN
        return _SessionEnd.OVER

    async def _give_up(self, game_id: str, *, gone: bool) -> None:
        """Should the platform tell of it again, it is played again."""
        log.error("game_given_up", game=game_id)
        if gone:
            try:
                await self._open_session(game_id).abandon()
            except BridgeError as error:
                log.error("game_not_judged", game=game_id, cause=str(error))

    # -- the journal ---------------------------------------------------------------------------------------------

    async def _mark_finished(self) -> None:
        """Where no game runs, a restart need not look further back."""
        try:
            seq = await self._bot.journal.last_seq()
            if not self._sessions:
                await history.all_finished(self._bot.journal, self.name, seq)
        except JournalError as error:
            log.warning("mark_not_stored", account=self.name, cause=str(error))

    async def _went(self, *, online: bool, reason: str) -> None:
        self.trouble = reason
        if online == self.online:
            return
        self.online = online
        self._was_online = self._was_online or online
        kind = event_types.ACCOUNT_ONLINE if online else event_types.ACCOUNT_OFFLINE
        await self._journal(kind, "", {"reason": reason} if reason else {})

    async def _journal(self, kind: str, subject: str, data: dict[str, object]) -> bool:
        """False when the journal did not take it: the account goes on without."""
        try:
            await self._bot.journal.append([Draft(kind, subject, data, self._bot.name)])
        except JournalError as error:
            log.error("event_not_stored", type=kind, subject=subject, cause=str(error))
            return False
        return True


def _wait_s(error: PlatformError) -> float:
    if not isinstance(error, RateLimited):
        return _ACCEPT_AGAIN_S
    return _RATE_LIMIT_S if error.retry_after_s is None else error.retry_after_s


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
