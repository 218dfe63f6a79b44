"""The arena of a load run, in a process of its own: opponents that move at a steady pace, answers that are timed."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

import chess

from bridge.arena import Account, Arena, ArenaSettings, Fate, referee
from bridge.arena.faults import Answer
from bridge.arena.game import Game
from bridge.arena.streams import StreamName
from tests.bench.line_to_move import script

BRIDGE, ECHO = "Kiri", "Echo"
TOKENS = {BRIDGE: "lip_Kiri", ECHO: "lip_Echo"}
_RIVAL = "Rival"
_LIMIT_S = 10_800
_PAIRINGS_A_S = 25
_LONGEST_PLIES = 80
"""Then the opponent resigns: games of all ages run together, as on a server that has been up for long."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How many games at once each account plays, and the seconds between two moves of an opponent."""

    games: dict[str, int]
    every_s: float


@dataclass(slots=True)
class Counts:
    """Of one account. `late`: an opponent's turn came round and the account's move was still missing."""

    plies: int = 0
    late: int = 0
    latencies_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Played:
    """A game as it stood at the end."""

    id: str
    account: str
    plies: int
    status: str


@dataclass(frozen=True, slots=True)
class Report:
    counts: dict[str, Counts]
    games: list[Played]


class Stopwatch:
    """Sees every request before the arena does: from an opponent's move to the answer."""

    def __init__(self) -> None:
        self.counts = {account: Counts() for account in TOKENS}
        self._sent_at: dict[str, tuple[str, float]] = {}

    def sends(self, account: str, game_id: str) -> None:
        self._sent_at[game_id] = (account, time.perf_counter())

    def before(self, kind: str, _account: str, path: str) -> Answer | None:
        if kind == "move" and (sent := self._sent_at.pop(path.split("/")[4], None)) is not None:
            self.counts[sent[0]].latencies_ms.append(1000 * (time.perf_counter() - sent[1]))
        return None

    def on_line(self, _stream: StreamName) -> Fate:
        return Fate.PASS


class Rivals:
    """Keeps each account's number of games running: where one ends, the next begins."""

    def __init__(self, arena: Arena, stopwatch: Stopwatch, pace: Pace) -> None:
        self._arena = arena
        self._stopwatch = stopwatch
        self._pace = pace
        self._dice = random.Random(7)
        self._script = script()
        self._ending = asyncio.Event()
        self._accounts: dict[str, str] = {}
        self.tables: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Begin every game, some at a time."""
        for account, count in self._pace.games.items():
            for number in range(count):
                # The echo knows the answers of one side only.
                color = chess.BLACK if account == ECHO else chess.COLORS[number % 2]
                self.tables.append(asyncio.create_task(self._table(account, color)))
                await asyncio.sleep(1 / _PAIRINGS_A_S)

    async def close(self) -> None:
        """Resign what still runs."""
        self._ending.set()
        await asyncio.gather(*self.tables)

    def report(self) -> Report:
        games = [Played(g.id, self._accounts[g.id], g.plies, g.status.key) for g in self._arena.games.values()]
        return Report(self._stopwatch.counts, games)

    async def _table(self, account: str, color: chess.Color) -> None:
        # The first game ends early, as if it had begun before: else all would be equally old for ever.
        longest = self._dice.randint(2, _LONGEST_PLIES)
        while not self._ending.is_set():
            white, black = (account, _RIVAL) if color else (_RIVAL, account)
            game = self._arena.games[self._arena.pair(white, black, _LIMIT_S)]
            self._accounts[game.id] = account
            await self._play(game, account, not color, longest)
            longest = _LONGEST_PLIES

    async def _play(self, game: Game, account: str, color: chess.Color, longest: int) -> None:
        counts, seen = self._stopwatch.counts[account], 0
        while not game.over:
            going_on = await self._turn_comes()
            if game.over:
                pass
            elif not going_on:
                self._resign(game, color)
            elif game.turn != color:
                counts.late += game.plies > 0
            elif game.plies >= longest or (account == ECHO and game.plies >= len(self._script) - 1):
                self._resign(game, color)
            else:
                self._stopwatch.sends(account, game.id)
                self._arena.hall.move(game, color, self._choose(game, account))
            counts.plies += game.plies - seen
            seen = game.plies

    def _resign(self, game: Game, color: chess.Color) -> None:
        hall = self._arena.hall
        hall.happen(game, referee.resign(game, color, hall.game_now_ms(game)))

    async def _turn_comes(self) -> bool:
        """False when all is to end."""
        try:
            async with asyncio.timeout(self._pace.every_s * self._dice.uniform(0.75, 1.25)):
                await self._ending.wait()
        except TimeoutError:
            pass
        return not self._ending.is_set()

    def _choose(self, game: Game, account: str) -> str:
        if account == ECHO:
            return self._script[game.plies]
        return self._dice.choice(list(game.board.legal_moves)).uci()


def run_arena(connection: Connection, pace: Pace) -> None:
    """The process: answers `address`, then `counts` as often as asked, and `end` with a Report."""
    asyncio.run(_serve(connection, pace))


async def _serve(connection: Connection, pace: Pace) -> None:
    settings = ArenaSettings(bot_games_per_day=10**6, seed=11)
    accounts = [*(Account(name, token, title="BOT") for name, token in TOKENS.items()), Account(_RIVAL, "lip_Rival")]
    stopwatch = Stopwatch()
    async with Arena(accounts, settings, faults=stopwatch) as arena:
        rivals = Rivals(arena, stopwatch, pace)
        while True:
            match await asyncio.to_thread(connection.recv):
                case "address":
                    connection.send(arena.url)
                case "open":
                    await rivals.open()
                    connection.send(None)
                case "counts":
                    connection.send(rivals.report().counts)
                case "end":
                    await rivals.close()
                    connection.send(rivals.report())
                case "leave":
                    return
