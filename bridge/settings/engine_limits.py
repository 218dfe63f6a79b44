"""What the engines of all accounts may use together."""

from collections.abc import Mapping

from pydantic import Field

from bridge.decisions.engine_budget import Budget, Cost
from bridge.settings.base import Section
from bridge.settings.engines import EngineSettings

_USUAL_HASH_MB = 16
"""What UCI engines take where nobody says otherwise …"""
_KIRI_HASH_MB = 64
"""… and what `kind: kiri` gives the one that it wraps."""
_PROGRAM_MB = 150
"""A program of today beside its hash tables: its network above all."""
_PROGRAMS = ("uci", "xboard", "kiri")


class EngineLimits(Section):
    """Bounds for all accounts together: no game begins that would pass one of them."""

    processes: int | None = Field(default=None, ge=1, description="Engine programs that run at the same time, at most.")
    memory_mb: int | None = Field(
        default=None,
        ge=1,
        description="Megabytes of all their hash tables (option Hash), and 150 for each program itself.",
    )

    idle: int = Field(
        default=0,
        ge=0,
        le=64,
        description="Programs that are kept when their game is over, for the next one, at most; 0: none.",
    )

    @property
    def budget(self) -> Budget:
        """The bounds as the admission reads them."""
        return Budget(self.processes, self.memory_mb)


def cost_of(engine: EngineSettings) -> Cost:
    """What one game with this engine needs."""
    return cost_of_values(engine.model_dump())


def cost_of_values(engine: Mapping[str, object]) -> Cost:
    """The same of plain values; what the built-in engines take is not worth counting."""
    if engine.get("kind") not in _PROGRAMS or engine.get("builtin"):
        return Cost()
    options = engine.get("options")
    given = options if isinstance(options, dict) else {}
    usual_mb = _KIRI_HASH_MB if engine["kind"] == "kiri" else _USUAL_HASH_MB
    found = {str(name).lower(): value for name, value in given.items()}.get("hash")
    hash_mb = found if isinstance(found, int) else usual_mb
    return Cost(processes=1, memory_mb=hash_mb + _PROGRAM_MB)
