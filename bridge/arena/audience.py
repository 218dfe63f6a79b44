"""Who is listening: every open stream, and which lines each of them gets."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import chess

from bridge.arena import lines
from bridge.arena.game import Game
from bridge.arena.streams import Json, LineStream
from bridge.arena.television import pick


@dataclass(frozen=True, slots=True, eq=False)
class Player:
    """One open stream of a player's own game."""

    stream: LineStream
    color: chess.Color
    is_bot: bool
    user_agent: str


class Spectator:
    """A spectator's view of one game: a position leaves when `delay` newer ones are known, or at the end."""

    def __init__(self, stream: LineStream, game: Game, delay: int) -> None:
        self.stream = stream
        self._game = game
        self._delay = delay if game.clock is not None and not game.over else 0
        self._held: deque[Json] = deque()

    def opening(self) -> list[Json]:
        """The game, then its positions so far; for a finished game all of them and the last line."""
        shown = [line for position in lines.positions(self._game) for line in self._through(position)]
        return [lines.watched_game(self._game), *shown, *([lines.watched_game(self._game)] if self._game.over else [])]

    def _through(self, line: Json) -> list[Json]:
        self._held.append(line)
        return [self._held.popleft()] if len(self._held) > self._delay else []

    def moved(self, line: Json) -> None:
        for released in self._through(line):
            self.stream.send(released)

    def ended(self) -> None:
        while self._held:
            self.stream.send(self._held.popleft())
        self.stream.send(lines.watched_game(self._game))
        self.stream.end()


@dataclass(frozen=True, slots=True, eq=False)
class GamesList:
    """Starts and finishes of games: by ids, or of games between two of these users."""

    stream: LineStream
    game_ids: set[str] = field(default_factory=set)
    user_ids: frozenset[str] = frozenset()

    def concerns(self, game: Game) -> bool:
        return game.id in self.game_ids or {game.white.id, game.black.id} <= self.user_ids


@dataclass(slots=True, eq=False)
class TvFeed:
    """One television set: it shows its channel's best game."""

    stream: LineStream
    channel: str
    game_id: str = ""


class Audience:
    """All open streams; the only place that knows who gets what."""

    def __init__(self) -> None:
        self.open: set[LineStream] = set()
        self.events: dict[str, LineStream] = {}
        self.players: defaultdict[str, list[Player]] = defaultdict(list)
        self.spectators: defaultdict[str, list[Spectator]] = defaultdict(list)
        self._viewed: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.lists: list[GamesList] = []
        self.television: list[TvFeed] = []

    @contextmanager
    def seated(self, stream: LineStream) -> Iterator[None]:
        self.open.add(stream)
        try:
            yield
        finally:
            self.open.discard(stream)

    def sit_down(self, game: Game, player: Player) -> None:
        self.players[game.id].append(player)
        self._viewed[game.id].set()

    def look_on(self, game: Game, spectator: Spectator) -> None:
        self.spectators[game.id].append(spectator)
        self._viewed[game.id].set()

    async def viewed(self, game_id: str) -> None:
        """Returns once a player's or spectator's stream of the game has been opened."""
        await self._viewed[game_id].wait()

    def event(self, account_id: str, line: Json) -> None:
        if account_id in self.events:
            self.events[account_id].send(line)

    def to_players(self, game: Game, line: Json, *, color: chess.Color | None = None) -> None:
        for player in self.players[game.id]:
            if color in (None, player.color):
                player.stream.send(line)

    def spectator_chat(self, game: Game, line: Json) -> None:
        """Only bots hear the spectators' room on their own stream (§1.5)."""
        for player in self.players[game.id]:
            if player.is_bot:
                player.stream.send(line)

    def watched(self, game: Game) -> bool:
        return bool(self.players[game.id] or self.spectators[game.id])

    def started(self, game: Game, running: Iterable[Game], now_ms: int) -> None:
        self._list(game)
        self._retune(running, now_ms)

    def moved(self, game: Game) -> None:
        line = lines.position(game)
        for spectator in self.spectators[game.id]:
            spectator.moved(line)
        for feed in self.television:
            if feed.game_id == game.id:
                feed.stream.send({"t": "fen", "d": line})

    def ended(self, game: Game, running: Iterable[Game], now_ms: int) -> None:
        """The players' last state has been sent: their streams end, the others get their last lines."""
        for player in self.players[game.id]:
            player.stream.end()
        for spectator in self.spectators[game.id]:
            spectator.ended()
        self._list(game)
        self._retune(running, now_ms)

    def _list(self, game: Game) -> None:
        for games_list in self.lists:
            if games_list.concerns(game):
                games_list.stream.send(lines.listed_game(game))

    def _retune(self, running: Iterable[Game], now_ms: int) -> None:
        games = {game.id: game for game in running}
        for feed in self.television:
            if feed.game_id not in games:
                self.tune(feed, games.values(), now_ms)

    def tune(self, feed: TvFeed, running: Iterable[Game], now_ms: int) -> None:
        """Show the channel's best running game, when there is one."""
        best = pick(running, feed.channel)
        if best is not None:
            feed.game_id = best.id
            feed.stream.send(lines.featured(best, now_ms))
            feed.stream.send({"t": "fen", "d": lines.position(best)})
