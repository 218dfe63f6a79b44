"""The JSON objects that stream lines and answers are made of (Lichess API §1). Pure: game and time in, JSON out."""

from collections.abc import Iterator

import chess

from bridge.arena.accounts import Account
from bridge.arena.challenges import DECLINE_REASONS, Challenge
from bridge.arena.control import SPEEDS, VARIANTS, Control, TimeControl, perf_key, perf_name
from bridge.arena.game import Game, Seat
from bridge.arena.streams import Json

_BOT_SOURCES = ("friend", "api", "ai", "arena")


def color_name(color: chess.Color) -> str:
    return "white" if color else "black"


def variant(key: str, *, short: bool = True) -> Json:
    name, abbreviation = VARIANTS[key]
    return {"key": key, "name": name, **({"short": abbreviation} if short else {})}


def user(name: str, title: str | None) -> Json:
    return {"id": name.lower(), "name": name, **({"title": title} if title else {})}


def seconds(cs: int) -> int:
    """Whole seconds, halves up, as spectators and PGN readers get them."""
    return (cs + 50) // 100


def playable(game: Game, *, board_min_speed: str) -> tuple[bool, bool]:
    """Whether the Bot API and the Board API may play this game (§1.4); the streams of a replay are open to both."""
    if game.recorded:
        return True, True
    bot = game.speed != "ultraBullet"
    board = SPEEDS.index(game.speed) >= SPEEDS.index(board_min_speed)
    return bot and game.source in _BOT_SOURCES, board


# Player streams (§1.5)


def game_full(game: Game, now_ms: int) -> Json:
    line: Json = {
        "type": "gameFull",
        "id": game.id,
        "variant": variant(game.variant),
        "speed": game.speed,
        "perf": {"name": perf_name(perf_key(game.variant, game.speed))},
        "rated": game.rated,
        "createdAt": game.created_at_ms,
        "white": _player(game.white),
        "black": _player(game.black),
        "initialFen": game.initial_fen or "startpos",
    }
    if isinstance(game.control, TimeControl):
        line["clock"] = {"initial": 1000 * game.control.limit_s, "increment": 1000 * game.control.increment_s}
    elif game.control.days:
        line["daysPerTurn"] = game.control.days
    if game.tournament_id:
        line["tournamentId"] = game.tournament_id
    line["state"] = game_state(game, now_ms)
    return line


def _player(seat: Seat) -> Json:
    player: Json = {"id": seat.id, "name": seat.name, "title": seat.title, "rating": seat.rating}
    return {**player, "provisional": True} if seat.provisional else player


def game_state(game: Game, now_ms: int) -> Json:
    increment_ms = 1000 * game.control.increment_s if isinstance(game.control, TimeControl) else 0
    state: Json = {
        "type": "gameState",
        "moves": " ".join(game.moves),
        "wtime": game.shown_ms(chess.WHITE, now_ms),
        "btime": game.shown_ms(chess.BLACK, now_ms),
        "winc": increment_ms,
        "binc": increment_ms,
        "status": game.status.key,
    }
    if game.winner is not None:
        state["winner"] = color_name(game.winner)
    for letter, color in (("w", chess.WHITE), ("b", chess.BLACK)):
        if game.sides[color].offers_draw and not game.over:
            state[f"{letter}draw"] = True
        if game.sides[color].proposes_takeback and not game.over:
            state[f"{letter}takeback"] = True
    return state


def chat_line(room: str, username: str, text: str) -> Json:
    return {"type": "chatLine", "room": room, "username": username, "text": text}


def opponent_gone(claim_in_s: int | None) -> Json:
    """None: the opponent is back."""
    if claim_in_s is None:
        return {"type": "opponentGone", "gone": False}
    return {"type": "opponentGone", "gone": True, "claimWinInSeconds": claim_in_s}


# Event stream and /api/account/playing (§1.2, §1.3)


def game_event(game: Game, color: chess.Color, now_ms: int, *, board_min_speed: str) -> Json:
    """The `game` of gameStart and gameFinish, seen by one player."""
    seat, bot_board = game.seat(color), playable(game, board_min_speed=board_min_speed)
    return {
        **playing(game, color, now_ms),
        "id": game.id,
        "rating": seat.rating,
        "compat": {"bot": seat.is_bot and bot_board[0], "board": bot_board[1]},
    }


def playing(game: Game, color: chess.Color, now_ms: int) -> Json:
    opponent = game.seat(not color)
    entry: Json = {
        "fullId": game.full_id(color),
        "gameId": game.id,
        "fen": game.board.fen(),
        "color": color_name(color),
        "lastMove": game.moves[-1] if game.moves else "",
        "source": game.source,
        "status": {"id": game.status.number, "name": game.status.key},
        "variant": variant(game.variant, short=False),
        "speed": game.speed,
        "perf": perf_key(game.variant, game.speed),
        "rated": game.rated,
        "hasMoved": game.plies > (0 if color == game.start.turn else 1),
        "opponent": {
            "id": opponent.id,
            "username": f"{opponent.title} {opponent.name}" if opponent.title else opponent.name,
            "rating": opponent.rating,
        },
        "isMyTurn": not game.over and game.turn == color,
    }
    if game.clock is not None:
        entry["secondsLeft"] = seconds(game.clock.remaining_cs(color, now_ms))
    elif game.days is not None:
        entry["secondsLeft"] = game.shown_ms(color, now_ms) // 1000
    if game.tournament_id:
        entry["tournamentId"] = game.tournament_id
    if game.winner is not None:
        entry["winner"] = color_name(game.winner)
    return entry


