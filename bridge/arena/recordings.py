"""Recorded games, as `adjudicate` reads them, ready to be played: moves, the movers' clocks, and how it ended.

The files are read by `bridge.records`, so that a game means the same live and as a file.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import chess

from bridge.arena.control import Control, Correspondence, TimeControl
from bridge.arena.game import Seat
from bridge.arena.happenings import Status
from bridge.errors import RecordError
from bridge.records.game import Game
from bridge.records.reader import read_games

_ID = re.compile(r"[A-Za-z0-9]{8}")
_STATUSES = {status.key: status for status in Status} | {"started": Status.UNKNOWN_FINISH}
_ON_BOARD = (Status.MATE, Status.STALEMATE)


@dataclass(frozen=True, slots=True)
class RecordedPly:
    """A move and its mover's clock after it in centiseconds, None where the record has none."""

    uci: str
    clock_cs: int | None


@dataclass(frozen=True, slots=True)
class Recording:
    """A finished game; `ended_by_move` when the last move itself ended it, `ran_out` when the side to move had no time
    left at the end."""

    game_id: str
    """The platform's own, else made up from the game itself."""
    white: Seat
    black: Seat
    control: Control
    variant: str
    fen: str | None
    rated: bool
    plies: tuple[RecordedPly, ...]
    status: Status
    winner: chess.Color | None
    ended_by_move: bool
    ran_out: bool


def read_recordings(path: Path, broken: Callable[[RecordError], None] | None = None) -> list[Recording]:
    """All games of a file that can be played; raises RecordError when there are none.

    A game that cannot be played is told to `broken`, with file, number and line, and left out; without it, raised.
    """
    recordings: list[Recording] = []
    faults: list[RecordError] = []
    for game in read_games(path):
        try:
            if isinstance(game, RecordError):
                raise game
            recordings.append(recording_of(game))
        except RecordError as error:
            faults.append(error)
    if faults and (broken is None or (not recordings and len(faults) == 1)):
        raise faults[0]
    for fault in faults:
        assert broken is not None, "without it the first was raised"
        broken(fault)
    if not recordings:
        raise RecordError("holds no game that can be played; give a file with at least one", place=str(path))
    return recordings


def recording_of(game: Game) -> Recording:
    """One game that was read; raises RecordError where its position or moves cannot be."""
    snapshot = game.snapshot
    clocks_ms = snapshot.clocks_ms or [None] * len(snapshot.moves)
    plies = tuple(
        RecordedPly(uci, None if clock_ms is None else max(0, clock_ms) // 10)
        for uci, clock_ms in zip(snapshot.moves, clocks_ms, strict=True)
    )
    final = _final(game)
    by_move = final.is_checkmate() or final.is_stalemate() or _drawn_by_rule(final)
    status, winner = _ending(game, final, by_move)
    set_up = "fromPosition" if game.start_fen else "standard"
    white, black = _seats(game.tags)
    return Recording(
        game_id=_game_id(game),
        white=white,
        black=black,
        control=_control(game) if any(ply.clock_cs is not None for ply in plies) else Correspondence(),
        variant="chess960" if game.chess960 else set_up,
        fen=game.start_fen,
        rated=game.tags.get("Event", "").lower().startswith("rated"),
        plies=plies,
        status=status,
        winner=winner,
        ended_by_move=by_move,
        ran_out=status is Status.OUT_OF_TIME or snapshot.clock_ms(final.turn) == 0,
    )


def _final(game: Game) -> chess.Board:
    try:
        board = chess.Board(game.start_fen or chess.STARTING_FEN, chess960=game.chess960)
        for uci in game.snapshot.moves:
            board.push_uci(uci)
    except ValueError as error:
        raise RecordError(f"{error}; mend or remove the game", place=game.place) from error
    return board


def _control(game: Game) -> Control:
    """The platform's clock; the arena's count in whole seconds."""
    control = game.time_control
    if control is None or control.initial_ms % 1000 or control.increment_ms % 1000:
        return Correspondence()
    return TimeControl(control.initial_ms // 1000, control.increment_ms // 1000)


def _drawn_by_rule(board: chess.Board) -> bool:
    return board.is_insufficient_material() or board.halfmove_clock >= 100 or board.is_fivefold_repetition()


def _ending(game: Game, final: chess.Board, by_move: bool) -> tuple[Status, chess.Color | None]:
    if by_move:
        mate, stalemate = final.is_checkmate(), final.is_stalemate()
        return (Status.MATE, not final.turn) if mate else (Status.STALEMATE if stalemate else Status.DRAW, None)
    winner, status = game.snapshot.winner, _STATUSES.get(game.snapshot.status, Status.UNKNOWN_FINISH)
    if status in _ON_BOARD:
        return Status.UNKNOWN_FINISH, winner
    return (Status.ABORTED if status is Status.NO_START and winner is None else status), winner


def _seats(tags: Mapping[str, str]) -> tuple[Seat, Seat]:
    """Names as in the file as far as an account can bear them; two equal ones are told apart."""
    seats = []
    for color in ("White", "Black"):
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", tags.get(color, "")).strip("_") or color
        elo = tags.get(f"{color}Elo", "")
        seats.append(Seat(name, tags.get(f"{color}Title") or None, int(elo) if elo.isdigit() else 1500))
    white, black = seats
    return white, Seat(f"{black.name}_2", black.title, black.rating) if white.id == black.id else black


def _game_id(game: Game) -> str:
    if _ID.fullmatch(game.game_id):
        return game.game_id
    told = " ".join([*game.tags.values(), *game.snapshot.moves])
    return hashlib.sha256(told.encode()).hexdigest()[:8]
