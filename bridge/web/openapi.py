"""/api/openapi.json: what programs can ask the monitor, as OpenAPI 3.1; and the schemas of the events."""

from functools import cache

from aiohttp import web

from bridge.event_schema import definitions, events_schema
from bridge.web.search import MOST, RESULTS, STATES

Json = dict[str, object]
# A form sends empty what its reader left empty: it asks for nothing.
_NUMBER: Json = {"type": "string", "pattern": "^[0-9]{0,18}$"}
_TEXT: Json = {"type": "string"}
_MANY: Json = {"type": "array", "items": _TEXT}
_ERROR: Json = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
_OBJECT: Json = {"type": "object"}
_VERDICT: Json = {"$ref": "#/components/schemas/VerdictObject"}
_ID: Json = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}}


async def get(_request: web.Request) -> web.Response:
    """The handler of GET /api/openapi.json."""
    return web.json_response(openapi())


async def get_schema(_request: web.Request) -> web.Response:
    """The handler of GET /api/events/schema: what `events schema` prints."""
    return web.json_response(events_schema())


@cache
def openapi() -> Json:
    """The description; the schemas in it are made from the events' types."""
    games = [_query(name, _TEXT) for name in ("player", "pool", "reason", "account")]
    games += [_query("result", {"enum": ["", *RESULTS]}), _query("state", {"enum": ["", *STATES]})]
    games += [_query("before", _NUMBER), _query("limit", {**_NUMBER, "description": f"at most {MOST}"})]
    narrowed = [_query(name, _MANY) for name in ("type", "account", "pool")]
    events = [*narrowed, _query("game", _TEXT), _query("after", _NUMBER)]
    events.append({"name": "Last-Event-ID", "in": "header", "schema": _NUMBER})
    listed: Json = {"type": "array", "items": _OBJECT}
    return {
        "openapi": "3.1.0",
        "info": {"title": "KiriChess bridge monitor", "version": "1"},
        "paths": {
            "/api/games": _get("games, the newest first; Link leads to older ones", listed, games, bad=True),
            "/api/games/{id}": _get("a game's latest verdict, with its ledger", _VERDICT, [_ID], missing=True),
            "/api/openapi.json": _get("this description", _OBJECT),
            "/api/events/schema": _get("the JSON Schemas of all events", _OBJECT),
            "/events": _get("the journal as Server-Sent Events", _TEXT, events, media="text/event-stream", bad=True),
            "/status": _get("accounts, games, journal", _OBJECT),
            "/healthz": _get("whether process and streams are alive", _OBJECT, sick=True),
            "/readyz": _get("whether games are taken", _OBJECT, sick=True),
            "/metrics": _get("Prometheus metrics", _TEXT, media="text/plain", missing=True),
        },
        "components": {"schemas": {"Error": _ERROR, **definitions("#/components/schemas/")}},
    }


def _query(name: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "schema": schema}


def _get(
    summary: str,
    schema: Json,
    parameters: list[Json] | None = None,
    *,
    media: str = "application/json",
    bad: bool = False,
    missing: bool = False,
    sick: bool = False,
) -> Json:
    refused = _answer("refused, and why", {"$ref": "#/components/schemas/Error"})
    answers = {"200": _answer(summary, schema, media)}
    answers |= {"400": refused} if bad else {}
    answers |= {"404": refused} if missing else {}
    answers |= {"503": _answer("not now", schema)} if sick else {}
    return {"get": {"summary": summary, "parameters": parameters or [], "responses": answers}}


def _answer(description: str, schema: Json, media: str = "application/json") -> Json:
    return {"description": description, "content": {media: {"schema": schema}}}
