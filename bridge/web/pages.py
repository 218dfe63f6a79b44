"""The pages' addresses: home, a game, its overlay, its PGN, and the files they need."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import web

from bridge.clocks import wall_ms
from bridge.errors import UsageError
from bridge.event_types import VERDICT_FINAL
from bridge.interfaces import Entry, Journal
from bridge.verdicts import told_verdicts
from bridge.web.games import Games, GameSummary
from bridge.web.guard import problem
from bridge.web.login import who
from bridge.web.page import STATIC, overlay_sizes, render, words_of
from bridge.web.page_words import Words
from bridge.web.search import PAGE, Archive, Found, GameQuery
from bridge.web.shared import Shared
from bridge.web.sheet import game_entries, sheet
from bridge.web.status import StatusReport

_RECENT = 20
NOW = "@now@"
"""Stands for the time in a page that is kept for others."""


class Pages:
    """HTML over an open journal. `language`: that of readers who ask for none; None: their browser's.

    `controls`: whether readers may have something done.
    """

    def __init__(
        self,
        journal: Journal,
        status: Callable[[], StatusReport],
        games: Games,
        archive: Archive,
        *,
        language: str | None = None,
        controls: bool = False,
    ) -> None:
        self._journal = journal
        self._status = status
        self._games = games
        self._archive = archive
        self._shared = Shared()
        self._language = language
        self._controls = controls

    def add_to(self, router: web.UrlDispatcher) -> None:
        """Answer the pages' addresses."""
        router.add_get("/", self.home)
        router.add_get("/games/{id}", self.game)
        router.add_get("/games/{id}/overlay", self.overlay)
        router.add_get("/games/{id}/pgn", self.pgn)
        router.add_static("/static/", Path(str(STATIC)))

    async def home(self, request: web.Request) -> web.Response:
        try:
            query = GameQuery.read(request.query)
        except UsageError as error:
            return problem(400, str(error))
        speaks = self._words(request)
        seq = await self._journal.last_seq()
        status = self._status()
        told = (status.ready, status.draining, status.streams)
        key = ("home.html", request.query_string, speaks.lang, speaks.chosen, who(request), seq, told)
        return _html(await self._shared.get(key, lambda: self._home(request, query, speaks, seq, status)))

    async def _home(
        self, request: web.Request, query: GameQuery, speaks: Words, seq: int, status: StatusReport
    ) -> bytes:
        games = await self._games.current()
        found = await self._found(query, games)
        values = {
            "seq": seq,
            "now_ms": NOW,
            "signed_in": who(request) == "session",
            "controls": self._controls,
            "status": status,
            # By their starts, so that each keeps its place while they move.
            "running": sorted((game for game in games if game.running), key=_start, reverse=True),
            "query": query,
            "found": found.games,
            "older": found.before and _address(speaks, {**query.words(), "before": str(found.before)}),
        }
        return render("home.html", speaks, "./", **values)

    async def _found(self, query: GameQuery, games: list[GameSummary]) -> Found:
        """What the reader asks for; the last verdicts, where he asks for nothing, or those before them."""
        if query.narrows:
            return await self._archive.search(query, games)
        if query.before is not None:
            return await self._archive.judged(query.before, PAGE)
        ended = [game for game in games if not game.running]
        told = sorted((game for game in ended if game.judged_seq), key=lambda game: game.judged_seq or 0, reverse=True)
        found = Found(tuple(told[:_RECENT]), told[_RECENT - 1].judged_seq if len(told) >= _RECENT else None)
        if len(told) < _RECENT:
            # What has been going on for long may have left no room for them in the list.
            found = await self._archive.judged(limit=_RECENT)
        shown = {game.id for game in found.games}
        waiting = [game for game in ended if not game.judged_seq and game.id not in shown]
        return Found((*waiting, *found.games), found.before)

    async def game(self, request: web.Request) -> web.Response:
        return await self._of_a_game(request, "game.html", "../")

    async def overlay(self, request: web.Request) -> web.Response:
        return await self._of_a_game(request, "overlay.html", "../../")

    async def _of_a_game(self, request: web.Request, template: str, root: str) -> web.Response:
        game_id, speaks, seq = request.match_info["id"], self._words(request), await self._journal.last_seq()
        key = (template, game_id, request.query_string, speaks.lang, speaks.chosen, who(request), seq)
        body = await self._shared.get(key, lambda: self._game(request, template, speaks, root))
        return _html(body) if body else problem(404, f"no game {game_id} in the journal")

    async def _game(self, request: web.Request, template: str, speaks: Words, root: str) -> bytes:
        """Empty: there is no such game."""
        entries = await self._entries(request)
        game = sheet(entries)
        if game is None:
            return b""
        values = {
            "game": game,
            "told": list(reversed(told_verdicts(entries))),
            "final": any(entry.type == VERDICT_FINAL for entry in entries),
            "sizes": overlay_sizes(request.query),
            "now_ms": NOW,
            "signed_in": who(request) == "session",
            "controls": self._controls,
        }
        return render(template, speaks, root, **values)

    async def pgn(self, request: web.Request) -> web.Response:
        entries = await self._entries(request)
        texts = [text for entry in entries if isinstance(text := entry.data.get("pgn"), str)]
        if not texts:
            return problem(404, f"no final verdict, so no PGN, of {request.match_info['id']}")
        return web.Response(text=texts[-1], content_type="application/x-chess-pgn", charset="utf-8")

    async def _entries(self, request: web.Request) -> list[Entry]:
        return await game_entries(self._journal, request.match_info["id"])

    def _words(self, request: web.Request) -> Words:
        return words_of(request, self._language)


def _start(game: GameSummary) -> tuple[int, str]:
    return game.started_ms, game.id


def _html(body: bytes) -> web.Response:
    now = f'data-now="{wall_ms()}"'.encode()
    body = body.replace(f'data-now="{NOW}"'.encode(), now, 1)
    return web.Response(body=body, content_type="text/html", charset="utf-8")


def _address(speaks: Words, query: dict[str, str]) -> str:
    return f"./?{urlencode({**query, **({'lang': speaks.lang} if speaks.chosen else {})})}"
