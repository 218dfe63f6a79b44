"""Game records `kirichess.game/1` (interfaces, "Game record"), read strictly."""

from collections.abc import Sequence

import chess

from bridge.errors import RecordError
from bridge.records import fields
from bridge.records.fields import Json
from bridge.records.game import Game, is_lichess, printable
from bridge.rules.snapshot import RECORD_END, Snapshot, TimeControl

SCHEMA = "kirichess.game/1"


def is_game_record(given: Json) -> bool:
    """Whether an object means to be one: by its schema, or by a list of moves."""
    return given.get("schema") == SCHEMA or ("schema" not in given and isinstance(given.get("moves"), list))


def read_game_record(given: Json, *, place: str, name: str) -> Game:
    """One game record → game; `name` is its id where it has none.

    Raises:
        RecordError: a wrong type, lengths that disagree, or a contradiction, named by its key. Illegal moves show only
            when the game is judged.
    """
    moves = _moves(given)
    control = _time_control(given)
    thinks, clocks = _times(given, "think_ms", len(moves)), _times(given, "clocks_ms", len(moves))
    if thinks is not None and clocks is not None:
        raise RecordError("think_ms and clocks_ms: give one of them")
    if clocks is not None and control is None:
        raise RecordError("clocks_ms need a time_control")
    source = "think" if thinks is not None else "clocks" if clocks is not None else "none"
    status, winner = _platform(given)
    final_think_ms = fields.milliseconds(given, "final_think_ms")
    site = printable(fields.text(given, "site"))
    return Game(
        place=place,
        game_id=printable(fields.text(given, "id", name)),
        snapshot=Snapshot(
            moves=moves,
            status=status,
            winner=winner,
            clocks_ms=clocks,
            think_ms=thinks,
            # Moves alone: what is not known of the last thinking time is not guessed from the platform's clock.
            final_think_ms=0 if final_think_ms is None and source == "none" else final_think_ms,
            berserk=_berserk(given),
        ),
        source=source,
        precision_ms=None if source == "none" else 0,
        start_fen=fields.text(given, "start_fen") or None,
        chess960=fields.flag(given, "chess960"),
        time_control=control,
        free_first_moves=is_lichess(site),
        white=printable(fields.text(given, "white")),
        black=printable(fields.text(given, "black")),
        site=site,
        rules=fields.mapping(given, "rules"),
    )


def _moves(given: Json) -> list[str]:
    moves = fields.array(given, "moves")
    if moves is None:
        raise RecordError("moves are missing")
    for move in moves:
        if not isinstance(move, str):
            raise RecordError(f"moves must be UCI strings, not {fields.brief(move)}")
    return [str(move) for move in moves]


def _times(given: Json, name: str, plies: int) -> Sequence[int | None] | None:
    times = fields.array(given, name)
    if times is None:
        return None
    if len(times) != plies:
        raise RecordError(f"lengths disagree: {plies} moves, {len(times)} {name}")
    out: list[int | None] = []
    for ply, time in enumerate(times, 1):
        if time is not None and not fields.is_count(time):
            raise RecordError(f"{name} of ply {ply} must be whole milliseconds, 0 or more, not {fields.brief(time)}")
        out.append(time)
    return out


def _time_control(given: Json) -> TimeControl | None:
    control = fields.mapping(given, "time_control")
    if control is None:
        return None
    initial = fields.milliseconds(control, "initial_ms")
    if initial is None:
        raise RecordError("time_control needs initial_ms")
    return TimeControl(initial, fields.milliseconds(control, "increment_ms") or 0)


def _berserk(given: Json) -> frozenset[chess.Color]:
    return frozenset(fields.side(value, "berserk") for value in fields.array(given, "berserk") or ())


def _platform(given: Json) -> tuple[str, chess.Color | None]:
    platform = fields.mapping(given, "platform")
    if platform is None:
        return RECORD_END, None
    status = fields.text(platform, "status")
    if not status:
        raise RecordError("platform needs a status, as Lichess names it")
    winner = platform.get("winner")
    return status, None if winner is None else fields.side(winner, "platform.winner")
