"""From a setting to an engine."""

from bridge.engines.kiri import KiriEngine
from bridge.engines.locate import installed
from bridge.engines.plugin import PluginEngine
from bridge.engines.process import ProcessEngine
from bridge.engines.random_engine import RandomEngine
from bridge.engines.spec import EngineSpec
from bridge.engines.switches import Switches
from bridge.errors import EngineError
from bridge.interfaces import Engine


def build_engine(spec: EngineSpec) -> Engine:
    """A new engine, not started yet; every game takes one of its own.

    Raises:
        EngineError: a kind that does not exist.
    """
    match spec.kind:
        case "kiri":
            path = spec.path or (installed("stockfish") if not spec.builtin else "")
            switches = Switches.of(spec.parts)
            return KiriEngine(path, spec.options, nodes=spec.nodes, seed=spec.seed, switches=switches)
        case "random":
            return RandomEngine(spec.seed)
        case "python":
            return PluginEngine(spec.plugin, spec.options)
        case "uci" | "xboard":
            return ProcessEngine(
                spec.path,
                protocol=spec.kind,
                args=spec.args,
                options=spec.options,
                nodes=spec.nodes,
                go_commands=spec.go_commands,
                ponder=spec.ponder,
                working_dir=spec.working_dir,
                suggested=spec.suggested,
            )
    raise EngineError(f"unknown kind of engine {spec.kind!r} (known: kiri, uci, xboard, python, random)")
