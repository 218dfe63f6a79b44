"""A match on disk: one JSON line of settings, then one for every pair of games; a match that was stopped goes on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import chess

from bridge.errors import UsageError
from bridge.lab.game import Played

Json: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class GameLine:
    """What is kept of one game. `first_is_white`: whose colours; `score` is the first contestant's: 1, 0.5 or 0.

    `record` is the game as `kirichess.game/1`. `fault`: (of the first?, crash or illegal, the message).
    """

    first_is_white: bool
    score: float
    reason: str
    cause: str
    plies: int
    own_ms: int
    other_ms: int
    own_nodes: int
    other_nodes: int
    own_asked: int
    other_asked: int
    tally: Mapping[str, int]
    fault: tuple[bool, str, str] | None
    wall_ms: int
    scores: tuple[int | None, ...]
    record: Json


@dataclass(frozen=True, slots=True)
class PairLine:
    """One opening, both games."""

    pool: str
    pair: int
    opening: str
    games: tuple[GameLine, GameLine]

    @property
    def score(self) -> float:
        """The first contestant's mean."""
        return sum(game.score for game in self.games) / 2


def game_line(played: Played, first_is_white: bool) -> GameLine:
    """A finished game, seen from the first contestant."""
    verdict, outcome = played.verdict, played.outcome
    own, other = (chess.WHITE, chess.BLACK) if first_is_white else (chess.BLACK, chess.WHITE)
    clocks = {chess.WHITE: verdict.white_ms, chess.BLACK: verdict.black_ms}
    fault = played.fault
    return GameLine(
        first_is_white=first_is_white,
        score=0.5 if outcome.winner is None else float(outcome.winner == own),
        reason=outcome.reason,
        cause=outcome.flag.cause if outcome.flag else "",
        plies=verdict.plies,
        own_ms=clocks[own],
        other_ms=clocks[other],
        own_nodes=played.nodes[own],
        other_nodes=played.nodes[other],
        own_asked=played.asked[own],
        other_asked=played.asked[other],
        tally=dict(played.tally[own]),
        fault=None if fault is None else (fault[0] == own, fault[1], fault[2]),
        wall_ms=played.wall_ms,
        scores=tuple(played.scores),
        record={
            "schema": "kirichess.game/1",
            "id": verdict.setup.game_id,
            "rules": {"pool": verdict.setup.rules.pool}
            if verdict.setup.rules.pool
            else verdict.setup.rules.dials.to_mapping(),
            "start_fen": verdict.setup.start_fen,
            "white": verdict.setup.white,
            "black": verdict.setup.black,
            "moves": list(verdict.moves),
            "think_ms": list(played.think_ms),
        },
    )


def pair_to_json(line: PairLine) -> str:
    """One line, without its end."""
    games = [{name: getattr(game, name) for name in GameLine.__dataclass_fields__} for game in line.games]
    return json.dumps({"pool": line.pool, "pair": line.pair, "opening": line.opening, "games": games})


def pair_from_json(text: str) -> PairLine:
    """The same line back. Raises ValueError, KeyError or TypeError for anything else."""
    given = json.loads(text)
    first, second = (_game(game) for game in given["games"])
    return PairLine(given["pool"], given["pair"], given["opening"], (first, second))


def _game(given: dict[str, Any]) -> GameLine:
    fault = given["fault"]
    kept: dict[str, Any] = {**given, "fault": None if fault is None else tuple(fault), "scores": tuple(given["scores"])}
    return GameLine(**kept)


class Book:
    """The results file. Raises UsageError: it holds another match, or is none."""

    def __init__(self, path: Path | None, settings: Json) -> None:
        self.pairs: list[PairLine] = []
        self._file = None
        if path is None:
            return
        head = json.dumps(settings, sort_keys=True)
        if path.exists() and path.stat().st_size:
            self.pairs = _read(path, head)
            self._file = path.open("a", encoding="utf-8")
        else:
            self._file = path.open("w", encoding="utf-8")
            self._file.write(head + "\n")
            self._file.flush()

    def add(self, line: PairLine) -> None:
        """Keep a finished pair; it is on disk when this returns."""
        self.pairs.append(line)
        if self._file is not None:
            self._file.write(pair_to_json(line) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()


def _read(path: Path, head: str) -> list[PairLine]:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    if lines[0].strip() != head:
        raise UsageError(f"{path}: holds another match: give another file, or the settings it was begun with")
    whole = [line for line in lines[1:] if line.endswith("\n")]
    if len(whole) < len(lines) - 1:
        # The last line was cut off when the match was stopped: that pair is played again.
        path.write_text(lines[0] + "".join(whole), "utf-8")
    return read_pairs(path, whole)


def read_pairs(path: Path, lines: Sequence[str]) -> list[PairLine]:
    """Results lines → pairs. Raises UsageError with the line's number."""
    pairs = []
    for number, line in enumerate(lines, 2):
        try:
            pairs.append(pair_from_json(line))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}:{number}: no pair of games: {error}") from error
    return pairs


def read_results(path: Path) -> tuple[Json, list[PairLine]]:
    """A results file: its settings and its pairs. Raises UsageError."""
    lines = path.read_text("utf-8").splitlines()
    if not lines:
        raise UsageError(f"{path}: is empty")
    settings: Json = json.loads(lines[0])
    return settings, read_pairs(path, lines[1:])
