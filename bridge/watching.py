"""Games of other people: followed as spectators see them, judged live, and judged again from the finest record.

Nothing is ever sent here: a watched game hears nothing of us (fair play).
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import structlog

from bridge import event_types
from bridge.archive import from_archive
from bridge.errors import BridgeError, PlatformError, RecordError, Refused
from bridge.forgetting import forget_oldest
from bridge.interfaces import FinishedGame, GameInfo, GameMessage, GameOpened, GameState, Journal
from bridge.rules.pools import Ruleset
from bridge.rules.snapshot import RUNNING, Snapshot
from bridge.rules.verdict import Verdict, judge, verdict
from bridge.tracker import Tracker, setup_of

log = structlog.get_logger("kirichess_watch")

_COVERED = frozenset({"standard", "chess960", "fromPosition"})
_EXPORT_PAUSES_S = (0.5, 1, 2, 5, 15, 60)
"""After these tries the stream's own verdict stands."""

_REMEMBERED = 10_000
"""Games that are followed once: far more than can be running."""

_JUDGED_AT_ONCE = 2
"""Whole games of the archive, which come by hundreds: what one is until all its plies are stored takes a megabyte."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to read a game: rules §6 name, error of a reading, whether lines come late, and the stream itself."""

    source: str
    precision_ms: int
    delayed: bool
    stream: Callable[[str], AsyncGenerator[GameMessage]]

    @property
    def exact(self) -> bool:
        """Whether no archive knows the clocks better."""
        return self.precision_ms <= 10


def spectator(stream: Callable[[str], AsyncGenerator[GameMessage]]) -> Way:
    """Anybody's game, late and in whole seconds."""
    return Way("spectator", 500, delayed=True, stream=stream)


def own_board(stream: Callable[[str], AsyncGenerator[GameMessage]]) -> Way:
    """A player's own game, as it is played."""
    return Way("stream", 10, delayed=False, stream=stream)


Wanted: TypeAlias = Callable[[GameInfo], bool]


@dataclass(frozen=True, slots=True)
class Subject:
    """What games are read through and judged by; `wanted` may refuse one once its players and clock are known.

    `finished` asks the archive. `ways`, the finest first: one that the platform refuses for a game gives way to the
    next; none at all for games that are over.
    """

    finished: Callable[[str], Awaitable[FinishedGame]]
    ways: Sequence[Way]
    rules: Ruleset
    wanted: Wanted = lambda info: True


class Watchers:
    """Every watched game of a daemon, each in a task of its own and followed once."""

    def __init__(self, journal: Journal, steady_ms: Callable[[], int]) -> None:
        self._journal = journal
        self._steady_ms = steady_ms
        self._judging = asyncio.Semaphore(_JUDGED_AT_ONCE)
        self._followed: dict[str, None] = {}
        self._games: set[asyncio.Task[None]] = set()

    async def is_judged(self, game_id: str) -> bool:
        """Whether the journal has the game's final verdict. Raises JournalError."""
        return bool(await self._journal.read(subject=game_id, types=(event_types.VERDICT_FINAL,), limit=1))

    async def follow(self, game_id: str, subject: Subject) -> None:
        """One game, to its final verdict; nothing if it is followed already. Raises BridgeError: what failed."""
        if game_id in self._followed:
            return
        self._followed[game_id] = None
        forget_oldest(self._followed, _REMEMBERED)
        tracker, through = Tracker(game_id, "", self._journal, self._steady_ms), False
        try:
            with structlog.contextvars.bound_contextvars(game=game_id):
                await WatchedGame(game_id, tracker, subject, self._judging).run()
            through = tracker.is_open
        finally:
            if not through:
                # Not wanted by this one, or not read to its end: another may want it, or the same once more.
                self._followed.pop(game_id, None)

    async def follow_each(self, ids: AsyncGenerator[str], subject: Subject) -> None:
        """The games that a stream of ids names. Raises what the stream raises; a game's fault ends that game only."""
        async with aclosing(ids):
            async for game_id in ids:
                task = asyncio.create_task(self._survived(game_id, subject))
                self._games.add(task)
                task.add_done_callback(self._games.discard)

    async def _survived(self, game_id: str, subject: Subject) -> None:
        try:
            await self.follow(game_id, subject)
        except RecordError as error:
            log.warning("game_left_out", game=game_id, cause=str(error))
        except BridgeError as error:
            log.error("game_failed", game=game_id, cause=str(error))
        except Exception:
            log.exception("game_crashed", game=game_id)

    async def stop(self) -> None:
        """Let go of every game."""
        for task in self._games:
            task.cancel()
        await asyncio.gather(*self._games, return_exceptions=True)


