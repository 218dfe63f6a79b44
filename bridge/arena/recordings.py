"""Recorded games out of PGN: moves, the movers' clocks, and how it ended. Pure but for the reading of the file."""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import chess
import chess.pgn

from bridge.arena.control import Control, Correspondence, TimeControl
from bridge.arena.game import Seat
from bridge.arena.happenings import Status
from bridge.errors import RecordError

_CLOCK = re.compile(r"\[%clk\s+(\d+):(\d+):(\d+)(?:\.(\d+))?\s*\]")
_CONTROL = re.compile(r"(\d+)\+(\d+)")
_SITE_ID = re.compile(r"lichess\.org/(\w{8})")
_VARIANTS = {"": "standard", "standard": "standard", "from position": "fromPosition", "chess960": "chess960"}
_WINNER = {"1-0": chess.WHITE, "0-1": chess.BLACK}
_TERMINATIONS = {
    "time forfeit": Status.OUT_OF_TIME,
    "abandoned": Status.NO_START,
    "rules infraction": Status.CHEAT,
    "unterminated": Status.UNKNOWN_FINISH,
    "unknown": Status.UNKNOWN_FINISH,
}


@dataclass(frozen=True, slots=True)
class RecordedPly:
    """A move and its mover's clock after it in centiseconds, None where the record has none."""

    uci: str
    clock_cs: int | None


@dataclass(frozen=True, slots=True)
class Recording:
    """A finished game; `ended_by_move` when the last move itself ended it."""

    game_id: str
    """From the Site tag, else made up from the game itself."""
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


def read_recordings(path: Path, broken: Callable[[RecordError], None] | None = None) -> list[Recording]:
    """All games of a PGN file that can be played; raises RecordError when there are none.

    A game that cannot be played is told to `broken`, with file and number, and left out; without it, it is raised.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as text:
            recordings = list(_read(text, path.name, broken))
    except OSError as error:
        raise RecordError(f"cannot be read ({error.strerror}); give a PGN file", place=str(path)) from None
    if not recordings:
        raise RecordError("holds no game that can be played; give a PGN file with at least one", place=str(path))
    return recordings


class _QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Keeps a game's errors without logging them: they are told in our own words."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def _read(text: TextIO, name: str, broken: Callable[[RecordError], None] | None) -> Iterator[Recording]:
    number = 0
    while (node := chess.pgn.read_game(text, Visitor=_QuietBuilder)) is not None:
        number += 1
        try:
            yield recording_of(node, f"{name}: game {number}")
        except RecordError as error:
            if broken is None:
                raise
            broken(error)


def recording_of(node: chess.pgn.Game, place: str = "") -> Recording:
    """One parsed game; raises RecordError for a broken one and for a variant that the arena does not play."""
    if node.errors:
        raise RecordError(f"{node.errors[0]}; mend or remove the game", place=place)
    tags = node.headers
    variant = _VARIANTS.get(tags.get("Variant", "").lower())
    if variant is None:
        raise RecordError(f"the arena plays no {tags['Variant']}", place=place)
    plies = tuple(RecordedPly(move.parent.board().uci(move.move), _clock_cs(move.comment)) for move in node.mainline())
    final = node.end().board()
    by_move = final.is_checkmate() or final.is_stalemate() or _drawn_by_rule(final)
    status, winner = _ending(tags, final, by_move)
    control = _control(tags.get("TimeControl", "-"))
    clocked = any(ply.clock_cs is not None for ply in plies)
    fen = tags.get("FEN")
    white, black = _seats(tags)
    return Recording(
        game_id=_game_id(tags, plies),
        white=white,
        black=black,
        control=control if clocked else Correspondence(),
        variant="fromPosition" if fen and variant == "standard" else variant,
        fen=fen,
        rated=tags.get("Event", "").lower().startswith("rated"),
        plies=plies,
        status=status,
        winner=winner,
        ended_by_move=by_move,
    )


def _clock_cs(comment: str) -> int | None:
    found = _CLOCK.search(comment)
    if found is None:
        return None
    hours, minutes, whole_s, fraction = found.groups()
    return 100 * (3600 * int(hours) + 60 * int(minutes) + int(whole_s)) + int(f"{fraction or ''}00"[:2])


def _control(tag: str) -> Control:
    found = _CONTROL.fullmatch(tag)
    return TimeControl(int(found[1]), int(found[2])) if found else Correspondence()


def _drawn_by_rule(board: chess.Board) -> bool:
    return board.is_insufficient_material() or board.halfmove_clock >= 100 or board.is_fivefold_repetition()


def _ending(tags: chess.pgn.Headers, final: chess.Board, by_move: bool) -> tuple[Status, chess.Color | None]:
    result, termination = tags.get("Result", "*"), tags.get("Termination", "").lower()
    winner = _WINNER.get(result)
    if by_move:
        mate, stalemate = final.is_checkmate(), final.is_stalemate()
        return (Status.MATE, not final.turn) if mate else (Status.STALEMATE if stalemate else Status.DRAW, None)
    if termination in _TERMINATIONS:
        status = _TERMINATIONS[termination]
        return (Status.ABORTED if status is Status.NO_START and winner is None else status), winner
    if result == "1/2-1/2":
        return Status.DRAW, None
    return (Status.RESIGN if winner is not None else Status.UNKNOWN_FINISH), winner


def _seats(tags: chess.pgn.Headers) -> tuple[Seat, Seat]:
    """Names as in the file as far as an account can bear them; two equal ones are told apart."""
    seats = []
    for color in ("White", "Black"):
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", tags.get(color, "")).strip("_") or color
        elo = tags.get(f"{color}Elo", "")
        seats.append(Seat(name, tags.get(f"{color}Title") or None, int(elo) if elo.isdigit() else 1500))
    white, black = seats
    return white, Seat(f"{black.name}_2", black.title, black.rating) if white.id == black.id else black


def _game_id(tags: chess.pgn.Headers, plies: tuple[RecordedPly, ...]) -> str:
    found = _SITE_ID.search(f"{tags.get('Site', '')} {tags.get('Link', '')}")
    if found:
        return found[1]
    told = " ".join([*tags.values(), *(ply.uci for ply in plies)])
    return hashlib.sha256(told.encode()).hexdigest()[:8]
