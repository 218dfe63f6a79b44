"""One game that we play: its stream in, our moves, resignation and chat out.

The reader never waits for the network or an engine: what takes time runs in a task of its own, and the next snapshot
decides what of it still stands. The board is never moved by our own hand.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial

import chess
import structlog

from bridge import history, news
from bridge.afterwards import Afterwards
from bridge.archive import from_archive
from bridge.bot_account import BotAccount as BotAccount
from bridge.bot_account import PlayStyle as PlayStyle
from bridge.conversation import Conversation
from bridge.days import Days
from bridge.decisions.chat_commands import Bar, Facts
from bridge.decisions.pool_choice import Terms
from bridge.decisions.time_budget import budget, first_move_ms
from bridge.decisions.turn import Decision, Seat, claims_draw, decide
from bridge.errands import Errands
from bridge.errors import BridgeError, Refused
from bridge.idle import Idle
from bridge.interfaces import (
    ChatLine,
    Choice,
    ClaimDraw,
    ClaimVictory,
    GameInfo,
    GameMessage,
    GameOpened,
    GameState,
    Limit,
    OpponentGone,
    Platform,
    Resign,
)
from bridge.offers import Offers
from bridge.opinion import Opinion
from bridge.outbox import Outbox
from bridge.rules.ledger import Ledger
from bridge.rules.pools import DEFAULT_POOL, Ruleset, named
from bridge.rules.verdict import verdict
from bridge.stopwatch import Stopwatch
from bridge.tasks import Tasks
from bridge.thinker import Thinker
from bridge.tracker import Tracker
from bridge.turn import Turn
from bridge.voice import GOODBYE_S, Voice

log = structlog.get_logger("kirichess_session")

_ARCHIVE_PAUSES_S = (0.0, 1.0, 3.0, 10.0, 30.0, 60.0, 60.0)
"""Before tries to have what the stream left out: once the game is judged finally, nobody asks any more."""
_RESIGN_AGAIN_S = 5.0
_CLAIM_AGAIN_S = 10.0
_DRAWN_S = 1.0
"""How long a move is kept back, or a tenth of its time, while a draw is accepted: it would decline the offer."""


class Session:
    """A game of a bot account. `run` returns when the game is over, its verdict stored and told."""

    def __init__(self, game_id: str, bot: BotAccount, tracker: Tracker) -> None:
        self.game_id = game_id
        self.me = bot.name
        self._bot = bot
        self._style = bot.style
        self._tracker = tracker
        self._failures = Outbox(bot.journal, game_id)
        """Stored beside the game: a move waits for nothing of it, and two accounts of ours each have their engine's."""
        self._thinker: Thinker | None = None
        self._engine = ""
        self._tasks = Tasks()
        self._errands = Errands(game_id, bot.platform, self._tasks)
        self._voice = Voice(bot.platform, bot.journal, bot.name, game_id, muted=True)
        self._seat: Seat | None = None
        self._turn: Turn | None = None
        self._talk: Conversation | None = None
        self._afterwards: Afterwards | None = None
        self._opinion: Opinion | None = None
        self._offers: Offers | None = None
        self._can_claim = False
        self._idle: Idle | None = None
        self._days = Days(bot.style.days)
        self._stopwatch = Stopwatch(bot.measures)

    @property
    def seat(self) -> Seat:
        """Our side; only after the first message."""
        assert self._seat is not None, "the game is not open yet"
        return self._seat

    async def run(self, over: Callable[[], None] = lambda: None) -> bool:
        """Play the game to its end; `over` is called when the platform's game has ended, before the verdict.

        False: it is by correspondence, and was left until the opponent has moved; another session goes on with it.

        Raises:
            PlatformError: the platform does not show the game; Refused with 404: it knows no such game.
            JournalError: what the journal has of the game cannot be read.
        """
        try:
            ended = await self._play(over)
            await self._voice.finish(GOODBYE_S)
        finally:
            await self._voice.finish(0)
        return ended

    def listen_on(self) -> Coroutine[None, None, None]:
        """After `run`: answer what is asked for the end only then. It can be cancelled, and keeps no session."""
        return _listen_on(self._afterwards, self._bot.platform)

    async def _play(self, over: Callable[[], None]) -> bool:
        try:
            if not await self._days.listen(self._bot.platform.game(self.game_id), self._read, self._is_idle):
                # The next session begins with what is stored, and its clocks were read by this one alone.
                await self._tracker.stored()
                return False
            if not self._tracker.is_open:
                raise Refused(f"game {self.game_id}: the platform knows of no such game", status=404)
            over()
            await self._conclude()
        finally:
            await self._close()
        return True

    def leave(self) -> None:
        """Leave a game by correspondence as soon as it is not our move; others are played on."""
        self._days.leave()

    async def abandon(self) -> None:
        """The platform has no such game any more: what the journal has of it is judged as it stands.

        Raises JournalError.
        """
        try:
            if await self._tracker.resume():
                await self._tracker.conclude(verdict(self._tracker.ledger, final=True))
        finally:
            await self._close()

    # -- what the stream says ------------------------------------------------------------------------------------

    async def _read(self, message: GameMessage) -> None:
        self._stopwatch.line()
        match message:
            case GameOpened():
                await self._opened(message)
            case GameState() if self._tracker.is_open:
                await self._take(message)
            case ChatLine() if self._tracker.is_open:
                if self._talk is not None:
                    self._talk.heard(message)
            case OpponentGone() if self._tracker.is_open:
                self._can_claim = message.gone and message.claim_in_ms == 0
                self._step()

    async def _opened(self, message: GameOpened) -> None:
        if not self._tracker.is_open:
            await self._begin(message.info)
        await self._take(message)
        if self._turn is not None:
            self._turn.stands()

    async def _begin(self, info: GameInfo) -> None:
        side = chess.WHITE if info.white.id == self.me.lower() else chess.BLACK
        self._days.begin(info)
        them = info.player(not side)
        self._style = self._style.against(them)
        terms = Terms(info.time_control, them.id.lower(), them.is_bot, info.variant, info.speed)
        rules = self._style.choose_rules(terms)
        # A game that no pool fits (from before a change of settings, say) is played as plain chess, like a rated one.
        fits = rules is not None and _may_act(info)
        rules = replace(rules or named(DEFAULT_POOL), scored=fits)
        seat = chess.COLOR_NAMES[side]
        await self._tracker.open(info, rules, source="stream", precision_ms=10, seat=seat)
        self._seat = Seat(side, acts=_may_act(info) and self._rules.scored)
        self._get_engine(info)
        # Who has chosen plain chess in chat may go on talking, and choose again.
        self._voice = Voice(self._bot.platform, self._bot.journal, self.me, self.game_id, muted=not _may_act(info))
        await self._voice.open()
        bot = self._bot
        talk = (self._style.speech, self._tasks, bot.journal, bot.titles, self._facts)
        if not self._days.count:
            patience = (self._errands, self._style.abort_ms)
            self._idle = Idle(self.game_id, self._tracker.ledger, side, *patience)
        choices = (
            partial(self._agree, info),
            self._style.rulesets,
            lambda: self._idle is not None and self._idle.wait(),
        )
        self._talk = Conversation(self.me, self._voice, info, side, *talk, *choices)
        await self._talk.open()
        offered = await history.draw_offered(self._bot.journal, self.me, self.game_id)
        thoughts, endings = await self._tracker.thoughts(side), (self._style.resign, self._style.draw)
        keep = partial(news.keep_thought, bot.journal, self.game_id, self.me)
        self._opinion = Opinion(self.seat, self._tracker.ledger, *endings, thoughts, keep)
        self._offers = Offers(
            *(self.game_id, self._seat, self._tracker.ledger, self._errands),
            offered=offered,
            likes_a_draw=self._opinion.likes_a_draw,
            stood=partial(news.draw_stood, self._tasks, bot.journal, self.me, self.game_id),
            takebacks=self._style.takebacks,
        )
        if self._idle is not None:
            started_ms = self._tracker.stored_at_ms
            self._tasks.spawn(self._idle.watch(0 if started_ms is None else bot.wall_ms() - started_ms))

    def _get_engine(self, info: GameInfo) -> None:
        bot, self._engine = self._bot, self._bot.engine_for(info, self.seat.side, self._rules)
        engine = bot.new_engine(self._engine, self.game_id, info.player(not self.seat.side))
        failed = partial(news.engine_failed, self._failures, self.game_id, self.me)
        self._thinker = Thinker(engine, bot.new_fallback(), failed, bot.source)
        if not self._days.count:  # else it may not be needed this time
            self._tasks.spawn(self._thinker.start())

    def _follow_pool(self, info: GameInfo) -> None:
        """The engine that the settings have for the pool that was chosen in chat."""
        name = self._bot.engine_for(info, self.seat.side, self._rules)
        if self._thinker is not None and name != self._engine:
            self._engine = name
            engine = self._bot.new_engine(name, self.game_id, info.player(not self.seat.side))
            self._tasks.spawn(self._thinker.change(engine))

    async def _take(self, message: GameOpened | GameState) -> None:
        await self._tracker.take(message.snapshot)
        self._days.read(message.snapshot.clock_ms(self.seat.side))
        self._step()
        if self._offers is not None:
            self._offers.stand(message)
            self._offers.answer()
        if self._talk is not None and self.seat.acts:
            self._talk.announce(self._tracker.ledger)

    def _facts(self) -> Facts:
        tracker = self._tracker
        ping_ms, queued = self._bot.overhead.p95_ms, self._bot.queued()
        called = self._thinker.called if self._thinker is not None else None
        name = (called.kind, called.name) if called is not None else ("", self._engine)
        said = (*name, ping_ms, queued, self._opinion.told if self._opinion is not None else "")
        return Facts(tracker.ledger, tracker.elapsed_ms(), self.me, *said, habits=self._style.habits)

    @property
    def _rules(self) -> Ruleset:
        return self._tracker.ledger.setup.rules

    def _agree(self, info: GameInfo, pool: str | None) -> Bar | None:
        """Another pool from the first move on, None: plain chess, as the opponent asked; or what bars it."""
        ledger = self._tracker.ledger
        rules = replace(self._rules, scored=False) if pool is None else self._style.rulesets[pool]
        if ledger.over or ledger.outcome is not None:
            return Bar.OVER
        # Where KiriChess may not act, nobody can choose that it does.
        if not _may_act(info) or not self._tracker.agree(rules):
            return Bar.TOO_LATE
        self._seat = Seat(self.seat.side, acts=rules.scored)
        for part in (self._offers, self._opinion):
            if part is not None:
                part.sit(self.seat)
        self._follow_pool(info)
        return None

    # -- what we do ----------------------------------------------------------------------------------------------

    def _step(self) -> None:
        """Bring what is under way in line with the ledger."""
        ledger = self._tracker.ledger
        decision = decide(ledger, self.seat)
        if decision is not Decision.THINK:
            self._end_turn()
        elif self._turn is None or self._turn.moves != ledger.moves:
            self._end_turn()
            self._stopwatch.turn()
            told = (self._stopwatch.sending, self._bot.overhead.add)
            self._turn = Turn(self.game_id, ledger, self._choose, self._bot.platform, self._tasks, *told)
        if decision is Decision.RESIGN:
            resign = Resign(self.game_id)
            self._errands.while_wanted("resign", resign, self._is_running, every_s=_RESIGN_AGAIN_S)
        if self._can_claim:
            self._claim()

    def _claim(self) -> None:
        for draw, claim in ((False, ClaimVictory(self.game_id)), (True, ClaimDraw(self.game_id))):
            wanted = partial(self._may_claim, draw=draw)
            if wanted():
                self._errands.while_wanted(f"claim {draw}", claim, wanted, every_s=_CLAIM_AGAIN_S)

    def _is_running(self) -> bool:
        return self._tracker.ledger.platform is None

    def _is_idle(self) -> bool:
        return self._turn is None and self._is_running()

    def _may_claim(self, *, draw: bool) -> bool:
        """Lichess answers 200 to a claim on our own turn, and does nothing."""
        ledger = self._tracker.ledger
        may = self._can_claim and self._is_running() and ledger.turn != self.seat.side
        return may and claims_draw(ledger, self.seat) is draw

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._turn.end()
            self._turn = None

    async def _choose(self) -> Choice:
        assert self._thinker is not None and self._opinion is not None, "the game is open"
        ledger = self._tracker.ledger
        moves = list(ledger.moves)
        with self._stopwatch.thinking():
            choice = await self._thinker.choose(ledger, self._limit)
        self._opinion.take(choice, moves)
        if self._opinion.gives_up:
            self._errands.once("resign", Resign(self.game_id))
        else:
            await self._accept_draw()
        return choice

    async def _accept_draw(self) -> None:
        """An offer that stands, before our move declines it; when the game is over this ends with its turn."""
        if self._offers is not None and self._offers.accepts_draw:
            self._offers.answer()
            await asyncio.sleep(min(_DRAWN_S, self._limit().deadline_ms / 10_000))

    def _limit(self) -> Limit:
        style, tracker = self._style, self._tracker
        overhead_ms, plain = self._bot.overhead.ms(style.overhead_ms), not self.seat.acts
        if self._days.count:
            return self._days.limit(overhead_ms)
        caps = [style.think_cap_ms, first_move_ms(tracker.ledger, style.first_move_percent)]
        cap_ms = min((cap for cap in caps if cap is not None), default=None)
        time = budget(tracker.ledger, overhead_ms, tracker.elapsed_ms(), cap_ms, plain=plain)
        increments = (time.white_increment_ms, time.black_increment_ms)
        clocks = time.white_ms, time.black_ms
        return Limit(*clocks, *increments, time.deadline_ms, plain=plain, overhead_ms=overhead_ms)

    # -- the end -------------------------------------------------------------------------------------------------

    async def _conclude(self) -> None:
        """The platform's game is over, or the platform does not know it any more: then it is judged as it stands."""
        self._end_turn()
        judged = verdict(await self._without_gaps(), final=True)
        await self._tracker.conclude(judged)
        if judged.outcome.reason == "aborted":
            # Nothing was played that could be told of.
            await self._voice.finish(0)
        else:
            if self._talk is not None:
                self._talk.conclude(judged, scored=self.seat.acts)

    async def _without_gaps(self) -> Ledger:
        """Where several plies came in one line, their clocks are the archive's to tell (R14).

        Only after the end: the export of a running game lacks its newest plies, and needs downloads that are few.
        """
        ledger = self._tracker.ledger
        if all(row.think_ms is not None for row in ledger.rows):
            return ledger
        try:
            finished = await from_archive(partial(self._bot.platform.finished, self.game_id), _ARCHIVE_PAUSES_S)
            if finished is not None:
                return await self._tracker.refined(finished.snapshot.clocks_ms or ())
            cause = "the archive does not tell of it"
        except BridgeError as error:
            cause = str(error)
        log.warning("gaps_not_filled", game=self.game_id, cause=cause)
        return ledger

    async def _close(self) -> None:
        self._tracker.close()
        self._failures.close()
        try:
            await self._tasks.end()
        finally:
            if self._thinker is not None:
                await self._thinker.close()
            if self._talk is not None:
                # They would keep each other, and all of the game, until the garbage collector comes by.
                self._afterwards, self._talk = self._talk.afterwards(), None


async def _listen_on(afterwards: Afterwards | None, platform: Platform) -> None:
    if afterwards is not None:
        await afterwards.listen(platform.chat)


def _may_act(info: GameInfo) -> bool:
    """Whether KiriChess may change the game's course (fair play): casual, outside tournaments, with clocks."""
    return not info.rated and not info.tournament and info.time_control is not None
