"""The engines of the settings: tried at the start, chosen for each game, and lent to it."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from chess.engine import Opponent

from bridge.clocks import wall_ms
from bridge.decisions.engine_budget import Cost, fits
from bridge.decisions.engine_choice import Occasion, choose_engine
from bridge.engines.spec import EngineSpec, Option
from bridge.engines.transcript import NOTE, Transcript, Transcripts
from bridge.engines.warm import WarmEngines
from bridge.errors import EngineError, UsageError
from bridge.interfaces import Engine, Player
from bridge.settings.engine_limits import EngineLimits, cost_of, cost_of_values
from bridge.settings.engines import EngineSettings
from bridge.settings.models import Settings
from bridge.settings.play import Play


class AccountEngines:
    """All engines of one configuration; those that wait for a game are shared by its accounts."""

    def __init__(self, settings: Settings, build: Callable[[EngineSpec], Engine]) -> None:
        self._engines = settings.engines
        self._build = build
        self._budget = settings.engine_limits.budget
        self._warm = WarmEngines(settings.engine_limits.idle, build, self._fit)
        logs = settings.engine_logs
        self._transcripts = Transcripts(Path(logs.folder), 1000 * logs.max_kb, wall_ms) if logs is not None else None

    def set_limits(self, limits: EngineLimits) -> None:
        """From the next game on."""
        self._budget, self._warm.most_idle = limits.budget, limits.idle

    def _fit(self, specs: Sequence[EngineSpec]) -> bool:
        *others, one_more = [cost_of_values(asdict(spec)) for spec in specs]
        return fits(self._budget, [(cost, 1) for cost in others], one_more)

    async def try_all(self, play: Play) -> None:
        """One that cannot start is better known now than at the first move. Raises UsageError."""
        for name in _names(play):
            try:
                engine = self._build(engine_spec(self._engines[name], table_options(play)))
                try:
                    await engine.start()
                finally:
                    await engine.close()
            except EngineError as error:
                raise UsageError(f"engine {name}: {error}") from None

    def lend(self, account: str, tables: Mapping[str, Option], name: str, game_id: str, opponent: Player) -> Engine:
        """An engine for one game of an account; `tables`: its `table_options`."""
        spec = engine_spec(self._engines[name], tables)
        known = Opponent(opponent.name or None, opponent.title or None, opponent.rating, opponent.is_bot)
        return self._warm.lend(spec, self._transcript(account, name, game_id, spec), known)

    def _transcript(self, account: str, name: str, game_id: str, spec: EngineSpec) -> Transcript | None:
        if self._transcripts is None or spec.builtin or spec.kind not in ("uci", "xboard", "kiri"):
            return None
        transcript = self._transcripts.of(game_id, account, stderr=not spec.silence_stderr)
        transcript.add(NOTE, f"engine {name}")
        return transcript

    def cost(self, play: Play) -> Cost:
        """The most that a game of the account may need."""
        costs = [cost_of(self._engines[name]) for name in _names(play)]
        return Cost(max(cost.processes for cost in costs), max(cost.memory_mb for cost in costs))

    async def close(self) -> None:
        """End the engines that wait."""
        try:
            await self._warm.close()
        finally:
            if self._transcripts is not None:
                await self._transcripts.close()


def chooser(play: Play) -> Callable[[Occasion], str]:
    """The engine's name for a game of the account."""
    rules = [choice.rule for choice in play.engines]
    return lambda game: choose_engine(play.engine, rules, game)


def table_options(play: Play) -> Mapping[str, Option]:
    """What an account's programs can be told of its Syzygy tables."""
    tables = play.lichess_bot_tbs.syzygy
    if not tables.enabled:
        return {}
    return {"SyzygyPath": os.pathsep.join(tables.paths), "SyzygyProbeLimit": tables.max_pieces}


def engine_spec(settings: EngineSettings, suggested: Mapping[str, Option]) -> EngineSpec:
    """What `build_engine` reads, from a section of the settings."""
    return EngineSpec(**settings.model_dump(), suggested=suggested if settings.kind == "uci" else {})


def _names(play: Play) -> tuple[str, ...]:
    return tuple(dict.fromkeys((play.engine, *(choice.engine for choice in play.engines))))
