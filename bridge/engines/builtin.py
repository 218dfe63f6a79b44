"""The engine that is always there. Plays for mate and for the flag, within a tenth of a second."""

import asyncio
import itertools
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import structlog

from bridge.engines.answer import require_move
from bridge.engines.line import Line
from bridge.engines.reasons import explain_choice, explained
from bridge.engines.search import Found, find_move
from bridge.engines.view import Decision, allowed
from bridge.errors import EngineError
from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger

log = structlog.get_logger("kirichess_engine")

_MOST_MS = 100
_LEAST_MS = 2
_MARGIN_MS = 250
_PLENTY_MS = 10**9


def budget_ms(limit: Limit, own_ms: int) -> int:
    """How long to search: a tenth of a second, and much less when the clock or the deadline is short."""
    return max(_LEAST_MS, min(_MOST_MS, own_ms // 50, limit.deadline_ms // 3))


class BuiltinEngine:
    """Searches in a thread of its own; the same seed breaks ties in the same way."""

    def __init__(self, seed: int | None = None) -> None:
        self._lot = random.Random(seed)
        self._threads: ThreadPoolExecutor | None = None
        self.last: Decision | None = None
        """The last decision, with its candidates."""

    async def start(self) -> None:
        """Get a thread."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(1, thread_name_prefix="kiri")

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        """The best move found, within `limit.nodes` where they are given and else within a share of the time.

        Raises EngineError when not started, or when there is no move.
        """
        if self._threads is None:
            raise EngineError("the built-in engine is not running: start it first")
        require_move(ledger)
        turn = ledger.board.turn
        budget = budget_ms(limit, limit.white_ms if turn else limit.black_ms)
        line = line_of(ledger, budget, plain=limit.plain)
        moves = allowed(ledger.board, limit.root_moves)
        cancelled = threading.Event()
        end_ns = time.monotonic_ns() + budget * 1_000_000

        left = itertools.count(limit.nodes or 0, -1)

        def out_of_time() -> bool:
            if limit.nodes is not None:
                return next(left) <= 0 or cancelled.is_set()
            return time.monotonic_ns() >= end_ns or cancelled.is_set()

        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, find_move, line, out_of_time, self._lot, moves)
        finally:
            cancelled.set()
        self.last = _decision(ledger, line, found)
        if ledger.outcome is None and not limit.plain:
            log.debug("kiri_chose", game=ledger.setup.game_id, why=explain_choice(self.last))
        return Choice(self.last.uci, self.last.score_cp, self.last.depth, self.last.why)

    async def close(self) -> None:
        """Give the thread back; a search that still runs ends by itself."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False)


def line_of(ledger: Ledger, thinking_ms: int, *, plain: bool = False) -> Line:
    """The game as the search sees it: the clocks as they will be after thinking, a margin off our own.

    In a `plain` game, and once the KiriChess game is over (R8), it is plain chess: then neither clock matters.
    """
    board = ledger.board.copy(stack=ledger.board.halfmove_clock)
    turn = board.turn
    clocks = [_PLENTY_MS, _PLENTY_MS]
    if ledger.outcome is None and not plain:
        own_ms = ledger.clock_ms(turn) - thinking_ms
        clocks[turn] = max(1, own_ms - min(_MARGIN_MS, own_ms // 10))
        clocks[not turn] = max(1, ledger.clock_ms(not turn))
    return Line(board, clocks[True], clocks[False], ledger.setup.rules.dials)


def _decision(ledger: Ledger, line: Line, found: Found) -> Decision:
    best = found.told(partial(ledger.board.uci, chess960=ledger.chess960))
    why = f"the built-in search's move, {found.depth} plies deep with both clocks"
    candidates = explained(line, best, {})
    return Decision(best.uci, why, best.score_cp, found.depth, line.nodes, candidates)
