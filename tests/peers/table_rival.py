"""The rival of the comparison: it sits at the arena itself, plays the line at a steady pace and keeps the times."""

import asyncio
from dataclasses import dataclass, field

import chess

from bridge.arena import referee
from bridge.arena.challenges import Wish
from bridge.arena.control import TimeControl
from bridge.arena.game import Game
from bridge.arena.happenings import Status
from tests.peers.scenarios import PEER, Plan, Stage
from tests.peers.scripted_engine import quiet_move

RIVAL = "rival"
CLOCK = TimeControl(30, 1)
_PACE_S = 0.15
_LOOK_S = 0.01
_TAKEN_UP_S = 21.0
"""A challenge lives for 20 s."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The program was to move from `since_ms` on, and moved at `done_ms`, or never."""

    since_ms: int
    done_ms: int | None
    struck: bool
    first: bool

    @property
    def took_ms(self) -> int | None:
        return None if self.done_ms is None else self.done_ms - self.since_ms


@dataclass
class Played:
    """What became of one game; `lost` says how it was lost to a fault, empty: it was not."""

    plan: Plan
    turns: list[Turn] = field(default_factory=list)
    lost: str = ""

    @property
    def moved(self) -> bool:
        """Whether the program has made any move."""
        return any(turn.done_ms is not None for turn in self.turns)


class TableRival:
    """One game against the program, from the challenge to its end."""

    def __init__(self, stage: Stage, line: list[str], plan: Plan, struck: asyncio.Event) -> None:
        self._stage = stage
        self._line = line
        self._plan = plan
        self._struck = struck
        self._mine = chess.BLACK if plan.at % 2 == 0 else chess.WHITE
        self._hit = False
        self.played = Played(plan, lost="unfinished")

    async def play(self) -> None:
        if self._plan.after_fault_s is not None:
            await self._struck.wait()
            await asyncio.sleep(self._plan.after_fault_s)
        await asyncio.sleep(self._plan.offered_s)
        offered_ms = self._stage.hall.now_ms()
        game = await self._offer()
        if game is None:
            self.played.lost = "not taken up"
            return
        # A game offered after a fault owes its first move from the offer on.
        since_ms = game.created_at_ms if self._plan.after_fault_s is None else offered_ms
        while not game.over and (game.plies < self._plan.plies or game.turn != self._mine):
            if game.turn == self._mine:
                await self._move(game)
            else:
                await self._wait(game, since_ms)
            since_ms = game.moved_at_ms
        self._stage.happen(game, lambda now_ms: referee.resign(game, self._mine, now_ms))
        self.played.lost = self._verdict(game)

    async def _offer(self) -> Game | None:
        arena = self._stage.arena
        assert arena is not None
        color = chess.COLOR_NAMES[self._mine]
        wish = Wish(CLOCK, "standard", None, False, color, frozenset())
        asked = arena.desk.create(arena.account(RIVAL), arena.account(PEER), wish)
        try:
            async with asyncio.timeout(_TAKEN_UP_S):
                while asked.id not in arena.games:
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            return None
        return arena.games[asked.id]

    async def _move(self, game: Game) -> None:
        await asyncio.sleep(_PACE_S)
        strike = self._plan.strike
        if strike is not None and not self._hit and game.plies >= self._plan.at - 1 and not game.over:
            self._hit = True
            self._struck.set()
            strike(self._stage, game)
        if not game.over and game.turn == self._mine:
            self._stage.hall.move(game, self._mine, self._choice(game))

    def _choice(self, game: Game) -> str:
        on_line = game.moves == self._line[: game.plies] and game.plies < len(self._line)
        return self._line[game.plies] if on_line else quiet_move(game.moves)

    async def _wait(self, game: Game, since_ms: int) -> None:
        """Until the program has moved, or lost on time."""
        plies = game.plies
        while not game.over and game.plies == plies:
            await asyncio.sleep(_LOOK_S)
            self._stage.happen(game, lambda now_ms: referee.check_flag(game, now_ms))
        struck = self._hit and not any(turn.struck for turn in self.played.turns)
        done_ms = game.moved_at_ms if game.plies > plies else None
        if done_ms is not None or game.status is Status.OUT_OF_TIME:
            late_start = self._plan.after_fault_s is not None and not self.played.turns
            self.played.turns.append(Turn(since_ms, done_ms, struck or late_start, not self.played.turns))

    def _verdict(self, game: Game) -> str:
        rival_won = game.winner == self._mine
        if game.status is Status.OUT_OF_TIME and rival_won:
            return "flag"
        if game.status is Status.RESIGN and rival_won:
            return "resigned"
        if game.status is Status.ABORTED and not self._hit:
            return "aborted"
        return ""
