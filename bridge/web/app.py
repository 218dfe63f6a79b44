"""The monitor's application: which address answers what."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import structlog
from aiohttp import web

from bridge.errors import JournalError, UsageError
from bridge.event_types import VERDICTS
from bridge.interfaces import Entry, Journal
from bridge.web import openapi
from bridge.web.control import ControlRoutes, Controls
from bridge.web.exposition import exposition
from bridge.web.games import Games
from bridge.web.guard import add_headers, errors_as_json, problem
from bridge.web.limits import MOST_BODY_BYTES
from bridge.web.login import is_stranger
from bridge.web.page import refusals_as_pages
from bridge.web.pages import Pages
from bridge.web.search import Archive, GameQuery
from bridge.web.status import StatusReport
from bridge.web.stream import EventStream

log = structlog.get_logger("kirichess_monitor")


def create_monitor(
    journal: Journal,
    status: Callable[[], StatusReport],
    *,
    metrics: Callable[[], bytes] | None = None,
    language: str | None = None,
    controls: Controls | None = None,
) -> web.Application:
    """The application over an open journal; `status` is asked at every request. Give it to `Monitor.start`.

    `metrics` makes what /metrics answers, in Prometheus' text format; without it there is no such address.
    `language`: the pages', unless a reader asks for another; None: the browser's.
    Without `controls` nobody can have anything done.
    """
    archive = Archive(journal)
    routes = _Routes(journal, status, archive)
    events = EventStream(journal)
    app = web.Application(middlewares=[refusals_as_pages(language), errors_as_json], client_max_size=MOST_BODY_BYTES)
    app.on_response_prepare.append(add_headers)
    app.on_shutdown.append(events.close)
    app.cleanup_ctx.append(routes.follow)
    app.cleanup_ctx.append(events.run)
    Pages(journal, status, routes.known, archive, language=language, controls=controls is not None).add_to(app.router)
    app.router.add_get("/healthz", routes.healthz)
    app.router.add_get("/readyz", routes.readyz)
    app.router.add_get("/status", routes.status)
    app.router.add_get("/events", events.get, allow_head=False)
    app.router.add_get("/api/openapi.json", openapi.get)
    app.router.add_get("/api/events/schema", openapi.get_schema)
    app.router.add_get("/api/games", routes.games)
    app.router.add_get("/api/games/{id}", routes.game)
    if controls is not None:
        ControlRoutes(controls, journal).add_to(app.router)
    if metrics is not None:
        app.router.add_get("/metrics", exposition(metrics))
    return app


class _Routes:
    def __init__(self, journal: Journal, status: Callable[[], StatusReport], archive: Archive) -> None:
        self._journal = journal
        self._archive = archive
        self._status = status
        self.known = Games(journal)

    async def follow(self, _app: web.Application) -> AsyncIterator[None]:
        following = asyncio.create_task(self._follow())
        yield
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following

    async def _follow(self) -> None:
        try:
            await self.known.follow()
        except JournalError as error:
            log.error("games_no_longer_followed", cause=str(error))

    async def healthz(self, request: web.Request) -> web.Response:
        report = self._status()
        # Which accounts there are, and where events go, is for those who may read the rest.
        told = ("healthy",) if is_stranger(request) else ("healthy", "streams")
        body = {name: value for name, value in report.to_json().items() if name in told}
        return web.json_response(body, status=200 if report.healthy else 503)

    async def readyz(self, _request: web.Request) -> web.Response:
        report = self._status()
        ready = report.ready and report.healthy and not report.draining
        return web.json_response({"ready": ready, "draining": report.draining}, status=200 if ready else 503)

    async def status(self, _request: web.Request) -> web.Response:
        running = [game.to_json() for game in await self.known.current() if game.running]
        return web.json_response({**self._status().to_json(), "seq": await self._journal.last_seq(), "games": running})

    async def games(self, request: web.Request) -> web.Response:
        """The running and latest games; those of the whole journal where the query asks for something."""
        if not any(name in request.query for name in GameQuery.names()):
            return web.json_response([game.to_json() for game in await self.known.current()])
        try:
            query = GameQuery.read(request.query)
        except UsageError as error:
            return problem(400, str(error))
        found = await self._archive.search(query, await self.known.current())
        response = web.json_response([game.to_json() for game in found.games])
        if found.before is not None:
            older = request.rel_url.update_query(before=str(found.before))
            response.headers["Link"] = f'<{older}>; rel="next"'
        return response

    async def game(self, request: web.Request) -> web.Response:
        game_id = request.match_info["id"]
        entry = await self._latest_verdict(game_id)
        if entry is None:
            known = any(game.id == game_id for game in await self.known.current())
            return problem(404, f"no verdict yet for {game_id}" if known else f"no game {game_id} in the journal")
        return web.json_response(entry.data.get("verdict"))

    async def _latest_verdict(self, game_id: str) -> Entry | None:
        latest: Entry | None = None
        while page := await self._journal.read(subject=game_id, types=VERDICTS, after=latest.seq if latest else 0):
            latest = page[-1]
        return latest
