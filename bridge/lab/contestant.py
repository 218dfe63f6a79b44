"""Who plays in the laboratory: anything that names a move for a position with two clocks."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import chess

from bridge.engines.spec import Option
from bridge.interfaces import Engine, Limit
from bridge.lab.timing import stockfish_ms
from bridge.lab.uci_pipe import UciPipe
from bridge.rules.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Task:
    """One move to make. `think_ms`: what the referee takes off the mover's clock for it (0 where time is measured).

    One of `nodes`, `depth`, `movetime_ms` is set.
    """

    think_ms: int = 0
    nodes: int | None = None
    depth: int | None = None
    movetime_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A move in UCI, the nodes it took, and why."""

    uci: str
    nodes: int = 0
    why: str = ""
    score_cp: int | None = None
    tally: Mapping[str, int] = field(default_factory=dict)
    """What the engine did for it, by name: counted over a match."""


class Contestant(Protocol):
    """An engine between `start` and `close`, in one game at a time. Every method may raise EngineError.

    `keeps_depth`: whether it can be held to a depth.
    """

    keeps_depth: bool

    def start(self) -> None:
        """Get ready, or ready again after an error."""
        ...

    def new_game(self) -> None:
        """Forget the last game."""
        ...

    def plan_ms(self, ledger: Ledger) -> float:
        """How long it would think, where it may choose."""
        ...

    def move(self, ledger: Ledger, task: Task) -> Answer:
        """A move for the side to move. `ledger` must not be changed."""
        ...

    def close(self) -> None:
        """End every process. Never raises."""
        ...


def go_words(task: Task) -> str:
    """A task as UCI's `go` has it; counts of 0 would mean "without end"."""
    if task.nodes is not None:
        return f"nodes {max(1, task.nodes)}"
    if task.depth is not None:
        return f"depth {max(1, task.depth)}"
    return f"movetime {max(1, task.movetime_ms or 1)}"


def uci_position(ledger: Ledger) -> str:
    """The game since the last capture or pawn move: no earlier position can come back."""
    board = ledger.board.copy(stack=ledger.board.halfmove_clock)
    moves: list[str] = []
    while board.move_stack:
        move = board.pop()
        moves.append(board.uci(move, chess960=ledger.chess960))
    board.chess960 = ledger.chess960
    line = f"fen {board.fen()}"
    return f"{line} moves {' '.join(reversed(moves))}" if moves else line


class UciContestant:
    """A UCI program as it is: it knows nothing of KiriChess clocks."""

    keeps_depth = True

    def __init__(self, path: str, options: Mapping[str, Option]) -> None:
        self._pipe = UciPipe(path, options)

    def start(self) -> None:
        """Run the program."""
        self._pipe.start()

    def new_game(self) -> None:
        """Clear its tables."""
        self._pipe.new_game()

    def plan_ms(self, ledger: Ledger) -> float:
        """Stockfish's curve."""
        return stockfish_ms(ledger.clock_ms(ledger.turn), ledger.board.ply())

    def move(self, ledger: Ledger, task: Task) -> Answer:
        """Its move."""
        found, nodes = self._pipe.search(uci_position(ledger), go_words(task))
        return Answer(found.uci, nodes, score_cp=found.score_cp)

    def close(self) -> None:
        """End the program."""
        self._pipe.close()


class EngineContestant:
    """Any engine of the bridge, in an event loop of its own."""

    keeps_depth = False

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loop = asyncio.new_event_loop()

    def start(self) -> None:
        """Start the engine."""
        self._loop.run_until_complete(self._engine.start())

    def new_game(self) -> None:
        """Nothing: the ledger names its game."""

    def plan_ms(self, ledger: Ledger) -> float:
        """Stockfish's curve."""
        return stockfish_ms(ledger.clock_ms(ledger.turn), ledger.board.ply())

    def move(self, ledger: Ledger, task: Task) -> Answer:
        """Its move; nodes are its own business where it counts none."""
        clocks = [
            max(1, ledger.clock_ms(side) - (task.think_ms if side == ledger.turn else 0)) for side in chess.COLORS
        ]
        deadline_ms = task.movetime_ms or 10_000
        choice = self._loop.run_until_complete(
            self._engine.think(ledger, Limit(clocks[0], clocks[1], 0, 0, deadline_ms, task.nodes))
        )
        return Answer(choice.uci, why=choice.why, score_cp=choice.score_cp)

    def close(self) -> None:
        """End the engine and its loop."""
        self._loop.run_until_complete(self._engine.close())
        self._loop.close()
