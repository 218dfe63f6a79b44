"""One game that we play: its stream in, our moves, resignation and chat out.

The reader never waits for the network or an engine: what takes time runs in a task of its own, and the next snapshot
decides what of it still stands. The board is never moved by our own hand.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import chess
import structlog

from bridge import event_types
from bridge.decisions import chat
from bridge.decisions.time_budget import budget
from bridge.decisions.turn import Decision, Seat, decide
from bridge.errors import EngineError, PlatformError
from bridge.interfaces import (
    Abort,
    Action,
    AnswerDraw,
    AnswerTakeback,
    ChatLine,
    Choice,
    ClaimVictory,
    Draft,
    Engine,
    GameInfo,
    GameOpened,
    GameState,
    Journal,
    Limit,
    OpponentGone,
    Platform,
    PlayMove,
    Resign,
)
from bridge.records.one_line import one_line
from bridge.rules.pools import DEFAULT_POOL, Ruleset, named
from bridge.rules.snapshot import TimeControl
from bridge.rules.verdict import verdict
from bridge.thinker import Thinker
from bridge.tracker import Tracker
from bridge.voice import Voice

log = structlog.get_logger("kirichess_session")

_ENGINE_TRIES = 3
_GOODBYE_S = 5.0


@dataclass(frozen=True, slots=True)
class PlayStyle:
    """How an account plays its games. `choose_rules` maps a time control to the rules, None: no pool fits.

    `think_cap_ms` bounds every search (for demonstrations); None: only the clocks do.
    """

    choose_rules: Callable[[TimeControl | None], Ruleset | None]
    overhead_ms: int = 100
    abort_ms: int = 30_000
    greeting: bool = True
    think_cap_ms: int | None = None


@dataclass(frozen=True, slots=True)
class BotAccount:
    """An account that plays, with what its games share. A new engine is made for every game."""

    name: str
    platform: Platform
    journal: Journal
    style: PlayStyle
    new_engine: Callable[[], Engine]
    new_fallback: Callable[[], Engine]


class Session:
    """A game of a bot account. `run` returns when the game is over and its verdict is stored."""

    def __init__(self, game_id: str, bot: BotAccount, tracker: Tracker) -> None:
        self.game_id = game_id
        self.me = bot.name
        self._platform = bot.platform
        self._thinker = Thinker(bot.new_engine(), bot.new_fallback(), self._engine_failed)
        self._tracker = tracker
        self._journal = bot.journal
        self._style = bot.style
        self._seat: Seat | None = None
        self._voice = Voice(bot.platform, bot.journal, bot.name, game_id, muted=True)
        self._marks: set[tuple[chess.Color, int]] = set()
        self._turn: asyncio.Task[None] | None = None
        self._turn_at: list[str] | None = None
        self._chosen: tuple[list[str], Choice] | None = None
        self._draw_offered = False
        self._errands: set[asyncio.Task[None]] = set()
        self._errand_names: set[str] = set()
        self._abort_timer: asyncio.Task[None] | None = None

    @property
    def seat(self) -> Seat:
        """Our side; only after the first message."""
        assert self._seat is not None, "the game is not open yet"
        return self._seat

    async def run(self) -> None:
        """Play the game to its end."""
        starting = asyncio.create_task(self._thinker.start())
        try:
            async for message in self._platform.game(self.game_id):
                match message:
                    case GameOpened():
                        await self._opened(message)
                    case GameState():
                        await self._state(message)
                    case ChatLine():
                        self._heard(message)
                    case OpponentGone():
                        self._opponent_gone(message)
            await self._over()
        finally:
            starting.cancel()
            await self._close()

    # -- what the stream says ------------------------------------------------------------------------------------

    async def _opened(self, message: GameOpened) -> None:
        if not self._tracker.is_open:
            await self._begin(message.info)
        await self._tracker.take(message.snapshot)
        if self._turn is not None and self._turn.done():
            # The stream was lost: a move that was sent may not have arrived, so what was chosen is owed again.
            self._turn_at = None
        self._step()

    async def _begin(self, info: GameInfo) -> None:
        side = chess.WHITE if info.white.id == self.me.lower() else chess.BLACK
        rules = self._style.choose_rules(info.time_control)
        # A game that no pool fits (from before a change of settings, say) is played as plain chess, like a rated one.
        acts = rules is not None and not info.rated and not info.tournament
        rules = rules or named(DEFAULT_POOL)
        self._seat = Seat(side, acts)
        seat = chess.COLOR_NAMES[side]
        await self._tracker.open(info, rules, source="stream", precision_ms=10, seat=seat)
        self._voice = Voice(self._platform, self._journal, self.me, self.game_id, muted=not acts)
        await self._voice.open()
        if self._style.greeting:
            for number, line in enumerate(chat.greeting(rules)):
                self._voice.say(line, once=f"greeting-{number}")
        chat.marks_passed(self._tracker.ledger, self._marks)
        self._abort_timer = asyncio.create_task(self._abort_idle())

    async def _state(self, message: GameState) -> None:
        if not self._tracker.is_open:
            return
        before = self._tracker.ledger.outcome
        await self._tracker.take(message.snapshot)
        ledger = self._tracker.ledger
        if before is None and ledger.outcome is None:
            if news := chat.marks_passed(ledger, self._marks):
                self._voice.say(chat.clock_line(ledger, news), once=f"clock-{len(ledger.moves)}")
        elif before is None and ledger.platform is None and ledger.certain and (line := chat.flag_line(ledger)):
            self._voice.say(line, once="flag", important=True)
        if (not self.seat.side) in message.takeback_offers:
            self._errand(f"takeback-{len(ledger.moves)}", AnswerTakeback(self.game_id, accept=False))
        self._step()

    def _heard(self, line: ChatLine) -> None:
        if not self._tracker.is_open or line.user.lower() in (self.me.lower(), "lichess", ""):
            return
        info = self._tracker.info
        bots = {player.name.lower() for player in (info.white, info.black) if player.is_bot} if info else set()
        if line.user.lower() in bots:
            return
        answer = chat.reply(line.text, self._tracker.ledger)
        if answer is not None:
            self._voice.say(answer, room=line.room)

    def _opponent_gone(self, message: OpponentGone) -> None:
        ledger = self._tracker.ledger if self._tracker.is_open else None
        if ledger is None or not message.gone or message.claim_in_ms != 0 or ledger.turn == self.seat.side:
            return
        self._errand(f"claim-{len(ledger.moves)}", ClaimVictory(self.game_id), again=True)

    # -- what we do ----------------------------------------------------------------------------------------------

    def _step(self) -> None:
        """Bring what is under way in line with the ledger."""
        ledger = self._tracker.ledger
        decision = decide(ledger, self.seat, draw_offered=self._draw_offered)
        if decision is Decision.OFFER_DRAW:
            self._draw_offered = True
            self._errand("draw", AnswerDraw(self.game_id, accept=True))
            decision = decide(ledger, self.seat, draw_offered=True)
        if decision is Decision.RESIGN:
            self._stop_thinking()
            self._errand("resign", Resign(self.game_id), again=True)
        elif decision is Decision.WAIT:
            self._stop_thinking()
        elif self._turn_at != ledger.moves:
            self._stop_thinking()
            self._turn_at = list(ledger.moves)
            self._turn = asyncio.create_task(self._play(self._turn_at))

    def _stop_thinking(self) -> None:
        self._turn_at = None
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None

    async def _play(self, moves: list[str]) -> None:
        """One move of ours, from thought to the platform's answer. Cancelled when the game has moved on."""
        try:
            if self._chosen is None or self._chosen[0] != moves:
                self._chosen = moves, await self._thinker.choose(self._tracker.ledger, self._limit)
            await self._platform.perform(PlayMove(self.game_id, self._chosen[1].uci))
        except (PlatformError, EngineError) as error:
            # What stands on the board the stream tells; if the move is still owed then, it is chosen anew.
            self._chosen = None
            log.error("move_failed", game=self.game_id, cause=str(error))

    async def _engine_failed(self, cause: str) -> None:
        await self._journal.append([Draft(event_types.ENGINE_FAILED, self.game_id, {"cause": cause}, self.me)])

    def _limit(self) -> Limit:
        style, tracker = self._style, self._tracker
        time = budget(tracker.ledger, style.overhead_ms, tracker.elapsed_ms(), style.think_cap_ms)
        return Limit(time.white_ms, time.black_ms, time.white_increment_ms, time.black_increment_ms, time.deadline_ms)

    async def _abort_idle(self) -> None:
        """Give a game back when the opponent does not make a first move."""
        await asyncio.sleep(self._style.abort_ms / 1000)
        ledger = self._tracker.ledger
        if ledger.platform is None and len(ledger.moves) < 2 and ledger.turn != self.seat.side:
            self._errand("abort", Abort(self.game_id))

    def _errand(self, name: str, action: Action, *, again: bool = False) -> None:
        """Send something once, beside the game; `again` lets a later message send it anew."""
        if name in self._errand_names:
            return
        self._errand_names.add(name)
        task = asyncio.create_task(self._perform(name, action, again))
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    async def _perform(self, name: str, action: Action, again: bool) -> None:
        try:
            await self._platform.perform(action)
        except PlatformError as error:
            # Whether it took effect, the stream tells; a refusal changes nothing in the game.
            log.warning("action_failed", game=self.game_id, action=type(action).__name__, cause=str(error))
        finally:
            if again:
                self._errand_names.discard(name)

    # -- the end -------------------------------------------------------------------------------------------------

    async def _over(self) -> None:
        if not self._tracker.is_open:
            return
        self._stop_thinking()
        judged = verdict(self._tracker.ledger, final=True)
        await self._tracker.conclude(judged)
        self._voice.say(one_line(judged), once="verdict", important=True)
        await self._voice.finish(_GOODBYE_S)

    async def _close(self) -> None:
        self._stop_thinking()
        self._tracker.close()
        if self._abort_timer is not None:
            self._abort_timer.cancel()
        for task in self._errands:
            task.cancel()
        await self._voice.finish(0)
        await self._thinker.close()
