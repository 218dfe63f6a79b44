"""The check of one engine: it starts, and answers a test position with a legal move in time."""

import asyncio
import os
import shlex
import sys
from pathlib import Path

from bridge.doctor.finding import Finding, told, wrong
from bridge.engines import kiri
from bridge.engines.build import build_engine
from bridge.engines.locate import find_program, installed
from bridge.engines.spec import EngineSpec
from bridge.errors import EngineError
from bridge.interfaces import Limit
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup
from bridge.settings.engines import EngineSettings, KiriEngine, PythonEngine, UciEngine, XboardEngine

START_S = 12.0
"""A little more than the engines' own patience, whose error says more."""

DEADLINE_MS = 2000


async def examine_engine(name: str, settings: EngineSettings) -> Finding:
    """Start it, have it think once, end it."""
    subject = f"engine {name}"
    return await told(subject, _examine(subject, settings), _cure(settings) or _by_hand(settings))


async def _examine(subject: str, settings: EngineSettings) -> Finding:
    engine = build_engine(EngineSpec(**settings.model_dump()))
    ledger = Ledger(Setup("doctor", named("anchor"), "none", None))
    clock_ms = 60_000
    try:
        async with asyncio.timeout(START_S):
            await engine.start()
            if isinstance(engine, kiri.KiriEngine):
                await engine.ready()
        async with asyncio.timeout(2 * DEADLINE_MS / 1000):
            choice = await engine.think(ledger, Limit(clock_ms, clock_ms, 0, 0, DEADLINE_MS))
    except TimeoutError:
        return wrong(subject, "it says nothing", _by_hand(settings))
    finally:
        await engine.close()
    if choice.fault:
        return wrong(subject, choice.fault, _by_hand(settings))
    return Finding(subject, f"it starts, and answers the start position with {choice.uci}")


def _cure(settings: EngineSettings) -> str:
    """What makes a program of a path that leads to none; "" where it leads to one."""
    path = getattr(settings, "path", None)
    if not isinstance(path, str) or not path:
        return ""
    try:
        find_program(path)
    except EngineError:
        file = Path(path).expanduser()
        if file.is_dir():
            programs = sorted(found for found in file.iterdir() if found.is_file() and os.access(found, os.X_OK))
            return f"path: {programs[0]}" if programs else f"find {shlex.quote(str(file))} -type f -perm -u+x"
        if file.exists():
            return f"chmod +x {shlex.quote(str(file))}"
        there = installed(file.name) or installed("stockfish")
        return f"path: {there}" if there else "sudo apt install stockfish"
    return ""


def _by_hand(settings: EngineSettings) -> str:
    """How to see for oneself what the engine says."""
    match settings:
        case KiriEngine(path=path) if path:
            return f"printf 'uci\\nisready\\nquit\\n' | {shlex.quote(path)}"
        case UciEngine(path=path, args=args):
            return f"printf 'uci\\nisready\\nquit\\n' | {shlex.join([path, *args])}"
        case XboardEngine(path=path, args=args):
            return f"printf 'xboard\\nprotover 2\\nquit\\n' | {shlex.join([path, *args])}"
        case PythonEngine(plugin=plugin) if ".py:" in plugin:
            return f"{sys.executable} {shlex.quote(plugin.rpartition(':')[0])}"
        case PythonEngine(plugin=plugin):
            return f"{sys.executable} -c {shlex.quote('import ' + plugin.partition(':')[0])}"
    return ""
