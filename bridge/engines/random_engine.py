"""`kind: random`: any legal move, at once."""

import random

from bridge.engines.answer import require_move
from bridge.engines.view import allowed
from bridge.interfaces import Choice, EngineName, Limit
from bridge.rules.ledger import Ledger


class RandomEngine:
    """Plays a legal move by lot; the same seed gives the same game."""

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
        require_move(ledger)
        moves = allowed(ledger.board, limit.root_moves)
        return Choice(ledger.board.uci(self._lot.choice(moves), chess960=ledger.chess960), why="by lot")

    async def close(self) -> None:
        """Nothing to end."""
