"""Games of other people: followed as spectators see them, judged live, and judged again from the finest record.

Nothing is ever sent here: a watched game hears nothing of us (fair play).
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import structlog

from bridge.errors import PlatformError, RecordError
from bridge.interfaces import FinishedGame, GameInfo, GameMessage, GameOpened, GameState, Platform
from bridge.rules.pools import Ruleset
from bridge.rules.verdict import Verdict, judge, verdict
from bridge.tracker import Tracker, setup_of

log = structlog.get_logger("kirichess_watch")

_EXPORT_PAUSES_S = (0.5, 1, 2, 5, 15, 60)
"""The archive can lag behind the stream; after these tries the provisional verdict stands."""


@dataclass(frozen=True, slots=True)
class Source:
    """How a game's stream is read: rules §6 name, error of a reading, and whether lines come undelayed."""

    name: str
    precision_ms: int
    undelayed: bool


SPECTATOR = Source("spectator", 500, undelayed=False)
OWN_BOARD = Source("stream", 10, undelayed=True)


class WatchedGame:
    """One game of other people. `wanted` may refuse it once its players and clock are known."""

    def __init__(
        self,
        game_id: str,
        platform: Platform,
        stream: Callable[[str], AsyncIterator[GameMessage]],
        tracker: Tracker,
        rules: Ruleset,
        source: Source,
        wanted: Callable[[GameInfo], bool] = lambda info: True,
    ) -> None:
        self.game_id = game_id
        self._platform = platform
        self._stream = stream
        self._tracker = tracker
        self._rules = rules
        self._source = source
        self._wanted = wanted

    async def run(self) -> None:
        """Follow the game to its final verdict."""
        try:
            async for message in self._stream(self.game_id):
                match message:
                    case GameOpened() if not self._tracker.is_open:
                        if not self._wanted(message.info):
                            return
                        await self._tracker.open(
                            message.info,
                            self._rules,
                            source=self._source.name,
                            precision_ms=self._source.precision_ms,
                        )
                        await self._tracker.take(message.snapshot)
                    case GameOpened() | GameState():
                        await self._tracker.take(message.snapshot)
            if self._tracker.is_open:
                await self._conclude()
        finally:
            self._tracker.close()

    async def _conclude(self) -> None:
        ledger = self._tracker.ledger
        if self._source.precision_ms <= OWN_BOARD.precision_ms and ledger.certain and ledger.platform is not None:
            await self._tracker.conclude(verdict(ledger, final=True))
            return
        judged = await self._from_archive()
        if judged is not None:
            await self._tracker.conclude(judged)

    async def _from_archive(self) -> Verdict | None:
        for pause_s in _EXPORT_PAUSES_S:
            await asyncio.sleep(pause_s)
            try:
                finished = await self._platform.finished(self.game_id)
                return judge_finished(finished, self._rules)
            except RecordError as error:
                log.error("archive_unreadable", game=self.game_id, cause=str(error))
                return None
            except PlatformError as error:
                log.warning("archive_not_ready", game=self.game_id, cause=str(error))
        return None


def judge_finished(finished: FinishedGame, rules: Ruleset) -> Verdict:
    """The verdict of a game from the platform's archive.

    Raises:
        RecordError: the archive's moves cannot be replayed.
    """
    setup = setup_of(finished.info, rules, finished.source, finished.precision_ms)
    return judge(setup, finished.snapshot)
