"""Which engine, and how it is set up: the value that settings make and `build_engine` reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

EngineKind: TypeAlias = Literal["kiri", "uci", "xboard", "python", "random"]
Option: TypeAlias = str | int | bool | float


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """One engine of the configuration.

    `path` is a file or a name found in PATH (uci, xboard), `args` its command line. `options` are the engine's own
    (uci, xboard) or keyword arguments of the class (python). `plugin` is "module:Class" or "file.py:Class". `nodes`
    limits every search (uci). `seed` makes kiri and random repeatable. kiri wraps the program at `path`, else Stockfish
    where it is installed, unless it is to be `builtin` alone.
    """

    kind: EngineKind
    path: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    plugin: str = ""
    nodes: int | None = None
    args: Sequence[str] = ()
    seed: int | None = None
    builtin: bool = False
    go_commands: Mapping[str, int | None] = field(default_factory=dict)
    """Bounds of every search beside the clock (uci, xboard): nodes (uci alone), depth in plies, movetime in ms."""
    ponder: bool = False
    """Whether it thinks in the opponent's time too (uci)."""
    working_dir: str = ""
    """The folder that the program runs in (uci, xboard); "": this program's own."""
    suggested: Mapping[str, Option] = field(default_factory=dict)
    """Options that are set where the program has them and `options` says nothing (uci)."""
    parts: Mapping[str, bool] = field(default_factory=dict)
    """What kiri adds, by the names of `Switches.of`: those that are off."""
    silence_stderr: bool = False
    """Whether its stderr is left out of the transcript (uci, xboard, kiri)."""
