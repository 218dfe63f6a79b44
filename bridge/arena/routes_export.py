"""Downloads of games (Lichess API §1.8): strangers get a running game three plies late, its players all of it."""

import asyncio
import json
from collections.abc import Sequence

from aiohttp import web

from bridge.arena.exports import ExportOptions, export_json, pgn
from bridge.arena.game import Game
from bridge.arena.happenings import Rejected
from bridge.arena.http import Call, Reply, Route, json_reply, ndjson_reply

_PGN = "application/x-chess-pgn"
_MOST_IDS = 300


def _options(call: Call, game: Game, *, clocks: bool) -> ExportOptions:
    own = call.account is not None and game.color_of(call.account.id) is not None
    return ExportOptions(
        moves=call.flag("moves", True),
        tags=call.flag("tags", True),
        clocks=call.flag("clocks", clocks),
        pgn_in_json=call.flag("pgnInJson", False),
        delayed=not own,
    )


def _one(call: Call, game: Game) -> Reply:
    options = _options(call, game, clocks=True)
    if call.wants_json():
        return json_reply(export_json(game, options))
    return web.Response(text=pgn(game, options), content_type=_PGN)


def _many(call: Call, games: Sequence[Game]) -> Reply:
    if call.wants_json():
        return ndjson_reply([export_json(game, _options(call, game, clocks=False)) for game in games])
    text = "".join(pgn(game, _options(call, game, clocks=False)) for game in games)
    return web.Response(text=text, content_type=_PGN)


async def one(call: Call) -> Reply:
    return _one(call, call.game)


async def by_ids(call: Call) -> Reply:
    ids = [game_id.strip() for game_id in call.text.split(",") if game_id.strip()]
    if len(ids) > _MOST_IDS:
        raise Rejected(f"Too many ids: {len(ids)}, expected up to {_MOST_IDS}")
    games = [call.hall.games[game_id] for game_id in ids if game_id in call.hall.games]
    return await _in_time(call, games) if call.wants_json() else _many(call, games)


async def _in_time(call: Call, games: Sequence[Game]) -> Reply:
    """So many games a second, as Lichess writes a download."""
    pause_s = 1 / (call.hall.settings.exported_per_s * (1.5 if call.account else 1))
    reply = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    reply.enable_chunked_encoding()
    await reply.prepare(call.request)
    for game in games:
        body = export_json(game, _options(call, game, clocks=False))
        await reply.write(json.dumps(body, ensure_ascii=False).encode() + b"\n")
        await asyncio.sleep(pause_s)
    return reply


async def by_user(call: Call) -> Reply:
    """Newest first unless asked otherwise; running games only when asked for."""
    owner = call.hall.accounts.of_name(call.part("name"))
    since_ms, until_ms = call.whole("since", 0, 0, 2**53), call.whole("until", 2**53, 0, 2**53)
    ongoing, finished = call.flag("ongoing", False), call.flag("finished", True)
    games = [
        game
        for game in call.hall.games_of(owner.id)
        if (finished if game.over else ongoing) and since_ms <= game.created_at_ms <= until_ms
    ]
    if call.form.get("sort", "dateDesc") != "dateAsc":
        games.reverse()
    return _many(call, games[: call.whole("max", len(games), 0, 2**31)])


async def current(call: Call) -> Reply:
    """The game being played now, else the last one."""
    owner = call.hall.accounts.of_name(call.part("name"))
    games = call.hall.games_of(owner.id)
    game = next((game for game in reversed(games) if not game.over), games[-1] if games else None)
    if game is None:
        raise Rejected("No such game", status=404)
    return _one(call, game)


ROUTES = (
    Route("GET", "/game/export/{id}", "export", one),
    Route("POST", "/api/games/export/_ids", "export_ids", by_ids),
    Route("GET", "/api/games/user/{name}", "export_user", by_user),
    Route("GET", "/api/user/{name}/current-game", "current_game", current),
)
