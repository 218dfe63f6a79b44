"""What may be done through the monitor, where the settings allow it: resign, drain, reload, adjudicate again."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Literal, Protocol, TypeAlias

from aiohttp import web

from bridge.errors import BridgeError, JournalError, UsageError
from bridge.event_types import CONTROL_USED
from bridge.interfaces import Draft, Journal
from bridge.web.guard import problem
from bridge.web.login import who

Outcome: TypeAlias = Literal["resigned", "draining", "rereading", "changed", "unchanged"]


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it; `done` says it in a sentence, `outcome` to programs and to pages in other languages."""

    outcome: Outcome
    done: str


class Controls(Protocol):
    """What a running program does when it is asked. UsageError: not now, or not with this game."""

    async def resign(self, game_id: str) -> Done:
        """Give up a running game of one of our own bots. Raises UsageError, PlatformError."""
        ...

    async def adjudicate(self, game_id: str) -> Done:
        """Judge a finished game once more, from the platform's archive. Raises UsageError, BridgeError."""
        ...

    def drain(self) -> Done:
        """Take no more games, and end when the running ones are over."""
        ...

    def reload(self) -> Done:
        """Read the configuration again, soon. Raises UsageError."""
        ...


class ControlRoutes:
    """POST /api/control/…; each use stands in the journal before it is done, with who asked and from where."""

    def __init__(self, controls: Controls, journal: Journal) -> None:
        self._controls = controls
        self._journal = journal

    def add_to(self, router: web.UrlDispatcher) -> None:
        """Answer the controls' addresses."""
        router.add_post("/api/control/resign", self.resign)
        router.add_post("/api/control/adjudicate", self.adjudicate)
        router.add_post("/api/control/drain", self.drain)
        router.add_post("/api/control/reload", self.reload)

    async def resign(self, request: web.Request) -> web.Response:
        """`{"game": ID}`."""
        return await self._with_game(request, "resign", self._controls.resign)

    async def adjudicate(self, request: web.Request) -> web.Response:
        """`{"game": ID}`."""
        return await self._with_game(request, "adjudicate", self._controls.adjudicate)

    async def drain(self, request: web.Request) -> web.Response:
        """No body."""
        return await self._do(request, "drain", "", _at_once(self._controls.drain))

    async def reload(self, request: web.Request) -> web.Response:
        """No body."""
        return await self._do(request, "reload", "", _at_once(self._controls.reload))

    async def _with_game(
        self, request: web.Request, action: str, act: Callable[[str], Awaitable[Done]]
    ) -> web.Response:
        try:
            body = await request.json()
        except (ValueError, LookupError, RecursionError):
            body = None
        game = body.get("game") if isinstance(body, dict) else None
        if not isinstance(game, str) or not re.fullmatch(r"[\w-]{1,64}", game, re.ASCII):
            return problem(400, 'send the game as JSON: {"game": "abcdefgh"}')
        return await self._do(request, action, game, lambda: act(game))

    async def _do(
        self, request: web.Request, action: str, game: str, act: Callable[[], Awaitable[Done]]
    ) -> web.Response:
        used = {"action": action, "by": who(request), "address": request.remote or ""}
        if "X-Forwarded-For" in request.headers:
            # What a proxy says of who is behind it; without a proxy, what the asker says.
            used["forwarded_for"] = request.headers["X-Forwarded-For"][:200]
        try:
            await self._journal.append([Draft(CONTROL_USED, game, used)])
            return web.json_response(asdict(await act()))
        except UsageError as error:
            return problem(409, str(error))
        except JournalError as error:
            return problem(503, str(error))
        except BridgeError as error:
            return problem(502, str(error))


def _at_once(act: Callable[[], Done]) -> Callable[[], Awaitable[Done]]:
    async def later() -> Done:
        return act()

    return later
