"""/api/openapi.json: what programs can ask the monitor, as OpenAPI 3.1; and the schemas of the events."""

from functools import cache
from typing import get_args

from aiohttp import web

from bridge.event_schema import definitions, events_schema
from bridge.web.control import Outcome
from bridge.web.login import COOKIE
from bridge.web.search import MOST, RESULTS, STATES

Json = dict[str, object]
# A form sends empty what its reader left empty: it asks for nothing.
_NUMBER: Json = {"type": "string", "pattern": "^[0-9]{0,18}$"}
_TEXT: Json = {"type": "string"}
_MANY: Json = {"type": "array", "items": _TEXT}
_REFUSAL: Json = {"$ref": "#/components/schemas/Error"}
_REFUSALS = {
    "400": "what was asked for cannot be",
    "401": "the token is missing or wrong",
    "403": "asked by a page of another site, or by a name that is not this machine's",
    "404": "there is no such thing",
    "409": "not now, or not with this game",
    "413": "too large",
    "429": "too many requests, or too many wrong tokens; Retry-After says when to come again",
    "502": "the platform refused, or did not answer",
    "503": "not now",
}
_GAME: Json = {
    "type": "object",
    "properties": {"game": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}},
    "required": ["game"],
}
_DONE: Json = {
    "type": "object",
    "properties": {"outcome": {"enum": list(get_args(Outcome))}, "done": {"type": "string"}},
    "required": ["outcome", "done"],
}
_TOKEN_FORM: Json = {"type": "object", "properties": {"token": _TEXT, "wanted": _TEXT}}
_ERROR: Json = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
_OBJECT: Json = {"type": "object"}
_VERDICT: Json = {"$ref": "#/components/schemas/VerdictObject"}
_ID: Json = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}}


async def get(request: web.Request) -> web.Response:
    """The handler of GET /api/openapi.json: what this monitor has, with or without login and control."""
    served = {resource.canonical for resource in request.app.router.resources()}
    whole = openapi()
    paths = {path: described for path, described in _table(whole["paths"]).items() if path in served}
    return web.json_response({**whole, "paths": paths})


async def get_schema(_request: web.Request) -> web.Response:
    """The handler of GET /api/events/schema: what `events schema` prints."""
    return web.json_response(events_schema())


@cache
def openapi() -> Json:
    """The description of a monitor that has everything; the schemas in it are made from the events' types."""
    games = [_query(name, _TEXT) for name in ("player", "pool", "reason", "account")]
    games += [_query("result", {"enum": ["", *RESULTS]}), _query("state", {"enum": ["", *STATES]})]
    games += [_query("before", _NUMBER), _query("limit", {**_NUMBER, "description": f"at most {MOST}"})]
    narrowed = [_query(name, _MANY) for name in ("type", "account", "pool")]
    events = [*narrowed, _query("game", _TEXT), _query("after", _NUMBER)]
    events.append({"name": "Last-Event-ID", "in": "header", "schema": _NUMBER})
    listed: Json = {"type": "array", "items": _OBJECT}
    stream, pgn = {"media": "text/event-stream"}, {"media": "application/x-chess-pgn"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "KiriChess bridge monitor", "version": "1"},
        # {}: a monitor without a token asks for none.
        "security": [{}, {"token": []}, {"session": []}],
        "paths": {
            "/api/games": _get("games, the newest first; Link leads to older ones", listed, games, "400"),
            "/api/games/{id}": _get("a game's latest verdict, with its ledger", _VERDICT, [_ID], "404"),
            "/api/openapi.json": _get("this description", _OBJECT),
            "/api/events/schema": _get("the JSON Schemas of all events", _OBJECT),
            "/events": _get("the journal as Server-Sent Events", _TEXT, events, "400", "503", **stream),
            "/games/{id}/pgn": _get("a judged game with both clocks in its comments", _TEXT, [_ID], "404", **pgn),
            "/status": _get("accounts, games, journal", _OBJECT),
            "/healthz": _open(_get("whether process and streams are alive", _OBJECT, None, "503")),
            "/readyz": _get("whether games are taken", _OBJECT, None, "503"),
            "/metrics": _get("Prometheus metrics", _TEXT, media="text/plain"),
            "/api/control/resign": _control("gives up a running game of one of our bots", _GAME),
            "/api/control/adjudicate": _control("judges a finished game once more", _GAME),
            "/api/control/drain": _control("takes no more games, and ends when the running ones are over"),
            "/api/control/reload": _control("reads the configuration again"),
            "/login": _open({**_get("the login page", _TEXT, media="text/html"), **_login()}),
            "/logout": _logout(),
        },
        "components": {
            "schemas": {"Error": _ERROR, **definitions("#/components/schemas/")},
            "responses": {status: _answer(text, _REFUSAL) for status, text in _REFUSALS.items()},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
        },
    }


def _query(name: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "schema": schema}


def _get(
    summary: str, schema: Json, parameters: list[Json] | None = None, *refused: str, media: str = "application/json"
) -> Json:
    answers = {"200": _answer(summary, schema, media), **_refused("401", "403", "429", *refused)}
    if "503" in refused and media == "application/json":
        answers["503"] = _answer("not now", schema)
    return {"get": {"summary": summary, "parameters": parameters or [], "responses": answers}}


def _control(summary: str, body: Json | None = None) -> Json:
    refused = _refused("401", "403", "409", "429", "502", "503", *(("400", "413") if body else ()))
    asked: Json = {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}} if body else {}
    return {"post": {"summary": summary, **asked, "responses": {"200": _answer("done", _DONE), **refused}}}


def _login() -> Json:
    content = {"application/x-www-form-urlencoded": {"schema": _TOKEN_FORM}}
    answers = {
        "303": {"description": "the cookie, and the way to the page", "headers": {"Set-Cookie": {"schema": _TEXT}}},
        "401": _answer("the login page: that is not the token", _TEXT, "text/html"),
        **_refused("400", "403", "413", "429"),
    }
    summary = "gives the token for a cookie"
    return {"post": {"summary": summary, "requestBody": {"content": content}, "responses": answers}}


def _logout() -> Json:
    answers = {"303": {"description": "the way to the login page"}, **_refused("401", "403", "429")}
    return {"post": {"summary": "ends the session", "responses": answers}}


def _open(operations: Json) -> Json:
    """What is answered without the token too."""
    return {method: {**_table(operation), "security": []} for method, operation in operations.items()}


def _table(value: object) -> Json:
    assert isinstance(value, dict)
    return value


def _refused(*statuses: str) -> Json:
    return {status: {"$ref": f"#/components/responses/{status}"} for status in statuses}


def _answer(description: str, schema: Json, media: str = "application/json") -> Json:
    return {"description": description, "content": {media: {"schema": schema}}}
