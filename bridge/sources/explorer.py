"""Lichess's opening explorer: what was played here, by masters, by everybody, or by one player."""

from typing import Literal, TypeAlias

import chess

from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger
from bridge.sources.site import Site, table, tables, whole

ExplorerSource: TypeAlias = Literal["masters", "lichess", "player"]
ExplorerSort: TypeAlias = Literal["winrate", "games_played"]


class Explorer:
    """The move that scored best, or was played most, in at least `min_games`."""

    def __init__(
        self,
        site: Site,
        source: ExplorerSource = "masters",
        *,
        player: str = "",
        sort: ExplorerSort = "winrate",
        min_games: int = 10,
    ) -> None:
        self._site = site
        self._source = source
        self._player = player
        self._sort = sort
        self._min_games = min_games

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | None:
        """A move without a score; masters play standard chess alone."""
        if ledger.chess960 and self._source == "masters":
            return None
        color = chess.COLOR_NAMES[ledger.turn]
        query = {"fen": ledger.board.fen(), "moves": "100", "topGames": "0"}
        if self._source != "masters":
            query |= {"variant": "chess960" if ledger.chess960 else "standard", "recentGames": "0"}
        if self._source == "player":
            query |= {"player": self._player, "color": color}
        answer = table(await self._site.get(f"/{self._source}", query))
        ranked = []
        for move in tables(answer.get("moves")):
            won, drawn, lost = (
                whole(move.get(name)) or 0 for name in (color, "draws", chess.COLOR_NAMES[not ledger.turn])
            )
            games = won + drawn + lost
            if games >= max(1, self._min_games):
                ranked.append(((2 * won + drawn) / games if self._sort == "winrate" else games, str(move.get("uci"))))
        if not ranked:
            return None
        return Choice(max(ranked)[1], why=f"from the opening explorer ({self._source})")

    async def close(self) -> None:
        """Give back the connections."""
        await self._site.close()
