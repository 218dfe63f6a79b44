"""Playing: the same calls for bots and for the Board API, each under its own path (Lichess API §1.4, §1.5)."""

import asyncio
from collections.abc import Awaitable, Callable

import chess

from bridge.arena import lines, offers, referee
from bridge.arena.audience import Player
from bridge.arena.game import Game
from bridge.arena.happenings import Happening, Rejected
from bridge.arena.http import Call, Reply, Route, json_reply, ok

_LONGEST_CHAT = 140
_UPGRADE = "This endpoint can only be used with a Bot account. See https://lichess.org/api#operation/botAccountUpgrade"

Play = Callable[[Call, Game, chess.Color], Awaitable[Reply]]


async def stream(call: Call, game: Game, color: chess.Color) -> Reply:
    """The player's own stream; the same program opening it again ends the older one."""
    hall, seats = call.hall, call.hall.audience.players[game.id]
    user_agent = call.request.headers.get("User-Agent", "")
    for older in seats:
        if older.color == color and older.user_agent == user_agent:
            older.stream.end()
    opened = call.new_stream("game", game.id)
    first = [lines.game_full(game, hall.game_now_ms(game))]
    if game.over:
        opened.end()
        return await call.stream(opened.name, first, opened, hall.settings.keep_alive_s)
    player = Player(opened, color, call.me.is_bot, user_agent)
    hall.audience.sit_down(game, player)
    hall.presence.came(game, color)
    try:
        return await call.stream(opened.name, first, opened, hall.settings.keep_alive_s)
    finally:
        seats.remove(player)
        hall.presence.left(game, color, hall.now_ms())


async def move(call: Call, game: Game, color: chess.Color) -> Reply:
    """A standing offer or repetition is settled first; the game may be over by then, which is no error."""
    hall = call.hall
    if call.flag("offeringDraw", False) and not game.over:
        _happen(call, game, offers.draw_yes(game, color, hall.game_now_ms(game)))
        if game.over:
            return ok()
    hall.move(game, color, call.part("uci"))
    return ok()


def _happen(call: Call, game: Game, happenings: list[Happening]) -> Reply:
    call.hall.happen(game, happenings)
    return ok()


async def abort(call: Call, game: Game, color: chess.Color) -> Reply:
    return _happen(call, game, referee.abort(game, call.hall.game_now_ms(game)))


async def resign(call: Call, game: Game, color: chess.Color) -> Reply:
    return _happen(call, game, referee.resign(game, color, call.hall.game_now_ms(game)))


async def draw(call: Call, game: Game, color: chess.Color) -> Reply:
    now_ms = call.hall.game_now_ms(game)
    agrees = _agrees(call)
    return _happen(call, game, offers.draw_yes(game, color, now_ms) if agrees else offers.draw_no(game, color))


async def takeback(call: Call, game: Game, color: chess.Color) -> Reply:
    answer = offers.takeback_yes if _agrees(call) else offers.takeback_no
    return _happen(call, game, answer(game, color, call.hall.game_now_ms(game)))


def _agrees(call: Call) -> bool:
    return call.part("accept").lower() in ("yes", "true", "1")


async def claim_victory(call: Call, game: Game, color: chess.Color) -> Reply:
    return await _claim(call, game, color, win=True, error="You cannot claim the win on this game")


async def claim_draw(call: Call, game: Game, color: chess.Color) -> Reply:
    return await _claim(call, game, color, win=False, error="You cannot claim a draw on this game")


async def _claim(call: Call, game: Game, color: chess.Color, *, win: bool, error: str) -> Reply:
    """Claim, wait, look; a claim that does not apply says 200, one that ends otherwise than claimed 400."""
    hall = call.hall
    if not referee.claimable(game, color):
        return ok()
    if hall.presence.gone_for_good(game, not color, hall.now_ms()):
        hall.happen(game, referee.claim(game, color, hall.game_now_ms(game), win=win))
    await asyncio.sleep(hall.settings.claim_wait_s)
    if not game.over or (win and game.winner != color):
        raise Rejected(error)
    return ok()


async def berserk(call: Call, game: Game, color: chess.Color) -> Reply:
    return _happen(call, game, referee.berserk(game, color))


async def chat(call: Call, game: Game, color: chess.Color) -> Reply:
    room, text = call.form.get("room", "player"), call.form.get("text", "").strip()
    if room not in ("player", "spectator") or not text:
        raise Rejected("room must be player or spectator, and text must not be empty")
    if len(text) > _LONGEST_CHAT:
        raise Rejected(f"Maximum length is {_LONGEST_CHAT}")
    call.hall.say(game, room, call.me.name, text)
    return ok()


async def read_chat(call: Call, game: Game, color: chess.Color) -> Reply:
    return json_reply(call.hall.chats[game.id, "player"])


async def spectator_chat(call: Call) -> Reply:
    return json_reply(call.hall.chats[call.game.id, "spectator"])


async def add_time(call: Call) -> Reply:
    game, color = call.own_game()
    try:
        seconds = int(call.part("seconds"))
    except ValueError:
        raise Rejected("seconds must be a whole number") from None
    return _happen(call, game, referee.give_time(game, color, seconds, call.hall.game_now_ms(game)))


def _checked(play: Play, *, bot: bool) -> Callable[[Call], Awaitable[Reply]]:
    """The account and the game must fit the family of calls; finished games may still be read."""

    async def answer(call: Call) -> Reply:
        if bot and not call.me.is_bot:
            raise Rejected(_UPGRADE)
        if not bot and call.me.is_bot:
            raise Rejected("Bot accounts cannot use the Board API", status=403)
        game, color = call.own_game()
        allowed = lines.playable(game, board_min_speed=call.hall.settings.board_min_speed)
        if not allowed[0 if bot else 1]:
            raise Rejected(f"This game cannot be played with the {'Bot' if bot else 'Board'} API.")
        if game.recorded and call.request.method != "GET":
            raise Rejected("This game is a replay: it can only be watched")
        return await play(call, game, color)

    return answer


_CALLS: tuple[tuple[str, str, str, Play], ...] = (
    ("GET", "stream/{id}", "game_stream", stream),
    ("POST", "{id}/move/{uci}", "move", move),
    ("POST", "{id}/abort", "abort", abort),
    ("POST", "{id}/resign", "resign", resign),
    ("POST", "{id}/draw/{accept}", "draw", draw),
    ("POST", "{id}/takeback/{accept}", "takeback", takeback),
    ("POST", "{id}/claim-victory", "claim_victory", claim_victory),
    ("POST", "{id}/claim-victory/", "claim_victory", claim_victory),
    ("POST", "{id}/claim-draw", "claim_draw", claim_draw),
    ("POST", "{id}/berserk", "berserk", berserk),
    ("POST", "{id}/chat", "chat", chat),
    ("GET", "{id}/chat", "read_chat", read_chat),
)


def _family(name: str, *, bot: bool) -> tuple[Route, ...]:
    scopes = frozenset({f"{name}:play"})
    return tuple(
        Route(method, f"/api/{name}/game/{path}", kind, _checked(play, bot=bot), scopes)
        for method, path, kind, play in _CALLS
    )


ROUTES = (
    *_family("bot", bot=True),
    *_family("board", bot=False),
    Route("POST", "/api/round/{id}/add-time/{seconds}", "add_time", add_time, frozenset({"challenge:write"})),
    Route("GET", "/api/game/{id}/chat", "spectator_chat", spectator_chat),
)
