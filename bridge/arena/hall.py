"""The playing hall: all games, challenges and accounts, and the one place where the referee's words become lines.

Everything here runs in one event loop; methods that change a game tell its audience before they return.
"""

import asyncio
import random
import string
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import chess

from bridge.arena import lines, referee
from bridge.arena.accounts import Account, AccountBook
from bridge.arena.audience import Audience
from bridge.arena.control import Control, Correspondence, TimeControl
from bridge.arena.game import Game
from bridge.arena.happenings import Changed, Ended, Happening, Moved, Rejected, Said, Status, Undone
from bridge.arena.limits import Concurrency, Window
from bridge.arena.presence import Presence
from bridge.arena.settings import ArenaSettings
from bridge.arena.streams import Json
from bridge.arena.tournament import Tournament
from bridge.clocks import DAY_MS

_ID_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class GameTime:
    """A game's own time: wall time, or for a replay wall time run faster from `origin_ms` on."""

    origin_ms: int
    speed: float = 1.0

    def at(self, wall_ms: int) -> int:
        return self.origin_ms + round((wall_ms - self.origin_ms) * self.speed)


class Hall:
    """Live state of the arena; `address` is known once the server listens."""

    def __init__(self, accounts: Iterable[Account], settings: ArenaSettings) -> None:
        self.settings = settings
        self.address = ""
        self.accounts = AccountBook(accounts, open_accounts=settings.open_accounts)
        self.audience = Audience()
        self.presence = Presence(settings, self.audience)
        self.games: dict[str, Game] = {}
        self.tournaments: dict[str, Tournament] = {}
        self.chats: defaultdict[tuple[str, str], list[Json]] = defaultdict(list)
        self.random = random.Random(settings.seed)
        self.bot_games = Window(settings.bot_games_per_day, DAY_MS)
        self.event_opens = Window(settings.event_streams_per_10_min, 600_000)
        self.account_reads = Window(settings.account_reads_per_5_min, 300_000)
        self.watchers = Concurrency(settings.watch_streams_per_address)
        self.list_readers = Concurrency(settings.list_streams_per_address)
        self._times: dict[str, GameTime] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._epoch_ms = round(1000 * time.time()) - round(1000 * time.monotonic())

    def now_ms(self) -> int:
        """Wall time that never runs backwards."""
        return self._epoch_ms + round(1000 * time.monotonic())

    def game_now_ms(self, game: Game) -> int:
        return self._times[game.id].at(self.now_ms())

    def running(self) -> list[Game]:
        return [game for game in self.games.values() if not game.over]

    def new_id(self) -> str:
        while (fresh := "".join(self.random.choices(_ID_LETTERS, k=8))) in self.games:
            pass
        return fresh

    def game(self, game_id: str) -> Game:
        """By 8 or 12 characters."""
        found = self.games.get(game_id[:8]) if len(game_id) in (8, 12) else None
        if found is None:
            raise Rejected("No such game", status=404)
        return found

    def spawn(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        self.presence.close()
        for stream in tuple(self.audience.open):
            stream.end()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Games

    def pair(
        self,
        white: Account,
        black: Account,
        control: Control,
        *,
        game_id: str = "",
        variant: str = "standard",
        fen: str | None = None,
        rated: bool = False,
        source: str = "friend",
        rules: frozenset[str] = frozenset(),
        tournament_id: str | None = None,
    ) -> Game:
        """Two accounts begin a game; chess960 without a position gets a random one."""
        if variant == "chess960" and fen is None:
            fen = chess.Board.from_chess960_pos(self.random.randrange(960)).fen()
        game = Game(
            id=game_id or self.new_id(),
            white=white.seat,
            black=black.seat,
            control=control,
            created_at_ms=self.now_ms(),
            variant="fromPosition" if variant == "standard" and fen else variant,
            initial_fen=fen,
            rated=rated,
            source=source,
            rules=rules,
            tournament_id=tournament_id,
        )
        self.open_game(game)
        self.spawn(asyncio.create_task(self._keep_time(game)))
        return game

    def open_game(self, game: Game, speed: float = 1.0) -> None:
        """Enter a game and tell everyone that it has started; `speed` is that of its time."""
        self.games[game.id] = game
        self._times[game.id] = GameTime(game.created_at_ms, speed)
        now_ms = self.now_ms()
        if game.white.is_bot and game.black.is_bot and not game.recorded:
            for color in chess.COLORS:
                self.bot_games.count(game.seat(color).id, now_ms)
        self._tell_both(game, "gameStart")
        self.audience.started(game, self.running(), now_ms)

    def _tell_both(self, game: Game, kind: str) -> None:
        for color in chess.COLORS:
            self.audience.event(game.seat(color).id, self.game_event(game, color, kind))

    def game_event(self, game: Game, color: chess.Color, kind: str) -> Json:
        now_ms = self.game_now_ms(game)
        body = lines.game_event(game, color, now_ms, board_min_speed=self.settings.board_min_speed)
        return {"type": kind, "game": body}

    def games_of(self, account_id: str) -> list[Game]:
        return [game for game in self.games.values() if game.color_of(account_id) is not None]

    def happen(self, game: Game, happenings: Sequence[Happening]) -> None:
        """Tell the audience: what was said, then one state line for all the rest."""
        for happening in happenings:
            if isinstance(happening, Said):
                self.say(game, "player", "lichess", happening.text)
        if any(isinstance(happening, Moved | Undone | Changed | Ended) for happening in happenings):
            self.audience.to_players(game, lines.game_state(game, self.game_now_ms(game)))
        if any(isinstance(happening, Moved) for happening in happenings):
            self.audience.moved(game)
        if any(isinstance(happening, Ended) for happening in happenings):
            self._over(game)

    def _over(self, game: Game) -> None:
        if game.status is Status.ABORTED and self.settings.repeat_abort_line:
            self.audience.to_players(game, lines.game_state(game, self.game_now_ms(game)))
        self.audience.ended(game, self.running(), self.now_ms())
        self._tell_both(game, "gameFinish")

    def move(self, game: Game, color: chess.Color, uci: str) -> None:
        now_ms = self.game_now_ms(game)
        self.happen(game, referee.move(game, color, uci, now_ms))
        self.happen(game, referee.settle(game, now_ms))

    def say(self, game: Game, room: str, username: str, text: str) -> None:
        self.chats[game.id, room].append({"text": text, "user": username})
        line = lines.chat_line(room, username, text)
        if room == "player":
            self.audience.to_players(game, line)
        else:
            self.audience.spectator_chat(game, line)

    async def _keep_time(self, game: Game) -> None:
        """A game that somebody has open is looked at for a fallen flag every so often, others are not (§1.5), but for
        those by correspondence, in which nobody need be there."""
        while not game.over:
            await asyncio.sleep(self.settings.flag_check_s)
            if self.audience.watched(game) or game.days is not None:
                self.happen(game, referee.check_flag(game, self.game_now_ms(game)))

    # The daily limit of games between bots (§4)

    def check_bot_limit(self, me: Account, other: Account) -> None:
        """Raises Rejected: 429 for one's own limit, 400 for the opponent's."""
        if not (me.is_bot and other.is_bot):
            return
        now_ms, limit = self.now_ms(), self.bot_games.limit
        for account, status, who in ((me, 429, "You"), (other, 400, other.name)):
            if self.bot_games.used(account.id, now_ms) >= limit:
                wait: Json = {"key": "bot.vsBot.day", "seconds": self.bot_games.free_in_s(account.id, now_ms)}
                text = f"{who} played {limit} games against other bots today, please wait before challenging."
                raise Rejected(text, status=status, ratelimit=wait)


def control_of(limit_s: int | None, increment_s: int = 0, days: int | None = None) -> Control:
    """A clock when there is a limit, else days or no limit at all."""
    return Correspondence(days) if limit_s is None else TimeControl(limit_s, increment_s)
