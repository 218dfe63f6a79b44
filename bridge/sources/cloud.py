"""Lichess's cloud evaluations (Lichess API, `GET /api/cloud-eval`); scores are White's there."""

import random
from typing import Literal, TypeAlias

import chess

from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger
from bridge.sources.site import Site, table, tables, whole

CloudQuality: TypeAlias = Literal["best", "good"]
_MATE_CP = 100_000


class Cloud:
    """The best line of the cloud, or (`good`) one that is at most `within_cp` worse."""

    def __init__(
        self,
        site: Site,
        quality: CloudQuality = "best",
        *,
        min_depth: int = 20,
        min_knodes: int = 0,
        within_cp: int = 50,
        trusted: bool = False,
    ) -> None:
        self._site = site
        self._quality = quality
        self._min_depth = min_depth
        self._min_knodes = min_knodes
        self._within_cp = within_cp
        self._trusted = trusted
        self._lot = random.Random()

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | None:
        """A move with its score and depth."""
        variant = "chess960" if ledger.chess960 else "standard"
        lines = "1" if self._quality == "best" else "5"
        query = {"fen": ledger.board.fen(), "multiPv": lines, "variant": variant}
        answer = table(await self._site.get("/api/cloud-eval", query))
        depth, knodes = whole(answer.get("depth")) or 0, whole(answer.get("knodes")) or 0
        sign = 1 if ledger.turn == chess.WHITE else -1
        found = [
            (sign * score_cp, str(line["moves"]).split()[0])
            for line in tables(answer.get("pvs"))
            if line.get("moves") and (score_cp := _score_cp(line)) is not None
        ]
        if not found or depth < self._min_depth or knodes < self._min_knodes:
            return None
        best_cp = max(score_cp for score_cp, _ in found)
        least_cp = best_cp - (self._within_cp if self._quality == "good" else 0)
        score_cp, uci = self._lot.choice([one for one in found if one[0] >= least_cp])
        return Choice(uci, score_cp, depth, "from Lichess's cloud", trusted=self._trusted)

    async def close(self) -> None:
        """Give back the connections."""
        await self._site.close()


def _score_cp(line: object) -> int | None:
    mate, score_cp = whole(table(line).get("mate")), whole(table(line).get("cp"))
    return score_cp if mate is None else (_MATE_CP - mate if mate > 0 else -_MATE_CP - mate)
