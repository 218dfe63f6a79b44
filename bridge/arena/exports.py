"""Games as PGN and as export JSON, with the platform's rounding (Lichess API §1.8, §2.3). Pure."""

import datetime
from dataclasses import dataclass

import chess

from bridge.arena.control import VARIANTS, TimeControl, perf_key
from bridge.arena.game import Game
from bridge.arena.happenings import Status
from bridge.arena.lines import color_name, seconds, user
from bridge.arena.streams import Json

_TERMINATION = {
    Status.STARTED: "Unterminated",
    Status.ABORTED: "Abandoned",
    Status.NO_START: "Abandoned",
    Status.TIMEOUT: "Time forfeit",
    Status.OUT_OF_TIME: "Time forfeit",
    Status.CHEAT: "Rules infraction",
    Status.UNKNOWN_FINISH: "Unknown",
}
_FEWEST_SHOWN = 5
_EXACT_BELOW_CS = 1000


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Query flags; `delayed` cuts a running game's moves and clocks to three before the last, never below five."""

    moves: bool = True
    tags: bool = True
    clocks: bool = True
    pgn_in_json: bool = False
    delayed: bool = False


def shown_plies(game: Game, options: ExportOptions) -> int:
    if game.over or not options.delayed:
        return game.plies
    return min(game.plies, max(_FEWEST_SHOWN, game.plies - 3))


def stored_clocks_cs(game: Game) -> list[int]:
    """The clocks after each ply; when the game ended mid-turn, then also that of the side to move.

    Once a game is over, values from ten seconds up come back as 8n+3; each side's last one is exact, and so is all of
    a recorded game.
    """
    clocks_cs = [*game.clocks_cs, *([] if game.end_clock_cs is None else [game.end_clock_cs])]
    if not game.over or game.recorded:
        return clocks_cs
    exact_from = len(clocks_cs) - 2
    return [cs // 8 * 8 + 3 if cs >= _EXACT_BELOW_CS and ply < exact_from else cs for ply, cs in enumerate(clocks_cs)]


def result(game: Game) -> str:
    if game.winner is not None:
        return "1-0" if game.winner else "0-1"
    undecided = (Status.STARTED, Status.ABORTED, Status.UNKNOWN_FINISH, Status.NO_START)
    return "*" if game.status in undecided else "1/2-1/2"


def tags(game: Game) -> dict[str, str]:
    """In Lichess's order."""
    created = datetime.datetime.fromtimestamp(game.created_at_ms / 1000, datetime.UTC)
    rated = "rated" if game.rated else "casual"
    found = {
        "Event": f"{rated} {perf_key(game.variant, game.speed)} game",
        "Site": f"https://lichess.org/{game.id}",
        "Date": f"{created:%Y.%m.%d}",
        "Round": "-",
        "White": game.white.name,
        "Black": game.black.name,
        "Result": result(game),
        "GameId": game.id,
        "UTCDate": f"{created:%Y.%m.%d}",
        "UTCTime": f"{created:%H:%M:%S}",
        "WhiteElo": str(game.white.rating),
        "BlackElo": str(game.black.rating),
    }
    if game.white.title:
        found["WhiteTitle"] = game.white.title
    if game.black.title:
        found["BlackTitle"] = game.black.title
    found |= {"Variant": VARIANTS[game.variant][0], "TimeControl": game.control.tag}
    found["Termination"] = _TERMINATION.get(game.status, "Normal")
    if game.initial_fen:
        found |= {"FEN": game.initial_fen, "SetUp": "1"}
    return found


def pgn(game: Game, options: ExportOptions = ExportOptions()) -> str:
    """One game as Lichess writes it: tags, a blank line, moves and result on one line, two blank lines."""
    head = "".join(f'[{name} "{value}"]\n' for name, value in tags(game).items()) + "\n" if options.tags else ""
    text = _movetext(game, options) if options.moves else ""
    return f"{head}{text}{result(game)}\n\n\n"


def _movetext(game: Game, options: ExportOptions) -> str:
    clocks_cs = stored_clocks_cs(game) if options.clocks and game.clock is not None else None
    number, white = game.start.fullmove_number, game.start.turn == chess.WHITE
    words: list[str] = []
    for ply, san in enumerate(game.sans[: shown_plies(game, options)]):
        if white:
            words.append(f"{number}. {san}")
        elif clocks_cs is not None or ply == 0:
            words.append(f"{number}... {san}")
        else:
            words.append(san)
        if clocks_cs is not None:
            words.append(f"{{ [%clk {_hms(seconds(clocks_cs[ply]))}] }}")
        number += not white
        white = not white
    return "".join(f"{word} " for word in words)


def _hms(whole_s: int) -> str:
    return f"{whole_s // 3600}:{whole_s // 60 % 60:02}:{whole_s % 60:02}"


def export_json(game: Game, options: ExportOptions) -> Json:
    shown = shown_plies(game, options)
    body: Json = {
        "id": game.id,
        "rated": game.rated,
        "variant": game.variant,
        "speed": game.speed,
        "perf": perf_key(game.variant, game.speed),
        "createdAt": game.created_at_ms,
        "lastMoveAt": game.moved_at_ms,
        "status": game.status.key,
        "source": game.source,
        "players": {color_name(color): _player(game, color) for color in chess.COLORS},
    }
    if game.initial_fen:
        body["initialFen"] = game.initial_fen
    if game.winner is not None:
        body["winner"] = color_name(game.winner)
    if options.moves:
        body["moves"] = " ".join(game.sans[:shown])
    if options.clocks and game.clock is not None:
        clocks_cs = stored_clocks_cs(game)
        body["clocks"] = clocks_cs if game.over else clocks_cs[:shown]
    if options.pgn_in_json:
        body["pgn"] = pgn(game, options)
    if isinstance(game.control, TimeControl):
        control = game.control
        body["clock"] = {"initial": control.limit_s, "increment": control.increment_s, "totalTime": control.estimate_s}
    elif game.control.days:
        body["daysPerTurn"] = game.control.days
    return body


def _player(game: Game, color: chess.Color) -> Json:
    seat = game.seat(color)
    player: Json = {"user": user(seat.name, seat.title), "rating": seat.rating}
    return {**player, "berserk": True} if game.sides[color].berserk else player
