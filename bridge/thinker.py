"""Getting a move out of engines that can fail: start, ask, start again, then the fallback, and at last any legal move.

No fault of an engine ever costs the game: each try may use a part of the time, and resigning is not for engines.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import structlog

from bridge.errors import EngineError
from bridge.interfaces import Choice, Engine, EngineName, Limit, MoveSource, Named, Ponders
from bridge.rules.ledger import Ledger

log = structlog.get_logger("kirichess_engine")

_TRIES = 2
"""For one move, before the fallback makes it."""
_TRIES_A_GAME = 6
"""Failures after which the fallback plays the rest of the game …"""
_STARTS_A_GAME = 2
"""… or starts that have failed: one that hangs takes seconds of the clock, and each next one would again."""
_SHARE = 3
"""A try may use a third of what is left, so that a silent engine leaves time for the next one …"""
_WHOLE_MS = 1_000
"""… but no less than this, where there is as much: nobody wins by dividing seconds."""
_SLACK_MS = 250
"""Engines keep their deadline themselves; one that does not is left this much later."""


class Thinker:
    """The engine of one game with its fallback. `failed` is told of every failure; `source` is asked before them."""

    def __init__(
        self, engine: Engine, fallback: Engine, failed: Callable[[str], None], source: MoveSource | None = None
    ) -> None:
        self._source = source
        self._engine = engine
        self._fallback = fallback
        self._failed = failed
        self._failures = self._failed_starts = 0
        self._running = False
        # Held while the engine starts or thinks: a search that was called off has ended before the next one begins.
        self._busy = asyncio.Lock()

    @property
    def called(self) -> EngineName | None:
        """What the engine is, if it tells."""
        return self._engine.called if isinstance(self._engine, Named) else None

    async def start(self) -> None:
        """Start the engine ahead of its first move; a failure is met again, and told, when it is asked."""
        try:
            async with self._busy:
                await self._ready()
        except EngineError as error:
            log.warning("engine_not_started", cause=str(error))

    async def change(self, engine: Engine) -> None:
        """Another engine from the next search on, started as ahead of the first; one that runs ends before."""
        async with self._busy:
            before, self._engine = self._engine, engine
            self._running, self._failures, self._failed_starts = False, 0, 0
            await before.close()
        await self.start()

    async def _ready(self) -> None:
        if self._running:
            return
        try:
            await self._engine.start()
        except (EngineError, asyncio.CancelledError):  # given up, where there was no more time for it
            self._failed_starts += 1
            raise
        self._running = True

    async def choose(self, ledger: Ledger, limit: Callable[[], Limit]) -> Choice:
        """A legal move; there must be one. `limit` is asked anew for every try, since the clock runs on."""
        if self._source is not None:
            found = await self._source.find(ledger, limit())
            if found is not None and not isinstance(found, Choice) and len(found.moves) == 1:
                found = Choice(found.moves[0], why=found.why, wdl=found.wdl)
            if isinstance(found, Choice):
                self._ponder(ledger, found.uci, limit())
                return found
            if found is not None:
                choice = await self._think(ledger, partial(_narrowed, limit, found.moves))
                return replace(choice, wdl=found.wdl if choice.uci in found.moves else None)
        return await self._think(ledger, limit)

    def _ponder(self, ledger: Ledger, uci: str, limit: Limit) -> None:
        if limit.plain and limit.ponder and self._running and isinstance(self._engine, Ponders):
            self._engine.ponder(ledger, uci)

    async def _think(self, ledger: Ledger, limit: Callable[[], Limit]) -> Choice:
        for _ in range(min(_TRIES, _TRIES_A_GAME - self._failures)):
            if self._failed_starts >= _STARTS_A_GAME:
                break
            try:
                choice = await self._ask(ledger, limit)
                if choice.fault:
                    self._failed(choice.fault)
                return choice
            except EngineError as error:
                cause = str(error)
                log.warning("engine_failed", game=ledger.setup.game_id, cause=cause)
            except Exception as error:
                cause = f"{type(error).__name__}: {error}"
                log.exception("engine_crashed", game=ledger.setup.game_id)
            self._running = False
            self._failures += 1
            self._failed(cause)
        return await self._fall_back(ledger, limit)

    async def _ask(self, ledger: Ledger, limit: Callable[[], Limit]) -> Choice:
        now, has_to_wait = limit(), self._busy.locked() or not self._running
        share_ms = _share_ms(now)
        try:
            async with asyncio.timeout((share_ms + (0 if has_to_wait else _SLACK_MS)) / 1000) as patience, self._busy:
                if has_to_wait or not self._running:
                    await self._ready()
                    now = limit()
                    share_ms = _share_ms(now)
                    patience.reschedule(asyncio.get_running_loop().time() + (share_ms + _SLACK_MS) / 1000)
                return await self._engine.think(ledger, replace(now, deadline_ms=share_ms))
        except TimeoutError:
            raise EngineError(f"the engine was not ready, or gave no move, within {share_ms} ms") from None

    async def _fall_back(self, ledger: Ledger, limit: Callable[[], Limit]) -> Choice:
        try:
            await self._fallback.start()
            now = limit()
            async with asyncio.timeout(now.deadline_ms / 1000):
                return await self._fallback.think(ledger, now)
        except Exception:
            log.exception("fallback_failed", game=ledger.setup.game_id)
        move = next(iter(ledger.board.legal_moves))
        return Choice(ledger.board.uci(move, chess960=ledger.chess960), why="every engine failed")

    async def close(self) -> None:
        """End both engines; nobody may be asking them any more."""
        try:
            await self._engine.close()
        finally:
            await self._fallback.close()


def _narrowed(limit: Callable[[], Limit], moves: tuple[str, ...]) -> Limit:
    return replace(limit(), root_moves=moves)


def _share_ms(limit: Limit) -> int:
    return min(limit.deadline_ms, max(_WHOLE_MS, limit.deadline_ms // _SHARE))
