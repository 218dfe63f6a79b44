"""Opening books in Polyglot's format."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import chess
import chess.polyglot

from bridge.errors import UsageError
from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger
from bridge.sources.aside import Aside
from bridge.sources.repeats import repeats

Selection: TypeAlias = Literal["weighted_random", "uniform_random", "best_move"]
Normalization: TypeAlias = Literal["none", "sum", "max"]


@dataclass(frozen=True, slots=True)
class Opening:
    """How a book is used: `min_weight` of an entry, `max_depth` in moves of one side.

    `normalization`: `min_weight` is a percentage of the sum or the greatest of a position's weights.
    """

    selection: Selection = "weighted_random"
    min_weight: int = 1
    max_depth: int = 20
    normalization: Normalization = "none"
    allow_repetitions: bool = False


class Book:
    """Books by pool or variant, each kind tried in order; the pool's own come before the variant's."""

    def __init__(self, books: Mapping[str, Sequence[str]], opening: Opening, lot: random.Random | None = None) -> None:
        """Open them. Raises UsageError: one cannot be read."""
        self._opening = opening
        self._lot = lot or random.Random()
        self._readers = {kind: [_open(file) for file in files] for kind, files in books.items()}
        self._aside = Aside("book")

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | None:
        """A move of the first book that has one; unless they are allowed, of those that repeat no position."""
        if ledger.board.ply() >= 2 * self._opening.max_depth:
            return None
        pool = None if limit.plain else ledger.setup.rules.pool
        variant = "chess960" if ledger.chess960 else "standard"
        readers = [*self._readers.get(pool or "", ()), *self._readers.get(variant, ())]
        board = ledger.board.copy()
        return await self._aside.run(lambda: self._look(board, readers, ledger.chess960)) if readers else None

    def _look(
        self, board: chess.Board, readers: Sequence[chess.polyglot.MemoryMappedReader], chess960: bool
    ) -> Choice | None:
        for reader in readers:
            known = list(reader.find_all(board, minimum_weight=0))
            least = self._least([entry.weight for entry in known])
            entries = [entry for entry in known if entry.weight >= least and self._may(board, entry.move)]
            if entries:
                move = self._chosen(entries)
                return Choice(board.uci(move, chess960=chess960), why="from the book")
        return None

    def _least(self, weights: Sequence[int]) -> float:
        of = {"none": 100, "sum": sum(weights), "max": max(weights, default=0)}[self._opening.normalization]
        return self._opening.min_weight * of / 100

    def _may(self, board: chess.Board, move: chess.Move) -> bool:
        return self._opening.allow_repetitions or not repeats(board, move)

    def _chosen(self, entries: Sequence[chess.polyglot.Entry]) -> chess.Move:
        weights = [entry.weight for entry in entries]
        match self._opening.selection:
            case "best_move":
                return entries[weights.index(max(weights))].move
            case "weighted_random" if sum(weights):
                return self._lot.choices(entries, weights)[0].move
        return self._lot.choice(entries).move

    async def close(self) -> None:
        """Close the files."""
        for reader in (reader for readers in self._readers.values() for reader in readers):
            reader.close()


def _open(file: str) -> chess.polyglot.MemoryMappedReader:
    if Path(file).is_dir():
        raise UsageError(f"book {Path(file)} cannot be read: it is a folder")
    try:
        return chess.polyglot.open_reader(file)
    except (OSError, ValueError) as error:
        cause = (isinstance(error, OSError) and error.strerror) or str(error)
        raise UsageError(f"book {Path(file)} cannot be read: {cause}") from None
