"""The cloud database of chessdb.cn (its API: `cdb.php?action=…&board=FEN&json=1`); scores are the mover's."""

from typing import Literal, TypeAlias

from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger
from bridge.sources.site import Site, table, whole

ChessdbQuality: TypeAlias = Literal["best", "good", "all"]
_ACTIONS = {"best": "querypv", "good": "querybest", "all": "query"}


class Chessdb:
    """The main line (`best`, of at least `min_depth`), one of the best moves, or any known one."""

    def __init__(
        self, site: Site, quality: ChessdbQuality = "good", *, min_depth: int = 20, trusted: bool = False
    ) -> None:
        self._site = site
        self._quality: ChessdbQuality = quality
        self._min_depth = min_depth
        self._trusted = trusted

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | None:
        """A move; standard chess alone."""
        if ledger.chess960:
            return None
        query = {"action": _ACTIONS[self._quality], "board": ledger.board.fen(), "json": "1"}
        answer = table(await self._site.get("/cdb.php", query))
        if answer.get("status") != "ok":
            return None
        depth, score_cp, line = whole(answer.get("depth")), whole(answer.get("score")), answer.get("pv")
        uci = answer.get("move")
        if self._quality == "best":
            if (depth or 0) < self._min_depth:
                return None
            uci = line[0] if isinstance(line, list) and line else None
        if not isinstance(uci, str):
            return None
        return Choice(uci, score_cp, depth, "from chessdb", trusted=self._trusted)

    async def close(self) -> None:
        """Give back the connections."""
        await self._site.close()
