"""Any file → games. What kind of file it is, its content says: PGN, Lichess export, game records, or none of these."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias

from bridge.errors import RecordError
from bridge.records.export import is_export, read_export
from bridge.records.fields import Json, brief
from bridge.records.game import Game, unnamed
from bridge.records.game_record import SCHEMA, is_game_record, read_game_record
from bridge.records.pgn import read_pgn
from bridge.records.pgn_text import Line
from bridge.records.streams import open_lines

_HEAD_LINES = 500
_SPACE = re.compile(r"\s*")
_STREAMS = {
    **dict.fromkeys(("gameFull", "gameState", "chatLine", "opponentGone"), "a Lichess game stream"),
    **dict.fromkeys(("gameStart", "gameFinish"), "a Lichess event stream"),
    **dict.fromkeys(("challenge", "challengeCanceled", "challengeDeclined"), "a Lichess event stream"),
    **dict.fromkeys(("featured", "fen"), "a Lichess TV stream"),
}
_PGN_SIGN = re.compile(r"\s*\[\s*\w+\s*\"|.*(?:^|[\s.}])1\.{0,3}\s*(?:[PNBRQK]?[a-h]?[1-8]?x?[a-h][1-8]|[O0]-[O0])")
_JSON_SIGN = re.compile(r"\s*(?:\{\s*(?:\"|\}|$)|\[\s*(?:[\[{\]]|$))")


def read_games(
    target: Path | BinaryIO, name: str | None = None, progress: Callable[[int], object] | None = None
) -> Iterator[Game | RecordError]:
    """The games of a file or an open binary stream, in order and one by one; what cannot be read is a RecordError.

    `name` is what messages call it. A file that holds no game gives one RecordError that says so.
    """
    called = name if name is not None else str(target)
    try:
        yield from read_lines(open_lines(target, called, progress), called)
    except RecordError as error:
        yield error


def read_lines(lines: Iterable[Line], name: str) -> Iterator[Game | RecordError]:
    """The same from numbered lines."""
    remaining = iter(lines)
    head: list[Line] = []
    for line in remaining:
        if _JSON_SIGN.match(line[1]):
            yield from _read_json(head, line, remaining, name)
            return
        if line[1].strip():
            head.append(line)
        if _PGN_SIGN.match(line[1]):
            yield from read_pgn(chain(head, remaining), name)
            return
        if len(head) >= _HEAD_LINES:
            break
    cause = "neither PGN, nor a Lichess export, nor game records" if head else "it is empty"
    yield RecordError(f"no game in it: {cause}", place=name)


# -- JSON --------------------------------------------------------------------------------------------------------

_Item: TypeAlias = tuple[int, object] | RecordError
"""A parsed value with the line it begins on, or what is broken there."""


def _read_json(head: Sequence[Line], first: Line, rest: Iterator[Line], name: str) -> Iterator[Game | RecordError]:
    """`head`: the lines before the first that looks like JSON."""
    number, streamed = len(head), []
    # What may be a broken game, until something shows that the file is one of games.
    waiting: list[Game | RecordError] | None = [
        _game_of(item, f"{name}: game {at}", "") for at, item in enumerate(_one_a_line(iter(head)), 1)
    ]
    for item in _values(first, rest):
        if not isinstance(item, RecordError) and (kind := _stream_line(item[1])):
            streamed.append(f"line {item[0]}: {kind}")
            continue
        number += 1
        game = _game_of(item, f"{name}: game {number}", unnamed(name, number))
        if waiting is not None and not _means_a_game(item):
            waiting.append(game)
            continue
        yield from waiting or ()
        waiting = None
        yield game
    if waiting is not None:
        broken = [error for error in waiting if isinstance(error, RecordError)]
        told = [f"{error.place.rsplit(', ')[-1]}: {error.message}" for error in broken] + streamed
        yield RecordError(f"no game in it ({told[0] if told else 'an empty list'})", place=name)
    elif streamed:
        yield RecordError(f"no game in {len(streamed)} of its objects (first: {streamed[0]})", place=name)


def _values(first: Line, rest: Iterator[Line]) -> Iterator[_Item]:
    """One value a line if the first line is one, else documents over many lines."""
    text = first[1].strip()
    if text.startswith("{") and _parses(text):
        yield from _one_a_line(chain([first], rest))
        return
    lines = [first, *rest]
    values = list(_documents(lines))
    # A first line that was cut short must not take the others with it.
    if (
        values
        and isinstance(values[0], RecordError)
        and any(_parses(line) for _, line in lines if line.startswith("{"))
    ):
        values = list(_one_a_line(iter(lines)))
    yield from values


def _one_a_line(lines: Iterator[Line]) -> Iterator[_Item]:
    for number, text in lines:
        if text.strip():
            try:
                yield number, json.loads(text)
            except (ValueError, RecursionError) as error:
                yield _broken(number, error)


def _documents(lines: Sequence[Line]) -> Iterator[_Item]:
    text = "\n".join(line for _, line in lines)
    decoder, at, number = json.JSONDecoder(), _skip_space(text, 0), lines[0][0]
    counted = 0
    while at < len(text):
        number, counted = number + text.count("\n", counted, at), at
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield _broken(number, error, lines[0][0])
            return
        yield from ((number, element) for element in value) if isinstance(value, list) else [(number, value)]
        at = _skip_space(text, end)


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _broken(number: int, error: Exception, first: int | None = None) -> RecordError:
    if isinstance(error, json.JSONDecodeError):
        line = number if first is None else first + error.lineno - 1
        return RecordError(f"broken JSON: {error.msg} (column {error.colno})", place=f"line {line}")
    cause = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return RecordError(f"broken JSON: {cause}", place=f"line {number}")


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _game_of(item: _Item, place: str, name: str) -> Game | RecordError:
    if isinstance(item, RecordError):
        return RecordError(item.message, place=f"{place}, {item.place}")
    line, given = item
    place = f"{place}, line {line}"
    try:
        if not isinstance(given, dict):
            raise RecordError(f"no object: {brief(given)}")
        if is_game_record(given):
            return read_game_record(given, place=place, name=name)
        if is_export(given):
            return read_export(given).game(place=place)
        raise RecordError(_why_no_game(given))
    except RecordError as error:
        return RecordError(error.message, place=place)


def _stream_line(given: object) -> str:
    """What a value is that Lichess streams; empty for anything else."""
    if not isinstance(given, dict) or is_game_record(given) or is_export(given):
        return ""
    kind = given.get("type") or given.get("t")
    return f"{kind!r}, a line of {_STREAMS[kind]}" if isinstance(kind, str) and kind in _STREAMS else ""


def _means_a_game(item: _Item) -> bool:
    """Whether a value is a game, or was to be one."""
    if isinstance(item, RecordError):
        return True
    given = item[1]
    return isinstance(given, dict) and ("moves" in given or is_game_record(given) or is_export(given))


def _why_no_game(given: Json) -> str:
    schema = given.get("schema", SCHEMA)
    if schema != SCHEMA:
        return f"schema {brief(schema)}, not {SCHEMA}"
    if "moves" in given:
        return f"moves must be an array of UCI strings, not {brief(given['moves'])}"
    return "a Lichess game without its moves" if "players" in given else "an object that is no game"
