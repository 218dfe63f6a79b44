"""The event stream and challenges (Lichess API §1.3, §1.6)."""

from bridge.arena import lines, referee
from bridge.arena.challenges import wish_of
from bridge.arena.happenings import Rejected, Status
from bridge.arena.http import Call, Reply, Route, json_reply, ok
from bridge.arena.streams import Json

_READ = frozenset({"challenge:read", "bot:play", "board:play"})
_WRITE = frozenset({"challenge:write", "bot:play", "board:play"})


async def event_stream(call: Call) -> Reply:
    """One per token: a second open ends the first. Opens with the running games and the pending challenges."""
    hall, me = call.hall, call.me
    if not hall.event_opens.take(me.id, hall.now_ms()):
        raise Rejected("Too many requests. Try again later.", status=429)
    stream = call.new_stream("event")
    older = hall.audience.events.get(me.id)
    if older is not None:
        older.end()
    hall.audience.events[me.id] = stream
    try:
        return await call.stream(stream.name, _opening(call), stream, hall.settings.keep_alive_s)
    finally:
        if hall.audience.events.get(me.id) is stream:
            del hall.audience.events[me.id]
        hall.accounts.seen(me.id, hall.now_ms() + round(1000 * hall.settings.online_memo_s))


def _opening(call: Call) -> list[Json]:
    hall, me = call.hall, call.me
    opening: list[Json] = []
    for game in hall.games_of(me.id):
        color = game.color_of(me.id)
        if not game.over and color is not None:
            opening.append(hall.game_event(game, color, "gameStart"))
    pending = call.desk.pending(me.id, incoming=True)
    return opening + [{"type": "challenge", "challenge": lines.challenge(asked, hall.address)} for asked in pending]


async def create(call: Call) -> Reply:
    hall, me = call.hall, call.me
    dest = hall.accounts.find(call.part("user"))
    if dest is None:
        raise Rejected(f"No such user: {call.part('user')}")
    wish = wish_of(call.form)
    if not call.flag("keepAliveStream", False):
        asked = call.desk.create(me, dest, wish)
        return json_reply(lines.challenge(asked, hall.address, direction="out"))
    stream = call.new_stream("challenge", dest.id)
    asked = call.desk.create(me, dest, wish, stream)
    first = [lines.challenge(asked, hall.address, direction="out")]
    try:
        return await call.stream(stream.name, first, stream, hall.settings.watch_keep_alive_s)
    finally:
        call.desk.lapse(asked)


async def accept(call: Call) -> Reply:
    call.desk.accept(call.me, call.part("id"))
    return ok()


async def decline(call: Call) -> Reply:
    call.desk.decline(call.me, call.part("id"), call.form.get("reason", "generic"))
    return ok()


async def cancel(call: Call) -> Reply:
    """A challenge; or a game: before two plies alone, later with the opponent's token."""
    hall, challenge_id = call.hall, call.part("id")
    game = hall.games.get(challenge_id[:8])
    if game is None:
        call.desk.cancel(call.me, challenge_id)
        return ok()
    game, _ = call.own_game()
    opponent = hall.accounts.of_token(call.form.get("opponentToken", ""))
    both = opponent is not None and opponent.id != call.me.id and game.color_of(opponent.id) is not None
    now_ms = hall.game_now_ms(game)
    if both and not game.over:
        hall.happen(game, referee.end(game, Status.ABORTED, None, now_ms))
    elif game.plies >= 2:
        raise Rejected("Missing opponentToken")
    else:
        hall.happen(game, referee.abort(game, now_ms))
    return ok()


async def listing(call: Call) -> Reply:
    sides = (("in", True), ("out", False))
    return json_reply(
        {
            direction: [
                lines.challenge(asked, call.hall.address, direction=direction)
                for asked in call.desk.pending(call.me.id, incoming=incoming)
            ]
            for direction, incoming in sides
        }
    )


async def show(call: Call) -> Reply:
    return json_reply(lines.challenge(call.desk.find(call.part("id")), call.hall.address))


async def start_clocks(call: Call) -> Reply:
    """No header: both players' tokens are in the query."""
    game = call.game
    tokens = (call.form.get("token1", ""), call.form.get("token2", ""))
    owners = {owner.id for token in tokens if (owner := call.hall.accounts.of_token(token)) is not None}
    if owners != {game.white.id, game.black.id}:
        raise Rejected("No such game", status=404)
    call.hall.happen(game, referee.start_clocks(game, call.hall.game_now_ms(game)))
    return ok()


ROUTES = (
    Route("GET", "/api/stream/event", "event_stream", event_stream, _READ),
    Route("GET", "/api/challenge", "challenges", listing, _READ),
    Route("POST", "/api/challenge/{id}/accept", "accept", accept, _WRITE),
    Route("POST", "/api/challenge/{id}/decline", "decline", decline, _WRITE),
    Route("POST", "/api/challenge/{id}/cancel", "cancel", cancel, _WRITE),
    Route("POST", "/api/challenge/{id}/start-clocks", "start_clocks", start_clocks),
    Route("GET", "/api/challenge/{id}/show", "show", show, _READ),
    Route("POST", "/api/challenge/{user}", "challenge", create, _WRITE),
)