class WatchedGame:
    """One game of other people. `judging`: held while a whole game is taken in at once."""

    def __init__(self, game_id: str, tracker: Tracker, subject: Subject, judging: asyncio.Semaphore) -> None:
        self.game_id = game_id
        self._tracker = tracker
        self._finished = subject.finished
        self._ways = subject.ways
        self._rules = subject.rules
        self._wanted = subject.wanted
        self._judging = judging
        self._behind = False

    async def run(self) -> None:
        """Follow the game to its final verdict.

        Raises:
            BridgeError: there is no such game, its variant is not covered, or it cannot be read to its end.
        """
        try:
            way = await self._read() if self._ways else None
            if way is not None or not self._ways:
                await self._conclude(way)
        finally:
            self._tracker.close()

    # -- live ----------------------------------------------------------------------------------------------------

    async def _read(self) -> Way | None:
        """Take the stream in to its end; None for a game that is not wanted."""
        *finer, last = self._ways
        for way in finer:
            try:
                return way if await self._stream(way) else None
            except Refused as error:
                if self._tracker.is_open:
                    raise
                log.info("read_another_way", game=self.game_id, cause=str(error))
        try:
            return last if await self._stream(last) else None
        except Refused as error:
            if error.status != 404:
                raise
            raise Refused(f"there is no game {self.game_id} ({error})", status=404) from None

    async def _stream(self, way: Way) -> bool:
        async with aclosing(way.stream(self.game_id)) as messages:
            async for message in messages:
                if isinstance(message, GameOpened) and not self._tracker.is_open:
                    if not self._wanted(message.info):
                        return False
                    await self._open(message.info, way.source, way.precision_ms, delayed=way.delayed)
                if isinstance(message, GameOpened | GameState) and not self._known(message.snapshot):
                    await self._tracker.take(message.snapshot)
        return True

    async def _open(self, info: GameInfo, source: str, precision_ms: int | None, *, delayed: bool) -> None:
        if info.variant not in _COVERED:
            raise RecordError(f"game {self.game_id}: KiriChess does not cover the variant {info.variant}")
        await self._tracker.open(info, self._rules, source=source, precision_ms=precision_ms, delayed=delayed)
        self._behind = bool(self._tracker.ledger.moves)

    def _known(self, snapshot: Snapshot) -> bool:
        """After a restart a stream that begins at the first position is no takeback, until it has caught up."""
        moves = self._tracker.ledger.moves
        told = len(snapshot.moves)
        repeated = snapshot.status in RUNNING and told < len(moves) and list(snapshot.moves) == moves[:told]
        self._behind = self._behind and repeated
        return self._behind

    # -- the end -------------------------------------------------------------------------------------------------

    async def _conclude(self, way: Way | None) -> None:
        if way is not None and self._tracker.is_open and self._needs_no_archive(way):
            await self._tracker.conclude(verdict(self._tracker.ledger, final=True))
            return
        finished = await self._archived()
        if finished is None:
            await self._conclude_without_archive()
            return
        if not self._tracker.is_open:
            # It was over before it was looked at, and no stream tells of it any more.
            if not self._wanted(finished.info):
                return
            await self._open(finished.info, finished.source, finished.precision_ms, delayed=True)
        async with self._judging:
            await self._tracker.take(finished.snapshot)
            await self._tracker.conclude(judge_finished(finished, self._rules))

    async def _conclude_without_archive(self) -> None:
        if not self._tracker.is_open or self._tracker.ledger.platform is None:
            raise PlatformError(f"game {self.game_id}: its stream ended before the game, and no archive has it")
        log.warning("judged_without_archive", game=self.game_id)
        await self._tracker.conclude(verdict(self._tracker.ledger, final=True))

    def _needs_no_archive(self, way: Way) -> bool:
        """Aborted games are not archived, and a certain ledger of exact readings is the finest there is."""
        ledger = self._tracker.ledger
        end = ledger.platform
        return end is not None and (end.status == "aborted" or (way.exact and ledger.certain))

    async def _archived(self) -> FinishedGame | None:
        return await from_archive(partial(self._finished, self.game_id), _EXPORT_PAUSES_S)


def judge_finished(finished: FinishedGame, rules: Ruleset) -> Verdict:
    """The verdict of a game from the platform's archive.

    Raises:
        RecordError: the archive's moves cannot be replayed.
    """
    setup = setup_of(finished.info, rules, finished.source, finished.precision_ms)
    return judge(setup, finished.snapshot)
