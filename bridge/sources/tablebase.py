"""Endgame tables on this machine: Syzygy by distance to zeroing, Gaviota by distance to mate."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import chess
import chess.syzygy

from bridge.errors import UsageError
from bridge.interfaces import Choice, Limit, RootMoves
from bridge.rules.ledger import Ledger
from bridge.sources.aside import Aside
from bridge.sources.grading import Quality, advice, grade_moves


class SyzygyTables(Protocol):
    """What is used of `chess.syzygy.Tablebase`."""

    def probe_wdl(self, board: chess.Board) -> int:
        """From 2 (won) to -2. Raises KeyError: no such table."""
        ...

    def probe_dtz(self, board: chess.Board) -> int:
        """Plies to the next capture or pawn move, signed. Raises KeyError: no such table."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class GaviotaTables(Protocol):
    """What is used of `chess.gaviota.PythonTablebase`."""

    def probe_dtm(self, board: chess.Board) -> int:
        """Plies to mate, signed; 0: drawn. Raises KeyError: no such table."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class _Tables:
    name = ""

    def __init__(self, max_pieces: int, quality: Quality) -> None:
        self._max_pieces = max_pieces
        self._quality: Quality = quality
        self._aside = Aside(self.name)

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | RootMoves | None:
        """The best move, or all that keep the outcome; None: not in the tables."""
        board = ledger.board.copy()
        if board.occupied.bit_count() > self._max_pieces or board.castling_rights:
            return None
        return await self._aside.run(lambda: self._look(board, ledger, limit))

    def _look(self, board: chess.Board, ledger: Ledger, limit: Limit) -> Choice | RootMoves | None:
        try:
            grades = grade_moves(board, ledger.chess960, self._probe)
        except KeyError:
            return None  # a table is missing, as many are on most machines
        return advice(grades, self._quality, ledger, limit, self.name)

    def _probe(self, board: chess.Board) -> tuple[int, int | None]:
        raise NotImplementedError


class Syzygy(_Tables):
    """Syzygy tables; without those for distances the outcome alone counts."""

    name = "Syzygy"

    def __init__(self, tables: SyzygyTables, max_pieces: int = 7, quality: Quality = "best") -> None:
        super().__init__(max_pieces, quality)
        self._tables = tables

    def _probe(self, board: chess.Board) -> tuple[int, int | None]:
        wdl = self._tables.probe_wdl(board)
        try:
            distance = abs(self._tables.probe_dtz(board))
        except KeyError:
            return wdl, None
        # A capture or pawn move has just begun the count anew: a step ahead where we win.
        return wdl, 0 if not board.halfmove_clock and wdl < 0 else distance

    async def close(self) -> None:
        """Close the files."""
        self._tables.close()


class Gaviota(_Tables):
    """Gaviota tables; a mate farther than `cursed_plies` may come too late for the fifty moves."""

    name = "Gaviota"

    def __init__(
        self, tables: GaviotaTables, max_pieces: int = 5, quality: Quality = "best", cursed_plies: int = 120
    ) -> None:
        super().__init__(max_pieces, quality)
        self._tables = tables
        self._cursed_plies = cursed_plies

    def _probe(self, board: chess.Board) -> tuple[int, int | None]:
        dtm = self._tables.probe_dtm(board)
        size = 1 if abs(dtm) >= self._cursed_plies else 2
        return (size if dtm > 0 else -size if dtm < 0 else 0), abs(dtm)

    async def close(self) -> None:
        """Close the files."""
        self._tables.close()


def open_syzygy(paths: Sequence[str]) -> chess.syzygy.Tablebase:
    """The tables in these folders. Raises UsageError: there are none."""
    tables = chess.syzygy.Tablebase()
    found = sum(tables.add_directory(str(_folder(path))) for path in paths)
    if not found:
        raise UsageError(f"no Syzygy tables (*.rtbw, *.rtbz) in {', '.join(paths)}")
    return tables


def open_gaviota(paths: Sequence[str]) -> GaviotaTables:
    """The tables in these folders. Raises UsageError: there are none."""
    # Here, since loading it makes 8 MiB of indexes, which hardly anybody needs.
    import chess.gaviota

    tables = chess.gaviota.PythonTablebase()
    for path in paths:
        tables.add_directory(str(_folder(path)))
    if not tables.available_tables:
        raise UsageError(f"no Gaviota tables (*.gtb.cp4) in {', '.join(paths)}")
    return tables


def _folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise UsageError(f"the folder of tables {folder} does not exist")
    return folder
