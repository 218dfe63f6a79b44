"""Lichess's tablebase server: every legal move with its outcome for the side that has to answer it."""

from bridge.interfaces import Choice, Limit, RootMoves
from bridge.rules.ledger import Ledger
from bridge.sources.grading import Grade, Quality, advice
from bridge.sources.site import Site, table, tables, whole

_WDL = {
    "loss": 2,
    "syzygy-loss": 2,
    "maybe-loss": 1,
    "blessed-loss": 1,
    "draw": 0,
    "cursed-win": -1,
    "maybe-win": -1,
    "win": -2,
    "syzygy-win": -2,
}
"""By the category that a move leads to."""


class OnlineTables:
    """Asked with at most `max_pieces` on the board."""

    def __init__(self, site: Site, max_pieces: int = 7, quality: Quality = "best") -> None:
        self._site = site
        self._max_pieces = max_pieces
        self._quality: Quality = quality

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | RootMoves | None:
        """As local tables; None where it does not know the outcome of every move."""
        board = ledger.board
        if board.occupied.bit_count() > self._max_pieces or board.castling_rights:
            return None
        answer = table(await self._site.get("/standard", {"fen": board.fen()}))
        moves = tables(answer.get("moves"))
        known = [_WDL.get(str(move.get("category"))) for move in moves]
        grades = []
        for move, wdl in zip(moves, known, strict=True):
            if wdl is None:
                return None
            dtz = 0 if wdl > 0 and move.get("zeroing") else whole(move.get("dtz"))
            grades.append(Grade(str(move.get("uci")), wdl, None if dtz is None else abs(dtz)))
        if len(grades) != board.legal_moves.count():
            return None
        return advice(grades, self._quality, ledger, limit, "the online tablebase")

    async def close(self) -> None:
        """Give back the connections."""
        await self._site.close()
