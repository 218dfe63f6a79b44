"""Engine programs that have started, kept for the next game; each serves one game at a time.

One that has failed never comes back, and of those that wait no more are kept than is allowed: they make room for a
game that would not fit beside them, and the one that has waited longest for one of a kind that none of them is of.
"""

from collections.abc import Callable, Sequence

from chess.engine import Opponent

from bridge.engines.kiri import KiriEngine
from bridge.engines.process import ProcessEngine
from bridge.engines.spec import EngineSpec
from bridge.engines.transcript import Transcript
from bridge.errors import EngineError
from bridge.interfaces import Choice, Engine, EngineName, Limit, Named
from bridge.rules.ledger import Ledger


class WarmEngines:
    """Lends engines. `most_idle`: programs that wait, at most; `build` makes an engine; `fits`: whether the last of
    these may run beside the others."""

    def __init__(
        self,
        most_idle: int,
        build: Callable[[EngineSpec], Engine],
        fits: Callable[[Sequence[EngineSpec]], bool] = lambda specs: True,
    ) -> None:
        self.most_idle = most_idle
        self._build = build
        self._fits = fits
        self._lent: list[EngineSpec] = []
        self._idle: list[tuple[EngineSpec, Engine]] = []
        self._closed = False

    def lend(self, spec: EngineSpec, transcript: Transcript | None = None, opponent: Opponent | None = None) -> Engine:
        """An engine for one game, which comes back when it is closed; `transcript`: where it is written what passes;
        `opponent`: whom it plays."""
        return _Lent(self, spec, transcript, opponent)

    def called(self, spec: EngineSpec) -> EngineName:
        """What one of these is, before it is taken."""
        waiting = next((engine for waiting, engine in self._idle if waiting == spec), None)
        return _called(waiting or self._build(spec), spec)

    async def take(self, spec: EngineSpec) -> Engine:
        """One that waits, or a new one; where it would not fit beside those that wait, they make room."""
        for waiting in self._idle:
            if waiting[0] == spec:
                self._idle.remove(waiting)
                self._lent.append(spec)
                return waiting[1]
        while self._idle and not self._fits([*self._lent, *(waiting for waiting, _ in self._idle), spec]):
            await self._idle.pop(0)[1].close()
        engine = self._build(spec)
        self._lent.append(spec)
        return engine

    async def give_back(self, spec: EngineSpec, engine: Engine, *, failed: bool = False) -> None:
        """Keep it, if it has come to rest and there is room for one of its kind; else it ends."""
        try:
            rests = not failed and self._wanted(spec) and await _comes_to_rest(engine)
        finally:
            self._lent.remove(spec)
        if not (rests and self._wanted(spec)):  # others may have come back meanwhile
            await engine.close()
            return
        _write(engine, None)
        self._idle.append((spec, engine))
        while len(self._idle) > self.most_idle:
            await self._idle.pop(0)[1].close()

    def _wanted(self, spec: EngineSpec) -> bool:
        if self._closed or not self.most_idle or not _is_reusable(spec):
            return False
        kinds = [waiting for waiting, _ in self._idle]
        return len(kinds) < self.most_idle or spec not in kinds

    async def close(self) -> None:
        """End those that wait; what comes back later ends at once."""
        self._closed = True
        await self._close_idle()

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop()[1].close()


def _called(engine: Engine, spec: EngineSpec) -> EngineName:
    return engine.called if isinstance(engine, Named) else EngineName(spec.kind)


class _Lent:
    def __init__(
        self, warm: WarmEngines, spec: EngineSpec, transcript: Transcript | None, opponent: Opponent | None
    ) -> None:
        self._opponent = opponent
        self._warm = warm
        self._spec = spec
        self._transcript = transcript
        self._engine: Engine | None = None
        self._failed = False

    @property
    def called(self) -> EngineName:
        return self._warm.called(self._spec) if self._engine is None else _called(self._engine, self._spec)

    async def start(self) -> None:
        if self._engine is None:
            self._engine = await self._warm.take(self._spec)
            _write(self._engine, self._transcript)
            if self._opponent is not None and isinstance(self._engine, ProcessEngine | KiriEngine):
                self._engine.meet(self._opponent)
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

    def ponder(self, ledger: Ledger, uci: str) -> None:
        if isinstance(self._engine, ProcessEngine):
            self._engine.ponder(ledger, uci)

    async def close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is None:
            return
        try:
            await self._warm.give_back(self._spec, engine, failed=self._failed)
        except BaseException:
            await engine.close()
            raise


async def _comes_to_rest(engine: Engine) -> bool:
    return isinstance(engine, ProcessEngine | KiriEngine) and await engine.rest()


def _write(engine: Engine, transcript: Transcript | None) -> None:
    if isinstance(engine, ProcessEngine | KiriEngine):
        engine.write_to(transcript)


def _is_reusable(spec: EngineSpec) -> bool:
    """A plugin may keep what it likes of a game, and a seed's choices are repeated from the start."""
    return spec.kind in ("uci", "xboard", "kiri") and not spec.builtin and spec.seed is None
