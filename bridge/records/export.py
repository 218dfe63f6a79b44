"""Lichess export JSON → game (Lichess API §1.8; clock rules §2).

`clocks` are centiseconds after each ply; one entry more than plies is the side to move's clock when the game ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import chess

from bridge.errors import RecordError
from bridge.records import fields
from bridge.records.fields import Json
from bridge.records.game import Game, printable
from bridge.rules.position import start_board
from bridge.rules.snapshot import Anomaly, Snapshot, TimeControl

SOURCE = "export"
PRECISION_MS = 40
SITE = "https://lichess.org"
_VARIANTS = frozenset({"standard", "fromPosition", "chess960"})


@dataclass(frozen=True, slots=True)
class ExportedPlayer:
    """One side as the export names it; Stockfish is called by its level."""

    id: str = ""
    name: str = ""
    title: str = ""
    rating: int | None = None


@dataclass(frozen=True, slots=True)
class ExportedGame:
    """Everything the bridge uses of one exported game; `source` and `precision_ms` are those of its clocks."""

    id: str
    variant: str
    rated: bool
    speed: str
    tournament: str
    white: ExportedPlayer
    black: ExportedPlayer
    time_control: TimeControl | None
    start_fen: str | None
    chess960: bool
    snapshot: Snapshot
    source: str
    precision_ms: int | None

    def game(self, *, place: str, site: str = SITE) -> Game:
        """The same as a game to judge; `site` is the server it came from."""
        return Game(
            place=place,
            game_id=self.id,
            snapshot=self.snapshot,
            source=self.source,
            precision_ms=self.precision_ms,
            start_fen=self.start_fen,
            chess960=self.chess960,
            time_control=self.time_control,
            free_first_moves=True,
            white=self.white.name,
            black=self.black.name,
            site=f"{site.rstrip('/')}/{self.id}",
        )


def is_export(given: Json) -> bool:
    """Whether an object is an exported game with its moves, and no line of a stream."""
    return isinstance(given.get("moves"), str) and "type" not in given and ("players" in given or "variant" in given)


def read_export(given: Json) -> ExportedGame:
    """One parsed export object → game.

    Raises:
        RecordError: unsupported variant, bad FEN, illegal move, lengths that disagree, or a wrong type.
    """
    variant = _name(given.get("variant"), "variant", "key") or "standard"
    if variant not in _VARIANTS:
        raise RecordError(f"unsupported variant {variant!r}")
    start_fen = fields.text(given, "initialFen") or None
    start_fen = None if start_fen == "startpos" else start_fen
    start = start_board(start_fen)
    chess960 = variant == "chess960" or start.has_chess960_castling_rights()
    moves = _moves(start, fields.text(given, "moves"), chess960)
    players = fields.mapping(given, "players") or {}
    sides = [fields.mapping(players, name) or {} for name in ("white", "black")]
    control = _time_control(given)
    snapshot = _snapshot(given, moves, control, start.turn)
    clocked = snapshot.clocks_ms is not None
    return ExportedGame(
        id=printable(fields.text(given, "id")),
        variant=variant,
        rated=fields.flag(given, "rated"),
        speed=fields.text(given, "speed"),
        tournament=fields.text(given, "tournament") or fields.text(given, "swiss"),
        white=_player(sides[0]),
        black=_player(sides[1]),
        time_control=control,
        start_fen=start_fen,
        chess960=chess960,
        snapshot=snapshot,
        source=SOURCE if clocked else "none",
        precision_ms=PRECISION_MS if clocked else None,
    )


def _name(value: object, what: str, key: str) -> str:
    """Exports give the word alone, streams an object that holds it."""
    inner = value.get(key) if isinstance(value, dict) else value
    if inner is not None and not isinstance(inner, str):
        raise RecordError(f"{what} must be a name, not {fields.brief(value)}")
    return inner or ""


def _moves(start: chess.Board, text: str, chess960: bool) -> list[str]:
    board, out = start.copy(), []
    for ply, san in enumerate(text.split(), 1):
        try:
            move = board.parse_san(san)
        except ValueError as error:
            raise RecordError(f"illegal move {fields.brief(san)} at ply {ply} in {board.fen()}") from error
        if not move:
            raise RecordError(f"null move at ply {ply}")
        out.append(board.uci(move, chess960=chess960))
        board.push(move)
    return out


def _time_control(given: Json) -> TimeControl | None:
    clock = fields.mapping(given, "clock")
    if clock is None:
        return None
    values = [clock.get(name, 0) for name in ("initial", "increment")]
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10**7:
            raise RecordError(f"clock must be initial and increment in seconds, not {fields.brief(clock)}")
    initial, increment = (int(Decimal(str(value)) * 1000) for value in values)
    return TimeControl(initial, increment)


def _snapshot(given: Json, moves: list[str], control: TimeControl | None, start_turn: chess.Color) -> Snapshot:
    clocks = _clocks(given, len(moves)) if control is not None else None
    players = fields.mapping(given, "players") or {}
    to_move = start_turn if len(moves) % 2 == 0 else not start_turn
    left = clocks[-1] if clocks is not None and len(clocks) > len(moves) else None
    winner = given.get("winner")
    no_control = Anomaly("time_control", 0, "no clock in the export: judged on moves alone")
    return Snapshot(
        moves=moves,
        status=_name(given.get("status"), "status", "name") or "unknownFinish",
        winner=None if winner is None else fields.side(winner, "winner"),
        white_ms=left if to_move else None,
        black_ms=None if to_move else left,
        clocks_ms=clocks[: len(moves)] if clocks is not None else None,
        final_think_ms=0 if clocks is None else None,
        berserk=frozenset(
            side
            for side, name in ((chess.WHITE, "white"), (chess.BLACK, "black"))
            if fields.flag(fields.mapping(players, name) or {}, "berserk")
        ),
        notes=() if control is not None else (no_control,),
    )


def _clocks(given: Json, plies: int) -> Sequence[int] | None:
    clocks = fields.array(given, "clocks")
    if clocks is None:
        return None
    if len(clocks) not in (plies, plies + 1):
        raise RecordError(f"lengths disagree: {plies} moves, {len(clocks)} clocks")
    out = []
    for ply, centiseconds in enumerate(clocks, 1):
        if not fields.is_count(centiseconds):
            raise RecordError(f"clock {ply} must be centiseconds, 0 or more, not {fields.brief(centiseconds)}")
        out.append(centiseconds * 10)
    return out


def _player(given: Json) -> ExportedPlayer:
    user = fields.mapping(given, "user") or {}
    level = given.get("aiLevel")
    rating = given.get("rating")
    name = fields.text(user, "name") or fields.text(given, "name") or fields.text(given, "userId")
    if not name and level is not None:
        name = f"Stockfish level {level}"
    return ExportedPlayer(
        id=fields.text(user, "id") or fields.text(given, "userId"),
        name=printable(name),
        title=fields.text(user, "title"),
        rating=rating if fields.is_count(rating) else None,
    )
