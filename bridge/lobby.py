"""One account: its event stream, and its games from start to end. Nothing here waits for the network while it reads."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import aclosing
from enum import Enum, auto
from functools import partial
from typing import Protocol

import structlog

from bridge import history
from bridge.account_log import AccountLog, Connection
from bridge.check_ins import CheckIns
from bridge.decisions.challenge import DAY_MS, ChallengePolicy
from bridge.decisions.check_in import CORRESPONDENCE
from bridge.decisions.pool_choice import Terms
from bridge.doorkeeper import Doorkeeper
from bridge.errors import BridgeError, JournalError, Refused
from bridge.interfaces import (
    AccountEvent,
    ChallengeGone,
    ChallengeReceived,
    Connected,
    Disconnected,
    GameFinished,
    GameStarted,
    Player,
)
from bridge.name_lists import NameLists
from bridge.session import BotAccount
from bridge.slots import Guest, Slots
from bridge.tasks import Tasks

log = structlog.get_logger("kirichess_lobby")

_REFUSED_PAUSE_S = 60.0
"""Between looks at whether a token that was refused is valid again."""

_REMEMBERED = 1000
"""Ids kept to know a repeated event by; a platform repeats only what is recent."""

_SESSION_TRIES = 5
"""For a game that is over on the platform, or that it does not know; one that runs is taken up for ever."""
_LONGEST_PAUSE_S = 30

_UNKNOWN = Guest()


class Running(Protocol):
    """What the lobby needs of a game."""

    async def run(self, over: Callable[[], None]) -> bool:
        """Play to the end; `over` is called as soon as the platform's game has ended, whatever is to be said yet.

        False: the game is by correspondence, and left until the opponent has moved.

        Raises:
            Refused: with 404, the platform knows no such game.
            BridgeError: it cannot be read now.
        """

    def leave(self) -> None:
        """Leave a game by correspondence as soon as it is not our move; others are played on."""

    async def listen_on(self) -> None:
        """After the end, for a while: answer what is asked only then."""

    async def abandon(self) -> None:
        """Judge what is known of a game that the platform does not know any more."""


class _SessionEnd(Enum):
    OVER = auto()
    """With its game."""
    PARKED = auto()
    """It is by correspondence, and the opponent's move."""
    BROKEN = auto()
    """The game may still run."""
    NO_GAME = auto()
    """The platform knows no such game."""


