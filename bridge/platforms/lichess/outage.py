"""An outage of one account's server: only its event stream looks whether it is over, everything else waits for that.

Then the streams of games are opened again, a few a second, those first in which we owe a move or have little time. An
account whose event stream nobody reads has nothing to wait for: its streams look for themselves. Whatever else is
answered shows that it is over, or that the event stream alone is ill; then that one is opened by itself.
"""

import asyncio
import enum
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

import structlog

from bridge.errors import PlatformError, ServerError, Unreachable
from bridge.platforms.lichess.answers import Senseless

log = structlog.get_logger("kirichess_lichess")

Urgency: TypeAlias = tuple[bool, int]
"""Whether no move of ours is owed, and our time left in milliseconds: the least is the most urgent."""

LEAST: Urgency = (True, 2**62)
"""Of a game that only is watched."""

_DOUBT_S = 1.0
"""How long a lost event stream holds up the others before it is known why it was lost."""
_SLACK_S = 30.0
"""How much later than promised a sign of life may come."""


class _State(enum.Enum):
    UP = enum.auto()
    """The event stream is open, or was answered, or nobody reads it."""
    LOST = enum.auto()
    """The event stream is lost and about to be opened again: nothing is known yet, and is waited for but shortly."""
    SICK = enum.auto()
    """It is answered with 5xx: perhaps it alone, so between two tries of it one stream of a game may look too."""
    DOWN = enum.auto()
    """Nobody answers."""


