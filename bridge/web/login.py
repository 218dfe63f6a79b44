"""The monitor's token: sent with each request by programs, and once by people, who get a cookie for it."""

import asyncio
import hmac
import re
import secrets
import time
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from aiohttp import web
from aiohttp.typedefs import Handler

from bridge.web.guard import problem
from bridge.web.limits import Limits, too_many
from bridge.web.page import render, root_of, words_of

COOKIE: Final = "kirichess_session"
SESSION_S = 30 * 86_400
FORM_S = 10.0
"""That a form may take to come in; whoever sends it is not known yet."""
_MOST_SESSIONS = 1000
"""Whoever has logged in longest ago has to do it again."""
_SAFE = ("GET", "HEAD", "OPTIONS")
_OPEN = ("/healthz", "/login")
"""For whoever watches over the process, and whoever has a token to show. The files of /static/ tell nothing either."""

Who: TypeAlias = Literal["loopback", "token", "session"]
WHO: Final = web.RequestKey("who", str)
_STRANGER: Final = web.RequestKey("stranger", bool)


def who(request: web.Request) -> Who:
    """By what right somebody asks: this machine's, the token's, or that of a page that was given the token."""
    found = request.get(WHO)
    return "token" if found == "token" else "session" if found == "session" else "loopback"


def is_stranger(request: web.Request) -> bool:
    """Whether there is a token, and nobody has asked for it here."""
    return _STRANGER in request


@dataclass(slots=True)
class _Session:
    """`until`: on the steady clock. `reading`: the requests under way that read with it; a stream of events goes on
    for as long as it is let."""

    until: float
    reading: set[asyncio.Task[object]] = field(default_factory=set)


class Login:
    """Lets nobody in without the token: as `Authorization: Bearer TOKEN`, or given once to the login page.

    Wrong tokens are counted by address. Sessions are kept in memory: a restart ends them all. What is still read with
    one ends with it.
    """

    def __init__(self, token: str, limits: Limits, language: str | None = None) -> None:
        self._token = token
        self._limits = limits
        self._language = language
        self._sessions: dict[bytes, _Session] = {}
        """By the hash of what the cookie holds."""

    def __repr__(self) -> str:
        return "<Login>"

    def add_to(self, app: web.Application) -> None:
        """Guard every address, and answer /login and /logout."""
        app.middlewares.append(self.check)
        app.router.add_get("/login", self.page)
        app.router.add_post("/login", self.enter)
        app.router.add_post("/logout", self.leave)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse whoever shows neither token nor cookie; a browser gets the login page instead."""
        if request.path in _OPEN or request.path.startswith("/static/"):
            request[_STRANGER] = True
            return await handler(request)
        if (session := self._session_of(request)) is not None:
            return await self._in_session(session, request, handler)
        given = request.headers.get("Authorization")
        if given is not None:
            if wait_s := self._limits.wrong_tokens.wait_s(self._limits.address_of(request)):
                return too_many("too many wrong tokens", wait_s)
            if self._is_token(given, f"Bearer {self._token}"):
                request[WHO] = "token"
                return await handler(request)
            self._limits.wrong_tokens.take(self._limits.address_of(request))
        return self._refusal(request)

    async def _in_session(self, session: _Session, request: web.Request, handler: Handler) -> web.StreamResponse:
        request[WHO] = "session"
        if request.method not in _SAFE:
            # A browser says where a page that posts is from; what says nothing is none that we gave the cookie to.
            if "Origin" not in request.headers:
                return problem(403, "a request with the cookie must say its Origin; programs send the token instead")
            return await handler(request)
        task = asyncio.current_task()
        assert task is not None
        session.reading.add(task)
        try:
            return await handler(request)
        finally:
            session.reading.discard(task)

    def _refusal(self, request: web.Request) -> web.Response:
        if request.method in _SAFE and "text/html" in request.headers.get("Accept", ""):
            return self._page(request, wanted=request.path_qs.lstrip("/"), status=401)
        response = problem(401, "send the monitor's token: Authorization: Bearer TOKEN")
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    async def page(self, request: web.Request) -> web.Response:
        """The login page."""
        return self._page(request)

    async def enter(self, request: web.Request) -> web.Response:
        """The token from the page's form, for a cookie."""
        if wait_s := self._limits.wrong_tokens.wait_s(self._limits.address_of(request)):
            return too_many("too many wrong tokens", wait_s)
        try:
            async with asyncio.timeout(FORM_S):
                form = await request.post()
        except TimeoutError:
            return problem(408, "the form did not come in time")
        except (ValueError, LookupError):
            # No boundary between its parts, or an encoding that nobody knows.
            return problem(400, "send a form with the token in it")
        wanted = str(form.get("wanted", ""))
        if not self._is_token(str(form.get("token", "")).strip(), self._token):
            self._limits.wrong_tokens.take(self._limits.address_of(request))
            return self._page(request, wanted=wanted, status=401, wrong=True)
        # Relative, so that it leads nowhere else, and works below a proxy's path.
        response = web.Response(status=303, headers={"Location": f"./{_harmless(wanted)}"})
        secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
        response.set_cookie(
            COOKIE, self._new_session(), max_age=SESSION_S, httponly=True, samesite="Strict", secure=secure, path="/"
        )
        return response

    async def leave(self, request: web.Request) -> web.Response:
        """End the session."""
        self._end(_mark(request.cookies.get(COOKIE, "")))
        response = web.Response(status=303, headers={"Location": "./login"})
        response.del_cookie(COOKIE, path="/", httponly=True, samesite="Strict")
        return response

    def _is_token(self, given: str, expected: str) -> bool:
        return hmac.compare_digest(given.encode(errors="surrogateescape"), expected.encode())

    def _new_session(self) -> str:
        value = secrets.token_urlsafe(32)
        self._sessions[_mark(value)] = _Session(time.monotonic() + SESSION_S)
        if len(self._sessions) > _MOST_SESSIONS:
            self._end(next(iter(self._sessions)))
        return value

    def _end(self, mark: bytes) -> None:
        session = self._sessions.pop(mark, None)
        for task in session.reading if session else ():
            task.cancel()

    def _session_of(self, request: web.Request) -> _Session | None:
        session = self._sessions.get(_mark(request.cookies.get(COOKIE, "")))
        return session if session is not None and session.until > time.monotonic() else None

    def _page(self, request: web.Request, *, wanted: str = "", status: int = 200, wrong: bool = False) -> web.Response:
        words, root = words_of(request, self._language), root_of(request)
        body = render("login.html", words, root, wanted=_harmless(wanted), wrong=wrong)
        return web.Response(body=body, status=status, content_type="text/html", charset="utf-8")


def _mark(value: str) -> bytes:
    return sha256(value.encode(errors="surrogateescape")).digest()


def _harmless(wanted: str) -> str:
    """A page of ours that was asked for before the login; anything else is the first page."""
    return wanted if re.fullmatch(r"(?:games/[\w-]+(?:/overlay)?)?(?:\?[\w=&%+.:-]*)?", wanted, re.ASCII) else ""
