"""Watching without playing: spectator stream, games by users and by ids, TV, a game's page (Lichess API §1.8)."""

import asyncio
import html

from aiohttp import web

from bridge.arena import exports, lines
from bridge.arena.audience import GamesList, Spectator, TvFeed
from bridge.arena.hall import Hall
from bridge.arena.happenings import Rejected
from bridge.arena.http import Call, Reply, Route, json_reply, ndjson_reply, ok
from bridge.arena.streams import Json
from bridge.arena.television import CHANNELS, on_channel, pick

_LIST_BUFFER = 150
_TV_BUFFER = 8
_MOST_USERS = 300


async def watch(call: Call) -> Reply:
    """Positions behind the spectators' delay, then the final game."""
    hall, game = call.hall, call.game
    with hall.watchers.hold(call.address):
        stream = call.new_stream("watch", game.id)
        spectator = Spectator(stream, game, hall.settings.spectator_delay_plies)
        first = spectator.opening()
        watching = hall.audience.spectators[game.id]
        if game.over:
            stream.end()
        else:
            hall.audience.look_on(game, spectator)
        try:
            return await call.stream(stream.name, first, stream, hall.settings.watch_keep_alive_s)
        finally:
            if spectator in watching:
                watching.remove(spectator)


def _names(text: str, most: int) -> list[str]:
    names = [name.strip() for name in text.replace("\n", ",").split(",") if name.strip()]
    if len(names) > most:
        raise Rejected(f"Too many ids: {len(names)}, expected up to {most}")
    return names


async def games_by_users(call: Call) -> Reply:
    users = frozenset(name.lower() for name in _names(call.text, _MOST_USERS))
    stream = call.new_stream("games", buffer=_LIST_BUFFER)
    wanted = GamesList(stream, user_ids=users)
    first = call.hall.running() if call.flag("withCurrentGames", False) else []
    return await _list(call, wanted, [lines.listed_game(game) for game in first if wanted.concerns(game)])


async def games_by_ids(call: Call) -> Reply:
    ids = _names(call.text, call.hall.settings.list_ids_a_call)
    stream = call.new_stream("games", call.part("stream_id"), buffer=_LIST_BUFFER)
    wanted = GamesList(stream, game_ids=set(ids))
    call.hall.spawn(asyncio.create_task(_tell(call.hall, wanted, ids)))
    return await _list(call, wanted, [])


async def _tell(hall: Hall, wanted: GamesList, ids: list[str]) -> None:
    """Where the games stand that there are, not all at once."""
    for game_id in ids:
        if game_id in hall.games:
            wanted.stream.send(lines.listed_game(hall.games[game_id]))
            await asyncio.sleep(1 / hall.settings.listed_per_s)


async def _list(call: Call, wanted: GamesList, first: list[Json]) -> Reply:
    hall = call.hall
    with hall.list_readers.hold(call.address):
        hall.audience.lists.append(wanted)
        try:
            return await call.stream(wanted.stream.name, first, wanted.stream, hall.settings.watch_keep_alive_s)
        finally:
            hall.audience.lists.remove(wanted)


async def add_ids(call: Call) -> Reply:
    hall, topic = call.hall, call.part("stream_id")
    streams = [games_list for games_list in hall.audience.lists if games_list.stream.name.topic == topic]
    if not streams:
        raise Rejected("Not found", status=404)
    ids = _names(call.text, hall.settings.list_ids_a_call)
    for games_list in streams:
        if len(games_list.game_ids | set(ids)) > hall.settings.list_ids_a_stream:
            raise Rejected(f"Too many ids: {len(ids)} more than {len(games_list.game_ids)}")
        games_list.game_ids.update(ids)
        hall.spawn(asyncio.create_task(_tell(hall, games_list, ids)))
    return ok()


def _channel(call: Call) -> str:
    channel = call.request.match_info.get("channel", "best")
    if channel not in CHANNELS:
        raise Rejected("No such channel", status=404)
    return channel


async def tv_channels(call: Call) -> Reply:
    shown = {channel: pick(call.hall.running(), channel) for channel in CHANNELS}
    return json_reply(
        {
            channel: {
                "user": lines.user(game.white.name, game.white.title),
                "rating": game.white.rating,
                "gameId": game.id,
                "color": "white",
            }
            for channel, game in shown.items()
            if game is not None
        }
    )


async def tv_feed(call: Call) -> Reply:
    hall = call.hall
    feed = TvFeed(call.new_stream("tv", _channel(call), buffer=_TV_BUFFER), _channel(call))
    hall.audience.television.append(feed)
    hall.audience.tune(feed, hall.running(), hall.now_ms())
    try:
        return await call.stream(feed.stream.name, [], feed.stream, hall.settings.watch_keep_alive_s)
    finally:
        hall.audience.television.remove(feed)


async def tv_games(call: Call) -> Reply:
    """The channel's games with all their moves and clocks: TV knows no delay."""
    options = exports.ExportOptions(
        moves=call.flag("moves", True),
        tags=call.flag("tags", True),
        clocks=call.flag("clocks", False),
        pgn_in_json=call.flag("pgnInJson", False),
    )
    games = on_channel(call.hall.running(), _channel(call))[: call.whole("nb", 10, 1, 30)]
    if call.wants_json():
        return ndjson_reply([exports.export_json(game, options) for game in games])
    return web.Response(
        text="".join(exports.pgn(game, options) for game in games), content_type="application/x-chess-pgn"
    )


async def page(call: Call) -> Reply:
    """A game's address resolves to something a person can read."""
    game = call.game
    title = html.escape(f"{game.white.name} - {game.black.name}")
    body = f"<p>{html.escape(game.speed)}, {len(game.moves)} plies, {html.escape(game.status.key)}</p>"
    moves = html.escape(exports.pgn(game, exports.ExportOptions(delayed=True)))
    text = f"<!doctype html><title>{title}</title><h1>{title}</h1>{body}<pre>{moves}</pre>\n"
    return web.Response(text=text, content_type="text/html")


async def unknown(_: Call) -> Reply:
    raise Rejected("Not found", status=404)


ROUTES = (
    Route("GET", "/api/stream/game/{id}", "watch", watch),
    Route("POST", "/api/stream/games-by-users", "games_by_users", games_by_users),
    Route("POST", "/api/stream/games/{stream_id}", "games_by_ids", games_by_ids),
    Route("POST", "/api/stream/games/{stream_id}/add", "add_ids", add_ids),
    Route("GET", "/api/tv/channels", "tv_channels", tv_channels),
    Route("GET", "/api/tv/feed", "tv_feed", tv_feed),
    Route("GET", "/api/tv/{channel}/feed", "tv_feed", tv_feed),
    Route("GET", "/api/tv/{channel}", "tv_games", tv_games),
    Route("GET", "/{id:[A-Za-z0-9]{8}(?:[A-Za-z0-9]{4})?}", "page", page),
    Route("*", "/{path:.*}", "unknown", unknown),
)
