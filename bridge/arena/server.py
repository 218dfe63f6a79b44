"""The arena itself: hall, desk and routes put together behind one address on loopback."""

import asyncio
import re
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from bridge.arena import (
    exports,
    routes_account,
    routes_challenge,
    routes_export,
    routes_play,
    routes_tournament,
    routes_watch,
)
from bridge.arena.accounts import Account
from bridge.arena.control import TimeControl
from bridge.arena.desk import Desk
from bridge.arena.faults import Faults, FaultSeam
from bridge.arena.game import Game
from bridge.arena.hall import Hall, control_of
from bridge.arena.http import Reply, RequestLine, Route, caller, serve
from bridge.arena.recordings import Recording
from bridge.arena.replay import replay
from bridge.arena.settings import ArenaSettings
from bridge.arena.tournament import Tournament

_ROUTES = (
    *routes_account.ROUTES,
    *routes_export.ROUTES,
    *routes_challenge.ROUTES,
    *routes_play.ROUTES,
    *routes_watch.ROUTES,
    *routes_tournament.ROUTES,
)

ROUTE_NAMES = frozenset(route.kind for route in _ROUTES)
"""What faults call the requests."""

GAME_ROUTES = frozenset(route.kind for route in _ROUTES if re.search(r"/(game|round)/(\w+/)?\{id\}", route.path))
"""Those whose path names a game."""

RequestLog = list[RequestLine] | Callable[[RequestLine], None]


class Arena:
    """A small Lichess on 127.0.0.1: `async with Arena(accounts) as arena`, then `arena.url`.

    `faults` replaces the arena's own `Faults`; `request_log` gets one `RequestLine` for every answered request.
    """

    def __init__(
        self,
        accounts: Iterable[Account] = (),
        settings: ArenaSettings | None = None,
        *,
        port: int = 0,
        faults: FaultSeam | None = None,
        request_log: RequestLog | None = None,
    ) -> None:
        self.hall = Hall(accounts, settings or ArenaSettings())
        self.desk = Desk(self.hall)
        self.faults = Faults(lambda: self.hall.audience.open)
        self._seam: FaultSeam = faults or self.faults
        self._log = request_log.append if isinstance(request_log, list) else request_log
        self._port = port
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Without a slash at the end; empty before the arena is open."""
        return self.hall.address

    @property
    def games(self) -> dict[str, Game]:
        return self.hall.games

    async def __aenter__(self) -> Self:
        app = web.Application()
        for route in _ROUTES:
            app.router.add_route(route.method, route.path, partial(self._serve, route))
        app.on_response_prepare.append(self._note)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.hall.address = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.hall.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _serve(self, route: Route, request: web.Request) -> Reply:
        return await serve(self.hall, self.desk, self._seam, route, request)

    async def _note(self, request: web.Request, response: web.StreamResponse) -> None:
        if self._log is not None:
            account = caller(self.hall, request)
            who = account.id if account else ""
            self._log(RequestLine(self.hall.now_ms(), who, request.method, request.path, response.status))

    def account(self, name: str) -> Account:
        """By name; raises Rejected when there is none."""
        return self.hall.accounts.of_name(name)

    def pair(
        self,
        white: str | Account,
        black: str | Account,
        limit_s: int | None = 180,
        increment_s: int = 0,
        *,
        variant: str = "standard",
        fen: str | None = None,
        rated: bool = False,
        source: str = "friend",
        rules: Iterable[str] = (),
        tournament_id: str | None = None,
        days: int | None = None,
    ) -> str:
        """Begin a game between two accounts without a challenge and answer its id; no limit: `days`, or no clock."""
        game = self.hall.pair(
            self.account(white if isinstance(white, str) else white.name),
            self.account(black if isinstance(black, str) else black.name),
            control_of(limit_s, increment_s, days),
            variant=variant,
            fen=fen,
            rated=rated,
            source=source,
            rules=frozenset(rules),
            tournament_id=tournament_id,
        )
        return game.id

    def tournament(self, tournament_id: str, limit_s: int = 180, increment_s: int = 0, **more: Any) -> Tournament:
        """Open an arena tournament, with fields of `Tournament`; it starts at once unless they say otherwise."""
        figures = {"name": f"{tournament_id} Arena", "starts_at_ms": self.hall.now_ms(), **more}
        made = Tournament(id=tournament_id, control=TimeControl(limit_s, increment_s), **figures)
        self.hall.tournaments[tournament_id] = made
        self.hall.spawn(asyncio.create_task(routes_tournament.keep_pairing(self.hall, made)))
        return made

    async def replay(
        self,
        recordings: Iterable[Recording],
        *,
        speed: float = 1.0,
        wait_for_viewer: bool = False,
        pause_s: float = 0.0,
    ) -> list[str]:
        """Play recorded games live, one after the other; see `bridge.arena.replay`."""
        return await replay(self.hall, recordings, speed=speed, wait_for_viewer=wait_for_viewer, pause_s=pause_s)

    def pgn(self, game_id: str) -> str:
        """The game as Lichess would export it, with clocks."""
        return exports.pgn(self.hall.game(game_id))
