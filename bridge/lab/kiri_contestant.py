"""`kiri` in the laboratory: the bridge's own choice over a UCI program on pipes, every node charged."""

from collections.abc import Mapping
from dataclasses import fields, replace

from bridge.engines.build import build_engine
from bridge.engines.choosing import choose
from bridge.engines.line import Pace
from bridge.engines.locate import installed
from bridge.engines.spec import EngineSpec, Option
from bridge.engines.switches import Switches
from bridge.engines.time_plan import plan_time
from bridge.engines.view import Ask, Found, View
from bridge.errors import UsageError
from bridge.lab.contestant import Answer, Contestant, EngineContestant, Task, go_words, uci_position
from bridge.lab.timing import stockfish_ms
from bridge.lab.uci_pipe import UciPipe
from bridge.rules.budget import thinking_budget_s
from bridge.rules.ledger import Ledger


class KiriContestant:
    """Our layer over a program. Of a task's nodes, those our own searches make are taken off first."""

    keeps_depth = True

    def __init__(self, pipe: UciPipe, switches: Switches) -> None:
        self._pipe = pipe
        self._switches = switches
        self._left_ms = 0
        """Of the move time, where that is what bounds a move."""

    def start(self) -> None:
        """Run the program."""
        self._pipe.start()

    def new_game(self) -> None:
        """Clear its tables."""
        self._pipe.new_game()

    def plan_ms(self, ledger: Ledger) -> float:
        """Its own plan, or Stockfish's curve where that is switched off."""
        switches, side = self._switches, ledger.turn
        if switches.plan:
            haste = switches.haste or None
            return plan_time(ledger.board, ledger.clock_ms(side), ledger.setup.rules.dials, haste=haste).think_ms
        return stockfish_ms(ledger.clock_ms(ledger.turn), ledger.board.ply())

    def move(self, ledger: Ledger, task: Task) -> Answer:
        """Its move; `nodes` counts what was granted, not what the program admits to."""
        pace = Pace(max(0, round(float(thinking_budget_s(ledger.setup.rules.dials)) * 1000)))
        steps = choose(View.of(ledger, task.think_ms, (pace, pace), task.nodes), self._switches)
        position = uci_position(ledger)
        granted = 0
        self._left_ms = task.movetime_ms or 0
        try:
            ask = next(steps)
            while True:
                found, nodes = self._search(position, ask, task, granted)
                granted += nodes
                ask = steps.send(found)
        except StopIteration as end:
            decision = end.value
        return Answer(decision.uci, granted + decision.nodes, decision.why, decision.score_cp, decision.tally)

    def _search(self, position: str, ask: Ask, task: Task, granted: int) -> tuple[Found, int]:
        only = f" searchmoves {' '.join(ask.moves)}" if ask.moves else ""
        if task.nodes is None:
            part_ms = max(1, round(self._left_ms * ask.part))
            self._left_ms -= part_ms
            limit = replace(task, movetime_ms=None if task.movetime_ms is None else part_ms)
            found, nodes = self._pipe.search(position, go_words(limit) + only)
            return found, nodes
        nodes = max(1, round((task.nodes - granted - ask.spent) * ask.part))
        found, _ = self._pipe.search(position, f"nodes {nodes}{only}")
        return found, nodes

    def close(self) -> None:
        """End the program."""
        self._pipe.close()


def build_kiri(path: str, options: Mapping[str, Option], defaults: Mapping[str, Option]) -> Contestant:
    """As `kind: kiri`: over the program at `path`, else Stockfish where it is installed, else the built-in search.

    `builtin` true: that one whatever is installed. Options that are switches are kiri's, others the program's.
    """
    path = path or installed("stockfish")
    if options.get("builtin") or not path:
        return EngineContestant(build_engine(EngineSpec("kiri", seed=int(options.get("seed", 0)), builtin=True)))
    kinds = {field.name: type(field.default) for field in fields(Switches)}
    switches = Switches()
    for name, value in options.items():
        if name in kinds:
            if kinds[name] is not type(value) and not (kinds[name] is float and type(value) is int):
                raise UsageError(f"kiri: {name} must be {kinds[name].__name__}, not {value!r}")
            switches = replace(switches, **{name: value})  # type: ignore[arg-type]  # its type was checked
    own = {name: value for name, value in options.items() if name not in kinds and name != "builtin"}
    return KiriContestant(UciPipe(path, {**defaults, **own}), switches)
