"""`kind: kiri`: plays for mate and for the flag. A UCI engine where there is one, our own proofs and time plan over it.

Whatever befalls that engine, the built-in one answers in its place: kiri itself does not fail.
"""

import asyncio
import time
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import chess
import structlog

from bridge.engines.answer import accept, require_move
from bridge.engines.builtin import BuiltinEngine
from bridge.engines.choosing import choose
from bridge.engines.line import Pace
from bridge.engines.locate import find_program
from bridge.engines.process import ProcessEngine
from bridge.engines.reasons import explain_choice
from bridge.engines.spec import Option
from bridge.engines.switches import Switches
from bridge.engines.time_plan import LEAST_MS, TimePlan, explain_time, plan_time
from bridge.engines.transcript import Transcript
from bridge.engines.view import Ask, Decision, Found, View
from bridge.errors import EngineError
from bridge.interfaces import Choice, EngineName, Limit
from bridge.rules.budget import thinking_budget_s
from bridge.rules.effects import dearest_toll_ms
from bridge.rules.ledger import Ledger

log = structlog.get_logger("kirichess_engine")

_DEFAULTS: dict[str, Option] = {"Threads": 1, "Hash": 64}
_PART_OF_DEADLINE = 0.6
"""A thought and all that may follow it end well before the deadline."""
_SHORTEST_MS = 200
"""With less than this a program of its own is a gamble on a busy machine: the built-in engine is asked."""
_RETRY_MOVES = 3
"""After a fault the engine is started again, but not at every move of a game in which it keeps failing."""


