"""Accounts, tokens and who is online (Lichess API §1.2)."""

from aiohttp import web

from bridge.arena import lines
from bridge.arena.accounts import Account
from bridge.arena.control import SPEEDS, TimeControl
from bridge.arena.game import Game
from bridge.arena.hall import Hall
from bridge.arena.happenings import Rejected, Status
from bridge.arena.http import Call, Reply, Route, json_reply, ndjson_reply, ok
from bridge.arena.streams import Json

_ANY = frozenset({"any"})
_FAR_MS = 4_102_444_800_000


def profile(call: Call, account: Account) -> Json:
    """A user as `/api/account` and `/api/user/{name}` show one."""
    hall = call.hall
    games = hall.games_of(account.id)
    perf = {"games": len(games), "rating": account.rating, "rd": 45, "prog": 0}
    body: Json = {
        "id": account.id,
        "username": account.name,
        "perfs": dict.fromkeys((*SPEEDS, "chess960"), perf),
        "createdAt": account.created_at_ms,
        "seenAt": hall.now_ms(),
        "playTime": {"total": 0, "tv": 0},
        "url": f"{hall.address}/@/{account.name}",
        "count": _count(games, account),
        "followable": True,
        "following": False,
        "blocking": False,
    }
    if account.title:
        body["title"] = account.title
    running = _playing(games)
    if running is not None:
        body["playing"] = f"{hall.address}/{running.id}"
    return body


def _count(games: list[Game], account: Account) -> Json:
    over = [game for game in games if game.over and game.status is not Status.ABORTED]
    won = sum(game.winner is not None and game.winner == game.color_of(account.id) for game in over)
    drawn = sum(game.winner is None for game in over)
    return {
        "all": len(over),
        "rated": sum(game.rated for game in over),
        "win": won,
        "draw": drawn,
        "loss": len(over) - won - drawn,
        "playing": sum(not game.over for game in games),
    }


def _playing(games: list[Game]) -> Game | None:
    return next((game for game in reversed(games) if not game.over), None)


async def account(call: Call) -> Reply:
    if not call.hall.account_reads.take(call.me.id, call.hall.now_ms()):
        raise Rejected("Too many requests. Please stream instead of polling.", status=429)
    return json_reply(profile(call, call.me))


async def user(call: Call) -> Reply:
    return json_reply(profile(call, call.hall.accounts.of_name(call.part("name"))))


async def test_tokens(call: Call) -> Reply:
    tokens = [token.strip() for token in call.text.split(",") if token.strip()]
    return json_reply({token: _token(call.hall.accounts.of_token(token)) for token in tokens[:1000]})


def _token(owner: Account | None) -> Json | None:
    if owner is None:
        return None
    return {"userId": owner.id, "scopes": ",".join(sorted(owner.scopes)), "expires": _FAR_MS}


async def upgrade(call: Call) -> Reply:
    if call.me.is_bot:
        raise Rejected("That is already a bot account")
    if call.hall.games_of(call.me.id):
        raise Rejected("You must have no games to become a bot")
    call.hall.accounts.upgrade(call.me)
    return ok()


async def playing(call: Call) -> Reply:
    hall, me = call.hall, call.me
    entries = []
    for game in hall.games_of(me.id):
        color = game.color_of(me.id)
        if not game.over and color is not None:
            entries.append(lines.playing(game, color, hall.game_now_ms(game)))
    mine = sum(bool(entry["isMyTurn"]) for entry in entries)
    return json_reply({"nowPlaying": entries[: call.whole("nb", 9, 1, 50)], "nbMyTurn": mine})


async def online_bots(call: Call) -> Reply:
    hall = call.hall
    bots = [bot for bot in hall.accounts if bot.is_bot and is_online(call, bot)]
    return ndjson_reply([profile(call, bot) for bot in bots[: call.whole("nb", 100, 1, 512)]])


def is_online(call: Call, account: Account) -> bool:
    """An event stream or a stream of one's own game, or one that ended just now (§1.3)."""
    hall = call.hall
    present = is_present(hall, account.id)
    recorded = any(game.recorded and not game.over for game in hall.games_of(account.id))
    return present or recorded or hall.accounts.online(account.id, hall.now_ms())


def is_present(hall: Hall, account_id: str) -> bool:
    """Whether somebody reads an event stream, or a game of their own."""
    streams = (stream.name for stream in hall.audience.open)
    return any(name.account == account_id and name.kind in ("event", "game") for name in streams)


async def statuses(call: Call) -> Reply:
    found = [call.hall.accounts.find(name.strip()) for name in call.form.get("ids", "").split(",")[:100]]
    return json_reply([_status(call, account) for account in found if account is not None])


def _status(call: Call, account: Account) -> Json:
    body = lines.user(account.name, account.title)
    if is_online(call, account):
        body["online"] = True
        if call.flag("withSignal", False):
            body["signal"] = 4
    game = _playing(call.hall.games_of(account.id))
    if game is None:
        return body
    body["playing"] = True
    if call.flag("withGameIds", False):
        body["playingId"] = game.id
    if call.flag("withGameMetas", False):
        body["playing"] = _game_meta(game)
    return body


def _game_meta(game: Game) -> Json:
    meta: Json = {"id": game.id}
    if isinstance(game.control, TimeControl):
        meta["clock"] = game.control.show
    return meta if game.variant == "standard" else {**meta, "variant": game.variant}


async def ping(_: Call) -> Reply:
    return web.Response(text="pong")


ROUTES = (
    Route("GET", "/api/account", "account", account, _ANY),
    Route("GET", "/api/account/playing", "playing", playing, _ANY),
    Route("GET", "/api/user/{name}", "user", user),
    Route("GET", "/api/users/status", "statuses", statuses),
    Route("POST", "/api/token/test", "token", test_tokens),
    Route("GET", "/api/bot/online", "online", online_bots),
    Route("POST", "/api/bot/account/upgrade", "upgrade", upgrade, frozenset({"bot:play"})),
    Route("GET", "/__ping", "ping", ping),
)
