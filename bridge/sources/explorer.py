"""Lichess's opening explorer: what was played here, by masters, by everybody, or by one player."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import chess

from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger
from bridge.sources.site import Site, table, tables, whole

ExplorerSource: TypeAlias = Literal["masters", "lichess", "player"]
ExplorerSort: TypeAlias = Literal["winrate", "games_played", "performance"]


class Explorer:
    """The move that scored best, was played most, or by which the player has performed best, in at least `min_games`.

    `only_with_wins`: only moves that have won for the side to move.
    """

    def __init__(
        self,
        site: Site,
        source: ExplorerSource = "masters",
        *,
        player: str = "",
        sort: ExplorerSort = "winrate",
        min_games: int = 10,
        only_with_wins: bool = False,
    ) -> None:
        self._site = site
        self._source = source
        self._player = player
        self._sort = sort
        self._min_games = min_games
        self._only_with_wins = only_with_wins

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
            if games >= max(1, self._min_games) and (won or not self._only_with_wins):
                ranked.append((self._rank(games, (2 * won + drawn) / games, move), str(move.get("uci"))))
        if not ranked:
            return None
        return Choice(max(ranked)[1], why=f"from the opening explorer ({self._source})")

    def _rank(self, games: int, rate: float, move: Mapping[str, object]) -> tuple[float, float]:
        """What is no player's has no performance, and the rate decides."""
        first = {"winrate": rate, "games_played": games, "performance": whole(move.get("performance")) or 0}
        return first[self._sort], rate

    async def close(self) -> None:
        """Give back the connections."""
        await self._site.close()
