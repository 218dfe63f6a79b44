"""The arena of a watched round, in a process of its own: many games that are known by their ids before they begin."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bridge.arena import Account, Arena, ArenaSettings, RequestLine, referee
from bridge.arena.hall import control_of

_LIMIT_S = 900
_PLAYERS = 40


@dataclass(frozen=True, slots=True)
class Round:
    """`games`, begun in the first twentieth of `seconds` and over before these are; each ply takes `every_s`."""

    games: int
    seconds: float
    every_s: float

    def ids(self) -> list[str]:
        return [f"load{number:04}" for number in range(self.games)]


@dataclass(frozen=True, slots=True)
class Report:
    """Plies and status of each game, how often each kind of address was asked, and how often in vain."""

    games: dict[str, tuple[int, str]]
    requests: dict[str, int]
    refused: int


class League:
    """Plays the round."""

    def __init__(self, arena: Arena, plan: Round) -> None:
        self._arena = arena
        self._plan = plan
        self._dice = random.Random(9)

    async def play(self) -> None:
        """Every game, to its end."""
        await asyncio.gather(*(self._game(game_id) for game_id in self._plan.ids()))

    async def _game(self, game_id: str) -> None:
        seconds, dice, hall = self._plan.seconds, self._dice, self._arena.hall
        await asyncio.sleep(dice.uniform(0, 0.05) * seconds)
        white, black = (hall.accounts.of_name(f"Player{n}") for n in dice.sample(range(_PLAYERS), 2))
        game = hall.pair(white, black, control_of(_LIMIT_S), game_id=game_id)
        try:
            async with asyncio.timeout(dice.uniform(0.02, 0.9) * seconds):
                while not game.over:
                    await asyncio.sleep(self._plan.every_s * dice.uniform(0.5, 1.5))
                    hall.move(game, game.turn, dice.choice(list(game.board.legal_moves)).uci())
        except TimeoutError:
            if not game.over:
                hall.happen(game, referee.resign(game, game.turn, hall.game_now_ms(game)))


def run_league(connection: Connection, plan: Round) -> None:
    """The process: answers `address`, plays from `open` on, answers `end` when all is over, and tells how it went."""
    asyncio.run(_serve(connection, plan))


async def _serve(connection: Connection, plan: Round) -> None:
    log: list[RequestLine] = []
    accounts = [Account(f"Player{number}", f"lip_{number}") for number in range(_PLAYERS)]
    async with Arena(accounts, ArenaSettings(seed=11), request_log=log) as arena:
        league = League(arena, plan)
        playing: asyncio.Task[None] | None = None
        while True:
            match await asyncio.to_thread(connection.recv):
                case "address":
                    connection.send(arena.url)
                case "open":
                    playing = asyncio.create_task(league.play())
                    connection.send(None)
                case "end":
                    if playing is not None:
                        await playing
                    connection.send(None)
                case "report":
                    connection.send(_report(arena, log))
                case "leave":
                    return


def _report(arena: Arena, log: list[RequestLine]) -> Report:
    games = {game.id: (game.plies, game.status.key) for game in arena.games.values()}
    return Report(games, dict(Counter(_kind(line.path) for line in log)), sum(line.status >= 400 for line in log))


def _kind(path: str) -> str:
    """Without the ids that stand in it."""
    parts = path.split("/")
    return "/".join(["…" if part.startswith(("load", "kirichess-")) else part for part in parts])
