"""Many games by their ids: a list tells which run and which are over, and every one of them gets its verdict.

As many as there are seats are read live. The others are judged once they are over, from the archive, which gives
hundreds at a time; until then nothing is known of them but that they run.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

import structlog

from bridge.errors import BridgeError, RecordError
from bridge.interfaces import FinishedGame, GameMessage, Listed
from bridge.rules.pools import Ruleset
from bridge.rules.snapshot import RUNNING, Snapshot
from bridge.tasks import Tasks
from bridge.watching import Subject, Wanted, Watchers, spectator

log = structlog.get_logger("kirichess_watch")

_AGAIN_S = 60.0
"""Before a game that could not be judged is looked at again."""
_UNKNOWN_AFTER_S = 60.0
"""When it is told that there are games of which the platform has said nothing."""
_NOT_ARCHIVED = frozenset({"aborted", "noStart"})


class Listing(Protocol):
    """What a platform must be able to do."""

    def listed_games(self, wanted: Callable[[], Sequence[str]]) -> AsyncGenerator[Listed]:
        """Where games stand, and whenever one starts or ends, for ever; `wanted` is asked for their ids."""
        ...

    def spectate(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """A game as spectators see it."""
        ...

    async def finished_among_many(self, game_id: str) -> FinishedGame:
        """A game from the archive, asked for together with others."""
        ...


class WatchList:
    """The games of one `games:` entry. `seats`: what one address may read live at a time, shared with other entries."""

    def __init__(
        self, ids: Sequence[str], platform: Listing, rules: Ruleset, wanted: Wanted, seats: asyncio.Semaphore
    ) -> None:
        self._platform = platform
        self._rules = rules
        self._wanted = wanted
        self._seats = seats
        self._left = dict.fromkeys(game_id[:8] for game_id in ids)
        self._told: dict[str, Listed] = {}
        self._unseen: dict[str, None] = {}
        self._some_unseen = asyncio.Event()
        self._in_hand: set[str] = set()
        self._tasks = Tasks()
        self._all_judged = asyncio.Event()

    async def run(self, watchers: Watchers) -> None:
        """Follow the games until each has its final verdict. Raises Refused: there is no such list."""
        for game_id in tuple(self._left):
            if await watchers.is_judged(game_id):
                self._done(game_id)
        reading, judged = asyncio.ensure_future(self._read(watchers)), asyncio.ensure_future(self._all_judged.wait())
        unknown = asyncio.get_running_loop().call_later(_UNKNOWN_AFTER_S, self._tell_unknown)
        self._tasks.spawn(self._fill_seats(watchers))
        try:
            await asyncio.wait({reading, judged}, return_when=asyncio.FIRST_COMPLETED)
            if not self._all_judged.is_set():
                reading.result()
        finally:
            unknown.cancel()
            reading.cancel()
            judged.cancel()
            await asyncio.gather(reading, judged, self._tasks.end(), return_exceptions=True)

    async def _read(self, watchers: Watchers) -> None:
        async with aclosing(self._platform.listed_games(lambda: tuple(self._left))) as list_:
            async for listed in list_:
                if listed.info.id in self._left:
                    self._told[listed.info.id] = listed
                    self._see_to(listed, watchers)

    def _see_to(self, listed: Listed, watchers: Watchers) -> None:
        game_id = listed.info.id
        if game_id in self._in_hand:
            return
        if listed.status in RUNNING:
            self._unseen[game_id] = None
            self._some_unseen.set()
        else:
            self._unseen.pop(game_id, None)
            self._in_hand.add(game_id)
            self._tasks.spawn(self._judge(game_id, self._over(listed), watchers))

    def _over(self, listed: Listed) -> Subject:
        finished = self._platform.finished_among_many
        if listed.status in _NOT_ARCHIVED:
            snapshot = Snapshot((), listed.status, listed.winner)

            async def finished(game_id: str) -> FinishedGame:
                return FinishedGame(listed.info, snapshot, "none", None)

        return Subject(finished, (), self._rules, self._wanted)

    async def _fill_seats(self, watchers: Watchers) -> None:
        while True:
            await self._some_unseen.wait()
            await self._seats.acquire()
            if not self._unseen:
                # They ended while there was no seat.
                self._some_unseen.clear()
                self._seats.release()
                continue
            game_id = next(iter(self._unseen))
            del self._unseen[game_id]
            self._in_hand.add(game_id)
            self._tasks.spawn(self._read_live(game_id, watchers))

    async def _read_live(self, game_id: str, watchers: Watchers) -> None:
        ways = (spectator(self._platform.spectate),)
        subject = Subject(self._platform.finished_among_many, ways, self._rules, self._wanted)
        try:
            await self._judge(game_id, subject, watchers)
        finally:
            self._seats.release()

    async def _judge(self, game_id: str, subject: Subject, watchers: Watchers) -> None:
        try:
            await watchers.follow(game_id, subject)
        except RecordError as error:
            log.warning("game_left_out", game=game_id, cause=str(error))
        except BridgeError as error:
            log.warning("game_not_judged_yet", game=game_id, cause=str(error), again_in_s=_AGAIN_S)
            self._tasks.spawn(self._later(game_id, watchers))
            return
        self._done(game_id)

    async def _later(self, game_id: str, watchers: Watchers) -> None:
        await asyncio.sleep(_AGAIN_S)
        self._in_hand.discard(game_id)
        self._see_to(self._told[game_id], watchers)

    def _done(self, game_id: str) -> None:
        del self._left[game_id]
        self._told.pop(game_id, None)
        self._in_hand.discard(game_id)
        if not self._left:
            self._all_judged.set()

    def _tell_unknown(self) -> None:
        if unknown := [game_id for game_id in self._left if game_id not in self._told]:
            log.warning("games_not_known_yet", count=len(unknown), first=unknown[:3])
