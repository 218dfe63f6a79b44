"""Engine programs that have started, kept for the next game; each serves one game at a time.

One that has failed never comes back, and of those that wait no more are kept than is allowed.
"""

from collections.abc import Callable

from bridge.engines.kiri import KiriEngine
from bridge.engines.process import ProcessEngine
from bridge.engines.spec import EngineSpec
from bridge.engines.transcript import Transcript
from bridge.errors import EngineError
from bridge.interfaces import Choice, Engine, Limit
from bridge.rules.ledger import Ledger


class WarmEngines:
    """Lends engines. `most_idle`: programs that wait, at most; `build` makes an engine."""

    def __init__(self, most_idle: int, build: Callable[[EngineSpec], Engine]) -> None:
        self._most_idle = most_idle
        self._build = build
        self._idle: list[tuple[EngineSpec, Engine]] = []
        self._closed = False

    def lend(self, spec: EngineSpec, transcript: Transcript | None = None) -> Engine:
        """An engine for one game, which comes back when it is closed; `transcript`: where it is written what passes."""
        if self._most_idle and _is_reusable(spec):
            return _Lent(self, spec, transcript)
        engine = self._build(spec)
        _write(engine, transcript)
        return engine

    async def take(self, spec: EngineSpec) -> Engine:
        """One that waits, or a new one; then those of other kinds make room for it."""
        for waiting in self._idle:
            if waiting[0] == spec:
                self._idle.remove(waiting)
                return waiting[1]
        await self._close_idle()
        return self._build(spec)

    async def give_back(self, spec: EngineSpec, engine: Engine) -> None:
        """Keep it, if it has come to rest and there is room; else it ends."""
        rests = isinstance(engine, ProcessEngine | KiriEngine) and self._has_room() and await engine.rest()
        if rests and self._has_room():  # others may have come back meanwhile
            _write(engine, None)
            self._idle.append((spec, engine))
        else:
            await engine.close()

    def _has_room(self) -> bool:
        return not self._closed and len(self._idle) < self._most_idle

    async def close(self) -> None:
        """End those that wait; what comes back later ends at once."""
        self._closed = True
        await self._close_idle()

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop()[1].close()


class _Lent:
    def __init__(self, warm: WarmEngines, spec: EngineSpec, transcript: Transcript | None) -> None:
        self._warm = warm
        self._spec = spec
        self._transcript = transcript
        self._engine: Engine | None = None
        self._failed = False

    async def start(self) -> None:
        if self._engine is None:
            self._engine = await self._warm.take(self._spec)
            _write(self._engine, self._transcript)
        try:
            await self._engine.start()
        except BaseException:
            self._failed = True
            raise

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        if self._engine is None:
            raise EngineError("the engine is not running: start it first")
        try:
            return await self._engine.think(ledger, limit)
        except Exception:
            self._failed = True
            raise

    async def close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is None:
            return
        if self._failed:
            await engine.close()
        else:
            try:
                await self._warm.give_back(self._spec, engine)
            except BaseException:
                await engine.close()
                raise


def _write(engine: Engine, transcript: Transcript | None) -> None:
    if isinstance(engine, ProcessEngine | KiriEngine):
        engine.write_to(transcript)


def _is_reusable(spec: EngineSpec) -> bool:
    """A plugin may keep what it likes of a game, and a seed's choices are repeated from the start."""
    return spec.kind in ("uci", "xboard", "kiri") and not spec.builtin and spec.seed is None
