"""From an engine's settings to the engine."""

import pytest

from bridge.engines.build import build_engine
from bridge.engines.kiri import KiriEngine
from bridge.engines.plugin import PluginEngine
from bridge.engines.process import ProcessEngine
from bridge.engines.random_engine import RandomEngine
from bridge.engines.spec import EngineSpec
from bridge.errors import EngineError


@pytest.mark.parametrize(
    ("spec", "made"),
    [
        (EngineSpec("kiri"), KiriEngine),
        (EngineSpec("random", seed=3), RandomEngine),
        (EngineSpec("python", plugin="module:Class"), PluginEngine),
        (EngineSpec("uci", "stockfish", {"Hash": 64}, nodes=1000), ProcessEngine),
        (EngineSpec("xboard", "gnuchess", args=("--xboard",)), ProcessEngine),
    ],
)
def test_every_kind_has_its_engine(spec: EngineSpec, made: type) -> None:
    assert isinstance(build_engine(spec), made)


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(EngineError, match=r"unknown kind of engine 'wizard' \(known: kiri, uci, xboard"):
        build_engine(EngineSpec("wizard"))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["uci", "xboard"])
async def test_a_program_needs_a_path(kind: str) -> None:
    with pytest.raises(EngineError, match="needs a path"):
        await build_engine(EngineSpec(kind)).start()  # type: ignore[arg-type]


async def test_a_plugin_needs_a_name() -> None:
    with pytest.raises(EngineError, match="must be named"):
        await build_engine(EngineSpec("python")).start()
