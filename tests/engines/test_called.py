"""What an engine says that it is: before it has started, and by its program's own words."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.engines.build import build_engine
from bridge.engines.locate import installed
from bridge.engines.spec import EngineSpec
from bridge.engines.warm import WarmEngines
from bridge.interfaces import Choice, EngineName, Limit, Named
from bridge.rules.ledger import Ledger

STOCKFISH = installed("stockfish")
needs_stockfish = pytest.mark.skipif(not STOCKFISH, reason="Stockfish is not installed: apt install stockfish")


class Mine:
    """A plugin."""

    def think(self, ledger: Ledger, limit: Limit) -> Choice:
        return Choice(next(iter(ledger.board.legal_moves)).uci())


@pytest.fixture
async def warm() -> AsyncIterator[WarmEngines]:
    engines = WarmEngines(1, build_engine)
    yield engines
    await engines.close()


@pytest.mark.parametrize(
    ("spec", "called"),
    [
        (EngineSpec("random"), EngineName("random")),
        (EngineSpec("kiri", builtin=True), EngineName("kiri")),
        (EngineSpec("python", plugin=f"{Path(__file__)}:Mine"), EngineName("python", "Mine")),
    ],
    ids=lambda given: given.kind,
)
async def test_what_has_no_program(warm: WarmEngines, spec: EngineSpec, called: EngineName) -> None:
    engine = warm.lend(spec)
    assert isinstance(engine, Named)
    assert engine.called == called
    await engine.start()
    assert engine.called == called
    await engine.close()


@needs_stockfish
@pytest.mark.parametrize(
    "spec", [EngineSpec("uci", path=STOCKFISH), EngineSpec("kiri", path=STOCKFISH)], ids=lambda spec: spec.kind
)
async def test_a_program_is_called_by_its_file_until_it_has_said_its_name(warm: WarmEngines, spec: EngineSpec) -> None:
    engine = warm.lend(spec)
    assert isinstance(engine, Named)
    assert engine.called == EngineName(spec.kind, "stockfish")
    await engine.start()
    async with asyncio.timeout(60):
        while not engine.called.name.startswith("Stockfish "):
            await asyncio.sleep(0.01)  # kiri does not wait for its program
    assert engine.called.kind == spec.kind
    await engine.close()
    assert (await _started(warm, spec)).name.startswith("Stockfish ")


async def _started(warm: WarmEngines, spec: EngineSpec) -> EngineName:
    """Of one that has come back and waits."""
    engine = warm.lend(spec)
    assert isinstance(engine, Named)
    return engine.called
