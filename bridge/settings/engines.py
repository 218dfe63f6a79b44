"""What chooses the moves: one section for each kind of engine."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from bridge.settings.base import Many, Section, Text, one_of_form

Plugin: TypeAlias = Annotated[
    str,
    AfterValidator(
        one_of_form(r"(\S.*\.py|[A-Za-z_][\w.]*):[A-Za-z_]\w*", "a plugin is module:Class or FILE.py:Class")
    ),
]
Options: TypeAlias = dict[str, bool | int | float | str]


_SILENCE = "Whether what it writes to stderr is left out of `engine_logs`; without them it is dropped in any case."
_SEED = "The same seed makes the same choices; left out: others each time."


class GoCommands(Section):
    """Bounds of every search, beside the clock."""

    nodes: int | None = Field(default=None, ge=1, description="Nodes, at most (uci alone).")
    depth: int | None = Field(default=None, ge=1, description="Plies deep, at most.")
    movetime: int | None = Field(default=None, ge=1, description="Milliseconds, at most.")


class _Program(Section):
    path: Text = Field(
        description="The program: a bare name is looked up on PATH, a relative path counts from this file's folder."
    )
    args: Many[str] = Field(default=(), description="Arguments for the program.")
    options: Options = Field(default_factory=dict, description="The engine's own options, named as the engine does.")
    go_commands: GoCommands = Field(default_factory=GoCommands, description="Bounds of every search.")
    working_dir: str = Field(
        default="", description="The folder it runs in and reads its files from; left out: where this program runs."
    )
    silence_stderr: bool = Field(default=False, description=_SILENCE)


class KiriParts(Section):
    """What kiri adds to the engine below it; each part can be turned off."""

    flags: bool = Field(default=True, description="Moves that flag are played, moves that let us be flagged are not.")
    proofs: bool = Field(default=True, description="Flags that can be forced are looked for some moves ahead.")
    persist: bool = Field(default=True, description="With the better clock repetitions are avoided.")
    conversion: bool = Field(default=True, description="Wins are weighed against what they cost.")
    swindle: bool = Field(default=True, description="Where every move can be flagged, the likeliest to survive.")
    plan: bool = Field(default=True, description="Thinking time is planned by tolls and captures to come.")


class KiriEngine(Section):
    """Knows what a second is worth: our own choice over Stockfish, or, where none is installed, the built-in search."""

    kind: Literal["kiri"] = Field(description="kiri: built in.")
    path: Text = Field(
        default="", description="The UCI program to wrap; left out: Stockfish where it is installed, else none."
    )
    options: Options = Field(default_factory=dict, description="That program's own options, named as it does.")
    nodes: int | None = Field(default=None, ge=1, description="At most so many nodes a move; left out: no limit.")
    builtin: bool = Field(default=False, description="Use the built-in search alone, whatever is installed.")
    silence_stderr: bool = Field(default=False, description=_SILENCE)
    seed: int | None = Field(default=None, description=_SEED)
    parts: KiriParts = Field(default_factory=KiriParts, description="What it adds to that program.")


class UciEngine(_Program):
    """Any UCI engine."""

    kind: Literal["uci"] = Field(description="uci: a program that speaks UCI.")
    ponder: bool = Field(
        default=False, description="Whether it thinks in the opponent's time too, in games that are plain chess."
    )
    nodes: int | None = Field(default=None, ge=1, description="At most so many nodes a move; left out: no limit.")


class XboardEngine(_Program):
    """Any XBoard engine."""

    kind: Literal["xboard"] = Field(description="xboard: a program that speaks the XBoard protocol.")


class PythonEngine(Section):
    """A class of one's own, run inside this program under a deadline."""

    kind: Literal["python"] = Field(description="python: a class in an importable module.")
    plugin: Plugin = Field(
        description="Where the class is: module:Class, or FILE.py:Class, a path that counts from this file's folder."
    )
    options: Options = Field(default_factory=dict, description="Given to the class as keyword arguments.")


class RandomEngine(Section):
    """Any legal move, each as likely as the others."""

    kind: Literal["random"] = Field(description="random: any legal move.")
    seed: int | None = Field(default=None, description=_SEED)


EngineSettings: TypeAlias = Annotated[
    KiriEngine | UciEngine | XboardEngine | PythonEngine | RandomEngine, Field(discriminator="kind")
]
