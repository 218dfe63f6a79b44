"""Lichess lines and answers as interface types. Pure; nothing else in the program knows what Lichess JSON looks like.

Every function raises WireError on what is malformed; a type that is not known is None (API §1.3, §1.5).
"""

from dataclasses import dataclass

import chess

from bridge.interfaces import (
    AccountEvent,
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    ChatLine,
    GameFinished,
    GameInfo,
    GameMessage,
    GameOpened,
    GameStarted,
    GameState,
    OpponentGone,
    Player,
)
from bridge.platforms.lichess import shapes
from bridge.platforms.lichess.shapes import WireError, check, read_object
from bridge.rules.snapshot import Snapshot, TimeControl

_COLORS = {"white": chess.WHITE, "black": chess.BLACK}
_UNLIMITED_MS = 2_147_483_647
_SIDES = (
    (frozenset[chess.Color](), frozenset({chess.BLACK})),
    (frozenset({chess.WHITE}), frozenset({chess.WHITE, chess.BLACK})),
)


# -- the event stream (§1.3) ---------------------------------------------------------------------------------------


def parse_account_event(line: bytes) -> AccountEvent | None:
    """One line of the event stream; our own challenges are told like others here."""
    found = read_object(line)
    match found.get("type"):
        case "gameStart":
            return parse_started(found.get("game"))
        case "gameFinish":
            return GameFinished(parse_started(found.get("game")).game_id)
        case "challenge":
            return ChallengeReceived(parse_challenge(found.get("challenge")))
        case "challengeCanceled":
            return ChallengeGone(_challenge_shape(found.get("challenge")).id, "canceled")
        case "challengeDeclined":
            challenge = _challenge_shape(found.get("challenge"))
            return ChallengeGone(challenge.id, challenge.decline_reason or "declined")
    return None


def parse_started(found: object) -> GameStarted:
    """A game of ours: `game` of a gameStart, or an entry of the games in progress (§1.2)."""
    game = check(shapes.GameRef, found, "game")
    game_id = game.game_id or game.id
    if not game_id:
        raise WireError("game: it has no id")
    opponent = _opponent(game.opponent or shapes.User())
    left_ms = None if game.seconds_left is None else 1000 * game.seconds_left
    seat = parse_color(game.color)
    return GameStarted(game_id, seat, game.tournament_id, opponent, game.speed, game.is_my_turn, left_ms)


def _opponent(user: shapes.User) -> Player:
    title, _, name = user.username.rpartition(" ")
    return Player(user.id, name, title, user.rating)


def parse_challenge(found: object) -> Challenge:
    """A challenge object, from the stream or as the answer to a new one (§1.3, §1.6)."""
    challenge = _challenge_shape(found)
    asked = challenge.time_control
    control = TimeControl(1000 * asked.limit, 1000 * asked.increment) if asked.limit is not None else None
    return Challenge(
        id=challenge.id,
        challenger=to_player(challenge.challenger or shapes.User()),
        opponent=to_player(challenge.dest_user or shapes.User()),
        variant=challenge.variant,
        rated=challenge.rated,
        speed=challenge.speed,
        time_control=control if asked.type == "clock" else None,
        color=challenge.color,
        start_fen=start_fen(challenge.initial_fen),
        days=asked.days if asked.type == "correspondence" else None,
        rematch_of=challenge.rematch_of,
    )


def _challenge_shape(found: object) -> shapes.ChallengeShape:
    return check(shapes.ChallengeShape, found, "challenge")


# -- a player's game stream (§1.5) -----------------------------------------------------------------------------------


def parse_game_line(line: bytes, *, at_ms: int, site: str) -> GameMessage | None:
    """One line of a bot or board game stream, read at `at_ms` of a steady clock; `site` is the server's address."""
    found = read_object(line)
    match found.get("type"):
        case "gameFull":
            game = check(shapes.Game, found, "gameFull")
            snapshot = _snapshot(game.state, at_ms)
            return GameOpened(_game_info(game, site), snapshot, _draws(game.state), _takebacks(game.state))
        case "gameState":
            state = check(shapes.State, found, "gameState")
            return GameState(_snapshot(state, at_ms), _draws(state), _takebacks(state))
        case "chatLine":
            chat = check(shapes.Chat, found, "chatLine")
            return ChatLine(chat.username, chat.text, chat.room)
        case "opponentGone":
            gone = check(shapes.Gone, found, "opponentGone")
            return OpponentGone(gone.gone, None if gone.claim_in_s is None else 1000 * gone.claim_in_s)
    return None


