"""Getting a move out of engines that can fail: start, ask, start again, and at last ask the fallback."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bridge.errors import EngineError
from bridge.interfaces import Choice, Engine, Limit
from bridge.rules.ledger import Ledger

log = structlog.get_logger("kirichess_engine")

_TRIES = 2


class Thinker:
    """The engine of one game with its fallback. `failed` is told of every failure and may store it."""

    def __init__(self, engine: Engine, fallback: Engine, failed: Callable[[str], Awaitable[None]]) -> None:
        self._engine = engine
        self._fallback = fallback
        self._failed = failed
        self._running = False
        self._starting = asyncio.Lock()

    async def start(self) -> None:
        """Start the engine ahead of its first move; a failure is met again, and told, when it is asked."""
        try:
            await self._ready()
        except EngineError as error:
            log.warning("engine_not_started", cause=str(error))

    async def _ready(self) -> None:
        # The first move can be owed while the engine is still being started ahead of it.
        async with self._starting:
            if not self._running:
                await self._engine.start()
                self._running = True

    async def choose(self, ledger: Ledger, limit: Callable[[], Limit]) -> Choice:
        """A legal move; `limit` is asked anew for every try, since the clock runs on.

        Raises:
            EngineError: the fallback failed too.
        """
        for _ in range(_TRIES):
            try:
                await self._ready()
                return await self._engine.think(ledger, limit())
            except EngineError as error:
                self._running = False
                log.warning("engine_failed", game=ledger.setup.game_id, cause=str(error))
                await self._failed(str(error))
        await self._fallback.start()
        return await self._fallback.think(ledger, limit())

    async def close(self) -> None:
        """End both engines."""
        await self._engine.close()
        await self._fallback.close()
