"""`kiri` in the laboratory: the bridge's own engine."""

from collections.abc import Mapping

from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec, Option
from bridge.lab.contestant import Contestant, EngineContestant


def build_kiri(path: str, options: Mapping[str, Option], defaults: Mapping[str, Option]) -> Contestant:
    """The engine as the bridge plays it."""
    return EngineContestant(build_engine(EngineSpec("kiri", seed=int(options.get("seed", 0)))))