def _game_info(game: shapes.Game, site: str) -> GameInfo:
    return GameInfo(
        id=game.id,
        white=to_player(game.white),
        black=to_player(game.black),
        variant=game.variant,
        rated=game.rated,
        speed=game.speed,
        time_control=TimeControl(game.clock.initial, game.clock.increment) if game.clock else None,
        start_fen=start_fen(game.initial_fen),
        tournament=game.tournament_id or game.swiss_id,
        url=f"{site}/{game.id}",
    )


def _snapshot(state: shapes.State, at_ms: int) -> Snapshot:
    return Snapshot(
        moves=tuple(state.moves.split()),
        status=state.status,
        winner=parse_color(state.winner),
        white_ms=_clock_ms(state.wtime),
        black_ms=_clock_ms(state.btime),
        at_ms=at_ms,
    )


def _clock_ms(shown_ms: int | None) -> int | None:
    return None if shown_ms == _UNLIMITED_MS else shown_ms


def _draws(state: shapes.State) -> frozenset[chess.Color]:
    return _sides(state.wdraw, state.bdraw)


def _takebacks(state: shapes.State) -> frozenset[chess.Color]:
    return _sides(state.wtakeback, state.btakeback)


def _sides(white: bool, black: bool) -> frozenset[chess.Color]:
    return _SIDES[white][black]


def parse_color(word: str) -> chess.Color | None:
    """None for anything but white and black."""
    return _COLORS.get(word)


def start_fen(fen: str | None) -> str | None:
    """None for the usual start position."""
    return None if not fen or fen in ("startpos", chess.STARTING_FEN) else fen


def to_player(user: shapes.User) -> Player:
    """A player; Lichess's own engine has a level and no name, and counts as a bot."""
    if user.ai_level is not None:
        return Player(name=f"Stockfish level {user.ai_level}", title="BOT")
    return Player(user.id, user.name or user.username or user.id, user.title, user.rating)


# -- the rest (§1.2, §1.8) -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What a token may do; `expires_at_ms` of Unix time, None for never."""

    user_id: str
    scopes: frozenset[str]
    expires_at_ms: int | None = None


def parse_token(answer: bytes) -> TokenFacts | None:
    """The answer to a test of one token; None: nobody has this token."""
    for found in read_object(answer).values():
        if found is not None:
            token = check(shapes.Token, found, "token")
            scopes = frozenset(scope.strip() for scope in token.scopes.split(",") if scope.strip())
            return TokenFacts(token.user_id, scopes, token.expires)
    return None


def parse_user(found: object) -> Player:
    """An account: ours, or one in a list of users."""
    user = check(shapes.User, found, "user")
    if not user.id:
        raise WireError("user: it has no id")
    return to_player(user)


def parse_chat(answer: bytes) -> list[ChatLine]:
    """The lines of the players' room."""
    lines = [check(shapes.SaidLine, found, "chat") for found in read_list(answer)]
    return [ChatLine(line.user, line.text) for line in lines]


def parse_playing(answer: bytes, name: str) -> str | None:
    """The id of the game a user plays now, "" for none, from users/status; None: there is no such user."""
    for found in read_list(answer):
        status = check(shapes.UserStatus, found, "user status")
        if status.id == name.lower():
            return status.playing_id
    return None


def read_list(answer: bytes) -> list[object]:
    """The JSON array in an answer."""
    found = read_object(b'{"list":' + answer + b"}").get("list")
    if not isinstance(found, list):
        raise WireError(f"not a JSON array: {shapes.shown(answer)}")
    return found


def parse_tv_line(line: bytes) -> str | None:
    """The id of the game that a TV channel turns to; None for a line that names none."""
    tv = check(shapes.TvLine, read_object(line), "TV line")
    return tv.d.id or None if tv.t == "featured" else None