@dataclass(eq=False, slots=True)
class _Waiter:
    urgency: Callable[[], Urgency]
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Outage:
    """Whether the server at `url` can be reached, by the account's event stream; `release_s` between two openings."""

    def __init__(self, url: str, release_s: float) -> None:
        self._url = url
        self._release_s = release_s
        self._state = _State.UP
        self._open = False
        self._lost_at = time.monotonic()
        self._due = float("inf")
        self._waiting: list[_Waiter] = []
        self._over = asyncio.Event()
        self._over.set()
        self._told = False
        self._alone = False
        self._ends = asyncio.Event()
        self._next_release = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._next_state: asyncio.TimerHandle | None = None

    @property
    def alive(self) -> bool:
        """Whether the event stream, where it is read, has lived or tried to within the time it promised."""
        return time.monotonic() < self._due + _SLACK_S

    # -- what the event stream finds out -------------------------------------------------------------------------

    @contextmanager
    def probing(self) -> Iterator[None]:
        """While the event stream is read."""
        try:
            yield
        finally:
            self._due = float("inf")
            self._open = False
            self._is(_State.UP)

    def promises(self, within_s: float) -> None:
        """The next sign of life comes within so many seconds."""
        self._due = time.monotonic() + within_s

    def opened(self) -> None:
        """The event stream is open."""
        self._open = True
        self._answered()

    def lost(self, error: PlatformError | None, again_in_s: float = 0.0) -> None:
        """The event stream has ended, or could not be opened; None: it was open and ended cleanly."""
        was_open, self._open = self._open, False
        if isinstance(error, Senseless) or not isinstance(error, Unreachable | None):
            self._answered()
        elif was_open:
            self._lost_at = time.monotonic()
            self._is(_State.LOST)
            self._next_state = asyncio.get_running_loop().call_later(_DOUBT_S, self._is, _State.UP)
        else:
            self._fails(error, again_in_s)

    def _answered(self) -> None:
        if self._told:
            log.warning("server_reachable_again", url=self._url, after_s=round(time.monotonic() - self._lost_at, 1))
        self._told = self._alone = False
        self._is(_State.UP)

    def _fails(self, error: PlatformError | None, again_in_s: float) -> None:
        if not self._told:
            log.warning("server_unreachable", url=self._url, cause=str(error))
        self._told = True
        if self._alone:
            return
        sick = isinstance(error, ServerError)
        self._is(_State.SICK if sick else _State.DOWN)
        if sick:
            self._next_state = asyncio.get_running_loop().call_later(again_in_s / 2, self._let_go)

    def _is(self, state: _State) -> None:
        before, self._state = self._state, state
        if state is _State.DOWN:
            self._over.clear()
        else:
            self._over.set()
        if self._next_state is not None:
            self._next_state.cancel()
            self._next_state = None
        if state is _State.UP and before in (_State.SICK, _State.DOWN):
            self._ends.set()
            self._ends = asyncio.Event()
        self._release()

    # -- what others find out ------------------------------------------------------------------------------------

    def seen(self) -> None:
        """Another stream or request was answered: an outage is over, or is one of the event stream alone."""
        self._alone = self._alone or self._state in (_State.SICK, _State.DOWN)
        if self._state is not _State.UP:
            self._is(_State.UP)

    def unseen(self) -> None:
        """Another stream could not be opened: what the event stream meets is believed again."""
        self._alone = False

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While something is asked: any answer will do."""
        try:
            yield
        except Unreachable:
            raise
        except PlatformError:
            self.seen()
            raise
        self.seen()

    # -- what waits for it ---------------------------------------------------------------------------------------

    def check(self, what: str) -> None:
        """Raises Unreachable while nobody answers: a request that is not owed need not be tried."""
        if self._state is _State.DOWN:
            raise Unreachable(f"{what}: {self._url} cannot be reached now")

    async def over(self) -> None:
        """Wait until somebody answers."""
        await self._over.wait()

    async def rest(self, seconds: float) -> None:
        """Sleep for so long, less if an outage ends meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ends.wait()

    async def turn(self, urgency: Callable[[], Urgency]) -> None:
        """Wait until a stream that was lost may be opened again. `urgency` is asked when there is a choice."""
        waiter = _Waiter(urgency)
        self._waiting.append(waiter)
        self._release()
        try:
            await waiter.turn
        finally:
            if waiter in self._waiting:
                self._waiting.remove(waiter)

    def _release(self) -> None:
        """Let the most urgent one go, and see to the next one in due time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._state is not _State.UP or not self._waiting:
            return
        loop = asyncio.get_running_loop()
        wait_s = self._next_release - loop.time()
        if wait_s <= 0:
            self._let_go()
            self._next_release = loop.time() + self._release_s
            wait_s = self._release_s
        self._timer = loop.call_later(wait_s, self._release)

    def _let_go(self) -> None:
        if self._waiting:
            first = min(self._waiting, key=lambda waiter: waiter.urgency())
            self._waiting.remove(first)
            if not first.turn.done():
                first.turn.set_result(None)


class Openings:
    """How the openings of one stream go: this one, of a stream by itself, waits for nothing and tells nobody."""

    async def turn(self) -> None:
        """Wait until the stream may be opened again."""

    def opened(self, silence_s: float) -> None:
        """It is open, or a line came; the next one comes within so long."""

    def lost(self, error: PlatformError | None, again_in_s: float) -> None:
        """It has ended, or could not be opened, and is opened again after so long."""

    async def rest(self, seconds: float) -> None:
        """Wait after it could not be opened, or broke."""
        await asyncio.sleep(seconds)


class Probe(Openings):
    """The event stream."""

    def __init__(self, outage: Outage, opening_s: float) -> None:
        self._outage = outage
        self._opening_s = opening_s

    def opened(self, silence_s: float) -> None:
        self._outage.opened()
        self._outage.promises(silence_s)

    def lost(self, error: PlatformError | None, again_in_s: float) -> None:
        self._outage.lost(error, again_in_s)
        self._outage.promises(again_in_s + self._opening_s)

    async def rest(self, seconds: float) -> None:
        await self._outage.rest(seconds)


class Follower(Openings):
    """A stream of a game, which waits in an outage."""

    def __init__(self, outage: Outage, urgency: Callable[[], Urgency] = lambda: LEAST) -> None:
        self._outage = outage
        self._urgency = urgency
        self._is_new = True
        self._open = False

    async def turn(self) -> None:
        if self._is_new:
            await self._outage.over()
            self._is_new = False
        else:
            await self._outage.turn(self._urgency)

    def opened(self, silence_s: float) -> None:
        self._open = True
        self._outage.seen()

    def lost(self, error: PlatformError | None, again_in_s: float) -> None:
        if not self._open and isinstance(error, Unreachable) and not isinstance(error, Senseless):
            self._outage.unseen()
        self._open = False

    async def rest(self, seconds: float) -> None:
        await self._outage.rest(seconds)
