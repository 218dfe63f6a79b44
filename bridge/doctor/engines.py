"""The check of one engine: it starts, and answers a test position with a legal move in time."""

import asyncio
import shlex

from bridge.doctor.finding import Finding, told, wrong
from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec
from bridge.interfaces import Limit
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup
from bridge.settings.engines import EngineSettings, PythonEngine, UciEngine, XboardEngine

START_S = 12.0
"""A little more than the engines' own patience, whose error says more."""

DEADLINE_MS = 2000


async def examine_engine(name: str, settings: EngineSettings) -> Finding:
    """Start it, have it think once, end it."""
    subject = f"engine {name}"
    return await told(subject, _examine(subject, settings), _by_hand(settings))


async def _examine(subject: str, settings: EngineSettings) -> Finding:
    engine = build_engine(EngineSpec(**settings.model_dump()))
    ledger = Ledger(Setup("doctor", named("anchor"), "none", None))
    clock_ms = 60_000
    try:
        async with asyncio.timeout(START_S):
            await engine.start()
        async with asyncio.timeout(2 * DEADLINE_MS / 1000):
            choice = await engine.think(ledger, Limit(clock_ms, clock_ms, 0, 0, DEADLINE_MS))
    except TimeoutError:
        return wrong(subject, "it says nothing", _by_hand(settings))
    finally:
        await engine.close()
    return Finding(subject, f"it starts, and answers the start position with {choice.uci}")


def _by_hand(settings: EngineSettings) -> str:
    """How to see for oneself what the engine says."""
    match settings:
        case UciEngine(path=path, args=args):
            return f"printf 'uci\\nisready\\nquit\\n' | {shlex.join([path, *args])}"
        case XboardEngine(path=path, args=args):
            return f"printf 'xboard\\nprotover 2\\nquit\\n' | {shlex.join([path, *args])}"
        case PythonEngine(plugin=plugin) if ".py:" in plugin:
            return f"python3 {shlex.quote(plugin.rpartition(':')[0])}"
        case PythonEngine(plugin=plugin):
            return f"python3 -c {shlex.quote('import ' + plugin.partition(':')[0])}"
    return ""
