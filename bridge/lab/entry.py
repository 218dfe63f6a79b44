"""Contestants by name, as a command line has them: `kiri`, `kiri:PROGRAM`, `random`, `python:module:Class`, `PROGRAM`.

`,name=value` follows: options of the program, or of the class; `kiri` takes its own switches by the same way, others
go to the program it wraps.
"""

from dataclasses import dataclass

from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec, Option
from bridge.errors import UsageError
from bridge.lab.contestant import Contestant, EngineContestant, UciContestant

_DEFAULTS: dict[str, Option] = {"Threads": 1, "Hash": 16}
"""What every UCI program in a match is set to, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One contestant of a match, before it exists: plain values, so that it can be sent to another process."""

    text: str
    kind: str
    target: str = ""
    options: tuple[tuple[str, Option], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Entry":
        """Raises UsageError: no engine, or an option without a value."""
        head, *rest = text.split(",")
        kind, _, target = head.partition(":")
        if kind not in ("kiri", "random", "python", "xboard"):
            kind, target = "uci", head
        if kind in ("uci", "python", "xboard") and not target:
            raise UsageError(f"{text!r} names no engine: give kiri, random, python:module:Class or a UCI program")
        return cls(text, kind, target, tuple(_option(text, pair) for pair in rest))

    def build(self) -> Contestant:
        """The contestant, not started yet. Raises UsageError: a switch that kiri does not have."""
        options = dict(self.options)
        match self.kind:
            case "uci":
                return UciContestant(self.target, {**_DEFAULTS, **options})
            case "python":
                return EngineContestant(build_engine(EngineSpec("python", plugin=self.target, options=options)))
            case "xboard":
                return EngineContestant(build_engine(EngineSpec("xboard", self.target, options)))
            case "random":
                return EngineContestant(build_engine(EngineSpec("random", seed=int(options.get("seed", 0)))))
        from bridge.lab.kiri_contestant import build_kiri

        return build_kiri(self.target, options, _DEFAULTS)


def _option(text: str, pair: str) -> tuple[str, Option]:
    name, equals, value = pair.partition("=")
    if not (name and equals):
        raise UsageError(f"{text!r}: an option is name=value, not {pair!r}")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    try:
        return name, int(value)
    except ValueError:
        pass
    try:
        return name, float(value)
    except ValueError:
        return name, value
