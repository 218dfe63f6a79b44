"""What all routes share: the route table's rows, the call they are given, and how answers and refusals become HTTP."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import chess
from aiohttp import web

from bridge.arena.accounts import Account
from bridge.arena.desk import Desk
from bridge.arena.faults import Answer, FaultSeam
from bridge.arena.game import Game
from bridge.arena.hall import Hall
from bridge.arena.happenings import Rejected
from bridge.arena.streams import Json, LineStream, StreamName, write_stream

Reply = web.StreamResponse

_CLAIMED_NAME = re.compile(r"\b(?:user|as):([\w-]+)")


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One answered request; `account` is an id, empty for strangers. `status` 0: torn down without an answer."""

    at_ms: int
    account: str
    method: str
    path: str
    status: int


@dataclass(frozen=True, slots=True)
class Call:
    """One request on its way through a route."""

    hall: Hall
    desk: Desk
    faults: FaultSeam
    request: web.Request
    account: Account | None
    text: str
    form: dict[str, str]
    """Query, form and JSON body in one; JSON nulls are left out."""

    @property
    def me(self) -> Account:
        if self.account is None:
            raise Rejected("Missing authorization header", status=401)
        return self.account

    @property
    def address(self) -> str:
        return self.request.remote or ""

    def part(self, name: str) -> str:
        return self.request.match_info[name]

    def flag(self, name: str, default: bool) -> bool:
        return self.form[name].lower() in ("true", "1", "yes", "on") if name in self.form else default

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        try:
            return min(most, max(least, int(self.form.get(name, default))))
        except ValueError:
            raise Rejected(f"{name} must be a whole number") from None

    @property
    def game(self) -> Game:
        return self.hall.game(self.part("id"))

    def own_game(self) -> tuple[Game, chess.Color]:
        game = self.game
        color = game.color_of(self.me.id)
        if color is None:
            raise Rejected("Not your game", status=404)
        return game, color

    async def stream(self, name: StreamName, first: list[Json], stream: LineStream, keep_alive_s: float) -> Reply:
        with self.hall.audience.seated(stream):
            return await write_stream(self.request, stream, first, keep_alive_s=keep_alive_s, faults=self.faults)

    def new_stream(self, kind: str, topic: str = "", *, buffer: int | None = None) -> LineStream:
        name = StreamName(kind, self.account.id if self.account else "", topic)
        return LineStream(name, buffer or self.hall.settings.buffer_lines)

    def wants_json(self) -> bool:
        accept = self.request.headers.get("Accept", "")
        return "application/json" in accept or "application/x-ndjson" in accept


@dataclass(frozen=True, slots=True)
class Route:
    """`kind` names the route for faults; any one of `scopes` is enough, none at all means open to strangers."""

    method: str
    path: str
    kind: str
    answer: Callable[[Call], Awaitable[Reply]]
    scopes: frozenset[str] = field(default_factory=frozenset)


def json_reply(body: object, status: int = 200) -> web.Response:
    return web.json_response(body, status=status)


def ok() -> web.Response:
    return json_reply({"ok": True})


def ndjson_reply(rows: list[Json]) -> web.Response:
    body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return web.Response(text=body, content_type="application/x-ndjson")


def caller(hall: Hall, request: web.Request) -> Account | None:
    """Whose token the request bears, if anyone's."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return hall.accounts.of_token(token.strip()) if scheme.lower() == "bearer" else None


def account_of(hall: Hall, request: web.Request, route: Route) -> Account | None:
    """Who is calling; raises Rejected as Lichess does (§1.1)."""
    if "Authorization" not in request.headers:
        if route.scopes:
            raise Rejected("Missing authorization header", status=401)
        return None
    account = caller(hall, request)
    if account is None:
        raise Rejected("No such token", status=401)
    named = _CLAIMED_NAME.search(request.headers.get("User-Agent", ""))
    if named and named[1].lower() != account.id:
        raise Rejected("The user agent names another user than the token's", status=401)
    if route.scopes and "any" not in route.scopes and not route.scopes & account.scopes:
        raise Rejected(f"Missing scope: {' || '.join(sorted(route.scopes))}", status=403)
    return account


async def read_form(request: web.Request) -> tuple[str, dict[str, str]]:
    """The body as text, and all parameters wherever they stand."""
    form = dict(request.query)
    if not request.can_read_body:
        return "", form
    if request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        form |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
        return "", form
    text = await request.text()
    if request.content_type == "application/json":
        form |= _json_form(text)
    return text, form


def _json_form(text: str) -> dict[str, str]:
    try:
        body = json.loads(text)
    except ValueError:
        raise Rejected("Invalid Json") from None
    if not isinstance(body, dict):
        return {}
    return {name: str(value) for name, value in body.items() if value is not None}


async def serve(hall: Hall, desk: Desk, faults: FaultSeam, route: Route, request: web.Request) -> Reply:
    """One request from its faults to its answer."""
    try:
        account = account_of(hall, request, route)
        fault = faults.before(route.kind, account.id if account else "", request.path)
        if fault is not None and not fault.after:
            return await _give(fault, request)
        text, form = await read_form(request)
        reply = await route.answer(Call(hall, desk, faults, request, account, text, form))
    except Rejected as refusal:
        return json_reply(refusal.body, refusal.status)
    return reply if fault is None else await _give(fault, request)


async def _give(fault: Answer, request: web.Request) -> Reply:
    if fault.delay_s:
        await asyncio.sleep(fault.delay_s)
    if fault.status == 0 and request.transport is not None:
        request.transport.abort()
    return web.Response(
        status=fault.status or 500, body=fault.body, content_type=fault.content_type, headers=fault.headers
    )