class Lobby:
    """The account stream of one bot. `open_session` makes a game's session.

    `lists`: names at addresses, fetched by somebody else. `is_ours`: whether a player is an account of ours too.
    """

    def __init__(
        self,
        bot: BotAccount,
        policy: ChallengePolicy,
        pool_of: Callable[[Terms], str | None],
        open_session: Callable[[str], Running],
        *,
        lists: NameLists | None = None,
        is_ours: Callable[[Player], bool] = lambda player: False,
    ) -> None:
        self.bot = bot
        self._open_session = open_session
        self.slots = Slots()
        self.doorkeeper = Doorkeeper(bot, policy, pool_of, self.slots, lists or NameLists(), is_ours)
        self.check_ins = CheckIns(bot, self.slots, lambda: self.doorkeeper.free, self._wake)
        self._sessions: set[str] = set()
        """The games that hold a slot, and the ones that are still being judged and told."""
        self._open: dict[str, Running] = {}
        self._finished: deque[str] = deque(maxlen=_REMEMBERED)
        self._told_finished: deque[str] = deque(maxlen=_REMEMBERED)
        self._tasks = Tasks()
        self._draining = False
        self._idle = asyncio.Event()
        self._welcome = asyncio.Event()
        self._welcome.set()
        self.name = bot.name
        self._connection = Connection(AccountLog(bot.name, bot.journal))
        self.slots.freed = self._freed
        self.listeners: list[Callable[[AccountEvent], None]] = []
        """Told of every event before the lobby acts on it."""

    @property
    def online(self) -> bool:
        """Whether the account's stream is open."""
        return self._connection.online

    @property
    def trouble(self) -> str:
        """Why it is not; empty while it is."""
        return self._connection.trouble

    @property
    def games(self) -> tuple[str, ...]:
        """The running games, without those that are parked."""
        return tuple(self.slots.games)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The running games, and those that are over but not judged, stored and told yet."""
        return tuple(dict.fromkeys((*self.slots.games, *sorted(self._sessions))))

    @property
    def parked(self) -> tuple[str, ...]:
        """Running games by correspondence that were left until the opponent has moved."""
        return tuple(self.slots.parked)

    def set_policy(
        self,
        policy: ChallengePolicy,
        pool_of: Callable[[Terms], str | None] | None = None,
        open_session: Callable[[str], Running] | None = None,
    ) -> None:
        """Another policy, from the next challenge on; games that run go on as they are."""
        self._open_session = open_session or self._open_session
        self.doorkeeper.set_policy(policy, pool_of)

    async def run(self) -> None:
        """Follow the account for ever.

        Raises:
            Refused: the token may not do this. One that was good and is refused later is looked at again, calmly.
            JournalError: what the journal has of the account cannot be read.
        """
        structlog.contextvars.bind_contextvars(account=self.name)
        journal = self.bot.journal
        self.doorkeeper.bot_games_ms = await history.bot_games_ms(journal, self.name, self.bot.wall_ms() - DAY_MS)
        await self.doorkeeper.recall()
        for game_id, has_clock in (await history.unfinished(journal, self.name)).items():
            if has_clock:
                self._start(game_id)
            else:
                self._park(game_id, _UNKNOWN)
        self._tasks.spawn(self.check_ins.run())
        try:
            while True:
                try:
                    await self._follow()
                    return
                except Refused as error:
                    if not self._connection.was_online:
                        raise
                    self._welcome.clear()
                    if self.trouble != str(error):
                        log.error("account_refused", account=self.name, cause=str(error))
                    await self._connection.went(online=False, reason=str(error))
                    await asyncio.sleep(_REFUSED_PAUSE_S)
        finally:
            await self.doorkeeper.end()
            await self._tasks.end()

    async def _follow(self) -> None:
        async with aclosing(self.bot.platform.account_events()) as events:
            async for event in events:
                try:
                    await self._take(event)
                except Exception:
                    # One event's fault must not end the games that run.
                    log.exception("account_event_crashed", account=self.name, event_type=type(event).__name__)

    async def _take(self, event: AccountEvent) -> None:
        for listen in self.listeners:
            listen(event)
        match event:
            case ChallengeReceived():
                await self.doorkeeper.received(event.challenge)
            case ChallengeGone():
                self.doorkeeper.gone(event.challenge_id)
            case GameStarted():
                guest = Guest(event.opponent.id.lower(), event.opponent.is_bot)
                if event.speed == CORRESPONDENCE and not self._is_new(event.game_id):
                    self._park(event.game_id, guest)
                else:
                    self._start(event.game_id, guest)
            case GameFinished():
                self._told_finished.append(event.game_id)
                self.slots.release(event.game_id)
                if event.game_id in self.slots.parked:
                    self._wake(event.game_id)
            case Connected():
                self._welcome.set()
                await self._connection.went(online=True)
            case Disconnected():
                await self._connection.went(online=False, reason=event.reason)

    async def drain(self) -> None:
        """Take no more challenges; return when the running games are over."""
        self._draining = True
        self.doorkeeper.drain()
        for session in self._open.values():
            session.leave()
        self._settle()
        await self._idle.wait()

    def _freed(self) -> None:
        self.doorkeeper.admit()
        self.check_ins.freed()
        self._settle()

    def _settle(self) -> None:
        """Only when draining is it of interest whether anything is left to do."""
        if self._draining and not self._sessions and not self.slots.taken:
            self._idle.set()

    # -- games ---------------------------------------------------------------------------------------------------

    def _start(self, game_id: str, guest: Guest = _UNKNOWN) -> None:
        """Start a game once, however often it is told; a challenge's id becomes its game's."""
        if game_id not in self._sessions and game_id not in self._finished:
            self.slots.started(game_id, guest)
            self._sessions.add(game_id)
            self._tasks.spawn(self._play(game_id))
        elif game_id in self.slots.games and guest.opponent:
            # Those that the journal remembers have their opponents from the stream.
            self.slots.games[game_id] = guest
        self.slots.release(game_id)

    def _is_new(self, game_id: str) -> bool:
        """Whether a slot is kept for it, or it is open: any other game by correspondence is one of perhaps many."""
        return game_id in self.slots.reserved or game_id in self._sessions

    def _park(self, game_id: str, guest: Guest) -> None:
        if game_id not in self._finished:
            self.slots.park(game_id, guest)
            self.check_ins.ask()

    def _wake(self, game_id: str) -> None:
        """What is parked while the program ends is left to the next start."""
        if not self._draining:
            self._start(game_id)

    async def _play(self, game_id: str) -> None:
        """A broken session is followed by another one, for as long as the platform's game runs."""
        # For this task and those that it starts: every line that they log names the game.
        structlog.contextvars.bind_contextvars(account=self.name, game=game_id)
        end = None
        try:
            attempt = 0
            while (end := await self._run_session(game_id)) not in (_SessionEnd.OVER, _SessionEnd.PARKED):
                gone = end is _SessionEnd.NO_GAME
                if attempt >= _SESSION_TRIES and (gone or game_id in self._told_finished):
                    await self._give_up(game_id, gone=gone)
                    return
                await asyncio.sleep(min(_LONGEST_PAUSE_S, 2**attempt))
                # An account that is refused is so in all its games.
                await self._welcome.wait()
                attempt += 1
            if end is _SessionEnd.OVER:
                self._finished.append(game_id)
        finally:
            self._sessions.discard(game_id)
            if end is _SessionEnd.PARKED:
                self.slots.park(game_id, _UNKNOWN)
            else:
                self.slots.ended(game_id)
            self._settle()
        if end is _SessionEnd.OVER:
            await self._mark_finished()

    async def _run_session(self, game_id: str) -> _SessionEnd:
        session = self._open[game_id] = self._open_session(game_id)
        if self._draining:
            session.leave()
        try:
            over = await session.run(partial(self.slots.ended, game_id))
        except BridgeError as error:
            log.error("game_failed", game=game_id, cause=str(error))
            return _SessionEnd.NO_GAME if isinstance(error, Refused) and error.status == 404 else _SessionEnd.BROKEN
        except Exception:
            # One game's fault must not end the others: it is told with its trace, and the game taken up again.
            log.exception("game_crashed", game=game_id)
            return _SessionEnd.BROKEN
        finally:
            del self._open[game_id]
        if over:
            self._tasks.spawn(session.listen_on())
        return _SessionEnd.OVER if over else _SessionEnd.PARKED

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
            seq = await self.bot.journal.last_seq()
            if not self._sessions and not self.slots.parked:
                await history.all_finished(self.bot.journal, self.name, seq)
        except JournalError as error:
            log.warning("mark_not_stored", account=self.name, cause=str(error))