class KiriEngine:
    """The built-in engine, and before it, where `path` names one, a UCI program under our own choice of moves.

    `nodes` bounds every move. `seed` makes the built-in engine repeatable.
    """

    def __init__(
        self,
        path: str = "",
        options: Mapping[str, Option] | None = None,
        *,
        nodes: int | None = None,
        seed: int | None = None,
        switches: Switches | None = None,
    ) -> None:
        self._builtin = BuiltinEngine(seed)
        self._program = ProcessEngine(path, options=options, suggested=_DEFAULTS) if path else None
        self._nodes = nodes
        self._switches = switches or Switches()
        self._threads: ThreadPoolExecutor | None = None
        self._path = path
        self._starting: asyncio.Future[None] | None = None
        self._rest = 0
        self._faults = 0
        self._untold = ""
        """The last fault, until a choice tells it."""
        self.last: Decision | None = None
        """The last decision, with its candidates; of plain chess only the built-in search's."""
        self.last_plan: TimePlan | None = None

    async def start(self) -> None:
        """Ready at once: until the program has got ready too the built-in engine answers.

        Raises:
            EngineError: the program is not there, or cannot be executed.
        """
        await self._builtin.start()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(1, thread_name_prefix="kiri-proofs")
        if self._starting is not None and self._starting.done() and self._program and not self._program.is_running:
            self._starting = None  # it has ended while it waited for a game
        if self._program is not None and self._starting is None:
            find_program(self._path)
            self._starting = asyncio.ensure_future(self._program.start())

    async def ready(self) -> None:
        """Wait for the program too, once `start` has begun it. Raises EngineError: it cannot be started."""
        if self._starting is not None:
            await asyncio.shield(self._starting)

    @property
    def called(self) -> EngineName:
        """By the program, where there is one."""
        return EngineName("kiri", self._program.called.name if self._program is not None else "")

    def write_to(self, transcript: Transcript | None) -> None:
        """As the program does."""
        if self._program is not None:
            self._program.write_to(transcript)

    def meet(self, opponent: chess.engine.Opponent) -> None:
        """As the program does."""
        if self._program is not None:
            self._program.meet(opponent)

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        """A move. Raises EngineError only when not started, or when there is no move."""
        require_move(ledger)
        if self._program is None or not self._revived(self._program) or limit.deadline_ms < _SHORTEST_MS:
            return await self._without_program(ledger, limit)
        began_ns = time.monotonic_ns()
        try:
            async with asyncio.timeout(limit.deadline_ms * 0.85 / 1000):
                return await self._choose(self._program, ledger, limit)
        except (EngineError, TimeoutError) as error:
            self._failed(error)
            left_ms = max(LEAST_MS, limit.deadline_ms - (time.monotonic_ns() - began_ns) // 1_000_000)
            hasty = replace(limit, white_increment_ms=0, black_increment_ms=0, deadline_ms=left_ms, nodes=None)
            choice = await self._without_program(ledger, hasty)
            return replace(choice, why="the engine failed: the built-in one answered")

    async def _without_program(self, ledger: Ledger, limit: Limit) -> Choice:
        choice = await self._builtin.think(ledger, limit)
        self.last = self._builtin.last
        fault, self._untold = self._untold, ""
        return replace(choice, fault=fault)

    def _revived(self, program: ProcessEngine) -> bool:
        """Whether the program is ready; after a fault it is started again in the background."""
        if self._threads is None:
            raise EngineError("engine kiri is not running: start it first")
        if self._rest:
            self._rest -= 1
            return False
        if self._starting is None:
            self._starting = asyncio.ensure_future(program.start())
        if not self._starting.done():
            return False
        if (error := self._starting.exception()) is not None:
            self._failed(error)
            return False
        return True

    def _failed(self, error: BaseException) -> None:
        """Start again, a few moves from now."""
        self._starting = None
        self._faults += 1
        self._untold = str(error) or f"engine {self._path} was too slow"
        self._rest = min(_RETRY_MOVES, self._faults)
        log.warning("kiri_without_engine", cause=self._untold)

    async def _choose(self, program: ProcessEngine, ledger: Ledger, limit: Limit) -> Choice:
        plan = self._planned(ledger, limit)
        think_ms = max(LEAST_MS, min(plan.think_ms, round(limit.deadline_ms * _PART_OF_DEADLINE)))
        self.last_plan = plan
        if limit.plain or ledger.outcome is not None:
            # Plain chess, or from here on: the program keeps its own time.
            return await program.think(ledger, replace(limit, nodes=limit.nodes or self._nodes))
        steps = choose(_view(ledger, think_ms, limit, limit.nodes or self._nodes), self._switches)
        decision = await self._answer(program, steps, ledger, limit, think_ms)
        self.last = decision
        log.info("kiri_chose", game=ledger.setup.game_id, why=explain_choice(decision), time=explain_time(plan))
        why = f"{decision.why}; {explain_time(plan)}"
        return accept(ledger, Choice(decision.uci, decision.score_cp, decision.depth, why), "engine kiri")

    def _planned(self, ledger: Ledger, limit: Limit) -> TimePlan:
        """The limit names one clock, the shorter one; where it is the platform's, ours is longer by the difference."""
        turn = ledger.turn
        clock_ms, platform_ms = limit.white_ms if turn else limit.black_ms, None
        if (longer_ms := _longer_ms(ledger)) > 0:
            clock_ms, platform_ms = clock_ms + longer_ms, clock_ms
        return plan_time(
            ledger.board,
            clock_ms,
            ledger.setup.rules.dials,
            platform_ms=platform_ms,
            increment_ms=limit.white_increment_ms if turn else limit.black_increment_ms,
            overhead_ms=limit.overhead_ms,
            haste=self._switches.haste or None,
            ahead=self._switches.plan,
        )

    async def _answer(
        self,
        program: ProcessEngine,
        steps: Generator[Ask, Found, Decision],
        ledger: Ledger,
        limit: Limit,
        think_ms: int,
    ) -> Decision:
        """Run the choice in a thread, and its searches in the program."""
        began_ns = time.monotonic_ns()
        loop = asyncio.get_running_loop()
        nodes = limit.nodes or self._nodes
        step: Ask | Decision = await loop.run_in_executor(self._threads, _advance, steps, None)
        while isinstance(step, Ask):
            spent_ms = (time.monotonic_ns() - began_ns) // 1_000_000
            part_ms = max(LEAST_MS, round((think_ms - spent_ms) * step.part))
            part_nodes = None if nodes is None else max(1, round((nodes - step.spent) * step.part))
            deadline_ms = max(2 * LEAST_MS, round(limit.deadline_ms * 0.8) - spent_ms)
            found = await program.explore(
                ledger, step.moves, time_ms=part_ms, deadline_ms=deadline_ms, nodes=part_nodes
            )
            nodes = None if nodes is None or part_nodes is None else max(1, nodes - part_nodes)
            step = await loop.run_in_executor(self._threads, _advance, steps, found)
        return step

    async def rest(self) -> bool:
        """Nothing is searched any more; False: not fit for another game, as after any fault of the program."""
        if self._program is None or self._faults or self._starting is None or not self._starting.done():
            return False
        return await self._program.rest()

    async def close(self) -> None:
        """End the program and the threads. Never raises."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False)
        await self._builtin.close()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait({self._starting})
            self._starting = None
        if self._program is not None:
            await self._program.close()


def _advance(steps: Generator[Ask, Found, Decision], found: Found | None) -> Ask | Decision:
    try:
        return next(steps) if found is None else steps.send(found)
    except StopIteration as end:
        decision: Decision = end.value
        return decision


def _longer_ms(ledger: Ledger) -> int:
    """By how much our KiriChess clock is longer than the platform's, where that one bounds us; else 0."""
    own_ms, platform_ms = ledger.clock_ms(ledger.turn), ledger.left_ms[ledger.turn]
    bounded = platform_ms is not None and platform_ms < own_ms - max(ledger.setup.rules.dials.prices.toll_ms)
    return own_ms - platform_ms if bounded and platform_ms is not None else 0


def _view(ledger: Ledger, think_ms: int, limit: Limit, nodes: int | None) -> View:
    """Our pace is the plan; the other side's what its last moves took, else the pool's budget.

    The limit tells what has passed since the last reading and what the way takes: it comes off our clock too.
    """
    budget_ms = max(0, round(float(thinking_budget_s(ledger.setup.rules.dials)) * 1000))
    other = not ledger.turn
    spent = sorted(row.think_ms for row in ledger.rows[-16:] if row.side == other and row.think_ms is not None)
    theirs = Pace(spent[len(spent) // 2]) if len(spent) >= 4 else Pace(budget_ms)
    paces = (Pace(think_ms), theirs) if ledger.turn == chess.BLACK else (theirs, Pace(think_ms))
    view = View.of(ledger, think_ms + _late_ms(ledger, limit), paces, nodes)
    return replace(view, board=ledger.board.copy(), root_moves=limit.root_moves)


def _late_ms(ledger: Ledger, limit: Limit) -> int:
    turn = ledger.turn
    told_ms = limit.white_ms if turn else limit.black_ms
    if (longer_ms := _longer_ms(ledger)) > 0:
        return max(0, ledger.clock_ms(turn) - longer_ms - told_ms)
    dearest_ms = dearest_toll_ms(ledger.board, turn, ledger.setup.rules.dials.prices)
    return max(0, ledger.clock_ms(turn) - dearest_ms - told_ms)