def challenge(asked: Challenge, url: str, *, direction: str | None = None) -> Json:
    perf = perf_key(asked.variant, asked.speed)
    body: Json = {
        "id": asked.id,
        "url": f"{url}/{asked.id}",
        "status": asked.status.value,
        "challenger": _challenge_user(asked.challenger),
        "destUser": _challenge_user(asked.dest),
        "variant": variant(asked.variant),
        "rated": asked.rated,
        "speed": asked.speed,
        "timeControl": _time_control(asked.control),
        "color": asked.color,
        "finalColor": color_name(asked.final_color),
        "perf": {"icon": "", "name": perf_name(perf)},
    }
    if direction:
        body["direction"] = direction
    if asked.fen:
        body["initialFen"] = asked.fen
    if asked.rules:
        body["rules"] = sorted(asked.rules)
    if asked.rematch_of:
        body["rematchOf"] = asked.rematch_of
    if asked.decline_reason:
        body["declineReason"] = DECLINE_REASONS[asked.decline_reason]
        body["declineReasonKey"] = asked.decline_reason.lower()
    return body


def _challenge_user(account: Account) -> Json:
    return {"id": account.id, "name": account.name, "rating": account.rating, "title": account.title, "online": True}


def _time_control(control: Control) -> Json:
    if isinstance(control, TimeControl):
        limits: Json = {"limit": control.limit_s, "increment": control.increment_s, "show": control.show}
        return {"type": "clock", **limits}
    return {"type": "correspondence", "daysPerTurn": control.days} if control.days else {"type": "unlimited"}


# Spectators (§1.8)


def watched_game(game: Game) -> Json:
    """First and last line of the spectator stream."""
    body: Json = {
        "id": game.id,
        "variant": variant(game.variant),
        "speed": game.speed,
        "perf": perf_key(game.variant, game.speed),
        "rated": game.rated,
        "initialFen": game.initial_fen or chess.STARTING_FEN,
        "source": game.source,
        "createdAt": game.created_at_ms,
        "players": {color_name(color): _watched_player(game.seat(color)) for color in chess.COLORS},
    }
    if not game.over:
        return body
    body |= {
        "fen": game.board.fen(),
        "turns": game.plies,
        "player": color_name(game.turn),
        "status": {"id": game.status.number, "name": game.status.key},
        "lastMove": game.moves[-1] if game.moves else "",
    }
    return {**body, "winner": color_name(game.winner)} if game.winner is not None else body


def _watched_player(seat: Seat) -> Json:
    return {"user": user(seat.name, seat.title), "rating": seat.rating}


def positions(game: Game, after_ply: int = -1) -> Iterator[Json]:
    """One line for every position from the first on, those up to `after_ply` left out."""
    board = game.start.copy()
    shown_cs = {color: game.start_cs(color) for color in chess.COLORS}
    for ply in range(game.plies + 1):
        line: Json = {}
        if ply:
            if game.clock is not None:
                shown_cs[board.turn] = game.clocks_cs[ply - 1]
            board.push_uci(game.moves[ply - 1])
            line["lm"] = game.moves[ply - 1]
        if ply > after_ply:
            yield {"fen": board.fen(), **line, **_shown(game, shown_cs)}


def position(game: Game) -> Json:
    """The line of the position on the board; clocks are those after the last moves."""
    shown_cs = {color: game.last_clock_cs(color) for color in chess.COLORS}
    last: Json = {"lm": game.moves[-1]} if game.moves else {}
    return {"fen": game.board.fen(), **last, **_shown(game, shown_cs)}


def _shown(game: Game, shown_cs: dict[chess.Color, int]) -> Json:
    if game.clock is None:
        return {}
    return {"wc": seconds(shown_cs[chess.WHITE]), "bc": seconds(shown_cs[chess.BLACK])}


def listed_game(game: Game) -> Json:
    """The line of the streams of games by users and by ids."""
    body: Json = {
        "id": game.id,
        "rated": game.rated,
        "variant": game.variant,
        "speed": game.speed,
        "perf": perf_key(game.variant, game.speed),
        "createdAt": game.created_at_ms,
        "status": game.status.number,
        "statusName": game.status.key,
        "players": {
            color_name(color): {"userId": game.seat(color).id, "rating": game.seat(color).rating}
            for color in chess.COLORS
        },
    }
    if game.winner is not None:
        body["winner"] = color_name(game.winner)
    if game.initial_fen:
        body["initialFen"] = game.initial_fen
    if isinstance(game.control, TimeControl):
        control = game.control
        body["clock"] = {"initial": control.limit_s, "increment": control.increment_s, "totalTime": control.estimate_s}
    elif game.control.days:
        body["daysPerTurn"] = game.control.days
    return body


def featured(game: Game, now_ms: int) -> Json:
    """The TV line that names the game now shown."""
    players = [
        {
            "color": color_name(color),
            "user": user(game.seat(color).name, game.seat(color).title),
            "rating": game.seat(color).rating,
            "seconds": game.shown_ms(color, now_ms) // 1000,
        }
        for color in chess.COLORS
    ]
    body: Json = {"id": game.id, "orientation": "white", "players": players, "fen": game.board.board_fen()}
    return {"t": "featured", "d": body}
