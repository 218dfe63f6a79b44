"""Who the daemon plays while it is killed: people who throw dice for every move, on an arena of the script's own."""

import asyncio
import random
from dataclasses import dataclass, field, replace

import chess

from bridge.arena import Account, Arena, RequestLine, offers, referee
from bridge.arena.game import Game

BOT = "Kiri"
TOKEN = "tokenKiri"
ABORT_S = 6
POOLS = {"5+0": "winder", "9+0": "anchor"}
"""Platform time control to pool: in the first one KiriChess clocks run out, in the second one they do not."""
_BARE_KING = "4k3/8/8/8/8/8/8/R3K2R {} - - 0 1"
"""The human has two rooks and the bot cannot mate: when the human's flag has fallen KiriChess says draw."""


@dataclass
class Watch:
    """One game, and what the arena saw of it. Times are the arena's, in milliseconds; `idle`: nobody moves first.

    `waited_ms`: how long the bot took for its first move after each opening of its stream, from when it was due.
    """

    game: Game
    plies_wanted: int
    idle: bool = False
    opened_ms: list[int] = field(default_factory=list)
    waited_ms: list[int] = field(default_factory=list)
    over_ms: int | None = None
    ended_by_us: bool = False
    takebacks: int = 0
    _fresh: bool = False
    _due_ms: int | None = None
    _plies: int = 0

    @property
    def bot(self) -> chess.Color:
        """The bot's side."""
        color = self.game.color_of(BOT.lower())
        assert color is not None
        return color

    @property
    def bot_is_due(self) -> bool:
        return not self.game.over and self.game.turn == self.bot

    @property
    def pool(self) -> str:
        """By its time control."""
        assert self.game.clock is not None
        return POOLS[f"{self.game.clock.control.limit_s // 60}+0"]

    def opened(self, at_ms: int) -> None:
        """The bot's stream has been opened."""
        self.opened_ms.append(at_ms)
        self._fresh, self._due_ms = True, at_ms if self.bot_is_due else None

    def observed(self, now_ms: int) -> None:
        """Often enough that no two moves of the bot come between."""
        game = self.game
        if game.over and self.over_ms is None:
            self.over_ms = now_ms
        if self._fresh and self._due_ms is not None and game.plies > self._plies and not self.bot_is_due:
            self.waited_ms.append((now_ms if game.over else game.moved_at_ms) - self._due_ms)
            self._fresh = False
        if self._fresh and self._due_ms is None and self.bot_is_due:
            self._due_ms = now_ms
        self._plies = game.plies

    def cut(self, now_ms: int) -> None:
        """The daemon is gone, or the game is not what it was: what is owed is owed anew."""
        if self._fresh and self._due_ms is not None and self.bot_is_due:
            self.waited_ms.append(now_ms - self._due_ms)
        self._fresh, self._due_ms = False, None


class Opponents:
    """Keep `games` games running against the bot, one beside them in which nobody makes the first move."""

    _arena: Arena

    def __init__(self, seed: int, games: int) -> None:
        self._random = random.Random(seed)
        self._games = games
        self.watches: dict[str, Watch] = {}
        self.paused = False

    @staticmethod
    def accounts() -> list[Account]:
        """The bot and its opponent."""
        return [Account(BOT, TOKEN, title="BOT"), Account("Human", "tokenHuman")]

    def noted(self, line: RequestLine) -> None:
        """For the arena's request log: when streams were opened."""
        path = line.path.split("/")
        if line.status == 200 and path[1:5] == ["api", "bot", "game", "stream"] and path[5] in self.watches:
            self.watches[path[5]].opened(line.at_ms)

    def cut(self) -> None:
        """The daemon has been killed."""
        for watch in self.running():
            watch.cut(self._arena.hall.now_ms())

    def running(self) -> list[Watch]:
        return [watch for watch in self.watches.values() if not watch.game.over]

    async def play(self, arena: Arena) -> None:
        """Until cancelled: begin games, move, ask back, resign, each with a pause of its own."""
        self._arena = arena
        waits: dict[str, float] = {}
        loop = asyncio.get_running_loop()
        while True:
            self._begin()
            for watch in tuple(self.watches.values()):
                watch.observed(self._arena.hall.now_ms())
                if watch.game.over or watch.idle or watch.bot_is_due:
                    continue
                if loop.time() >= waits.setdefault(watch.game.id, loop.time() + self._random.uniform(0.02, 0.6)):
                    del waits[watch.game.id]
                    self._act(watch)
            await asyncio.sleep(0.005)

    def finish(self) -> None:
        """End every game that still runs: nobody is left to play it."""
        self.paused = True
        for watch in self.running():
            self._end(watch)

    # -- one step ------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self.paused:
            return
        running = self.running()
        while sum(not watch.idle for watch in running) < self._games:
            limit_s = self._random.choice((300, 540))
            running.append(self._pair(limit_s, plies_wanted=self._random.randint(12, 90)))
        if not any(watch.idle for watch in running):
            running.append(self._pair(540, plies_wanted=0, idle=True, bot_is_white=False))

    def _pair(self, limit_s: int, *, plies_wanted: int, idle: bool = False, bot_is_white: bool | None = None) -> Watch:
        dice = self._random
        bot_is_white = dice.random() < 0.5 if bot_is_white is None else bot_is_white
        white, black = (BOT, "Human") if bot_is_white else ("Human", BOT)
        fen = _BARE_KING.format("b") if dice.random() < 0.2 and not bot_is_white and not idle else None
        game = self._arena.games[self._arena.pair(white, black, 300 if fen else limit_s, fen=fen)]
        watch = self.watches[game.id] = Watch(game, plies_wanted, idle)
        return watch

    def _act(self, watch: Watch) -> None:
        game, dice = watch.game, self._random.random()
        if game.plies >= watch.plies_wanted:
            self._end(watch)
        elif dice < 0.05 and game.plies > 3 and watch.pool == "anchor":
            # Where a KiriChess flag may have fallen, its end would stand, and the moves that stay would not tell of it.
            self._take_back(watch)
        else:
            if dice > 0.95 and game.plies > 3:
                self._ask_back(watch)
            if watch.pool == "winder" and game.plies > 3:
                self._spend(game, self._random.randint(0, 4000))
            moves = sorted(move.uci() for move in game.board.legal_moves)
            self._arena.hall.move(game, game.turn, self._random.choice(moves))

    def _spend(self, game: Game, ms: int) -> None:
        """The human has been thinking for so much longer."""
        assert game.clock is not None and game.clock.since_ms is not None
        game.clock = replace(game.clock, since_ms=game.clock.since_ms - ms)

    def _ask_back(self, watch: Watch) -> None:
        hall, game = self._arena.hall, watch.game
        hall.happen(game, offers.takeback_yes(game, not watch.bot, hall.game_now_ms(game)))

    def _take_back(self, watch: Watch) -> None:
        """As if the bot had agreed: it is the human's turn, so two plies go."""
        hall, game = self._arena.hall, watch.game
        if game.sides[not watch.bot].proposals_blocked_until_ms > hall.game_now_ms(game):
            return
        self._ask_back(watch)
        if game.sides[not watch.bot].proposes_takeback:
            hall.happen(game, offers.takeback_yes(game, watch.bot, hall.game_now_ms(game)))
            watch.takebacks += 1

    def _end(self, watch: Watch) -> None:
        hall, game = self._arena.hall, watch.game
        watch.ended_by_us = True
        if game.plies < 2:
            hall.happen(game, referee.abort(game, hall.game_now_ms(game)))
        else:
            hall.happen(game, referee.resign(game, not watch.bot, hall.game_now_ms(game)))
