"""`kind: random`: any legal move, at once."""

import random

import chess

from bridge.engines.answer import no_move
from bridge.engines.view import allowed
from bridge.interfaces import Choice, EngineName, Limit
from bridge.rules.ledger import Ledger


class RandomEngine:
    """Plays a legal move by lot: a piece that can move, then one of its moves. The same seed gives the same game."""

    def __init__(self, seed: int | None = None) -> None:
        self._lot = random.Random(seed)

    @property
    def called(self) -> EngineName:
        """It has no name."""
        return EngineName("random")

    async def start(self) -> None:
        """Nothing to get ready."""

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        """A legal move. Raises EngineError when there is none."""
        moves = self._of_a_piece(ledger.board) if limit.root_moves is None else allowed(ledger.board, limit.root_moves)
        if not moves:
            raise no_move(ledger)
        return Choice(ledger.board.uci(self._lot.choice(moves), chess960=ledger.chess960), why="by lot")

    def _of_a_piece(self, board: chess.Board) -> list[chess.Move]:
        """The moves of one that has any: to list everybody's takes five times as long."""
        moves: list[chess.Move] = []
        squares = [*chess.scan_forward(board.occupied_co[board.turn])]
        while squares and not moves:
            square = squares.pop(self._lot.randrange(len(squares)))
            moves = [*board.generate_legal_moves(chess.BB_SQUARES[square])]
        return moves

    async def close(self) -> None:
        """Nothing to end."""
