"""How kiri chooses: the wrapped engine for chess, our own proofs for the clocks.

Without I/O: `choose` is a generator that asks for searches and is sent what they found, so that the bridge can answer
it from an event loop and the laboratory from a pipe.
"""

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import chess

from bridge.engines.flag_search import FlagSearch, Spent, may_flag
from bridge.engines.line import AT_ONCE, Line, Pace
from bridge.rules.dials import Dials
from bridge.rules.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Ask:
    """A search by the wrapped engine. `moves`: the root moves allowed, all where it is empty; `part`: of what is left
    of the allowance; `spent`: the nodes that our own searches have made so far in this choice."""

    moves: tuple[str, ...]
    part: float
    spent: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: move and line in UCI, the score from the mover's side."""

    uci: str
    score_cp: int | None = None
    depth: int | None = None
    pv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Switches:
    """What kiri does beyond the wrapped engine; every part can be turned off."""

    flags: bool = True
    """Play moves that flag the opponent at once, and avoid those that flag ourselves or let us be flagged at once."""
    proofs: bool = True
    """Search for forced flags some moves deep."""
    win_nodes: int = 600
    safe_nodes: int = 800
    deep: int = 2
    slow: float = 1.5
    """The attacker's or defender's own thinking, against the pace: caution when our flag is at stake."""
    quick: float = 0.6


@dataclass(frozen=True, slots=True)
class Decision:
    """The move, and why. `nodes`: what our own searches made for it."""

    uci: str
    why: str
    score_cp: int | None = None
    depth: int | None = None
    nodes: int = 0
    tally: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class View:
    """The game for the side to move: both clocks after its own thinking, and how fast both sides think (by colour)."""

    board: chess.Board
    chess960: bool
    white_ms: int
    black_ms: int
    dials: Dials
    paces: tuple[Pace, Pace] = (AT_ONCE, AT_ONCE)

    def line(self, slow: float, quick: float) -> Line:
        """A line to search on, with our thinking stretched and the other side's shortened: proofs that err for us."""
        me = self.board.turn
        paces = [self.paces[False], self.paces[True]]
        paces[me], paces[not me] = paces[me].scaled(slow), paces[not me].scaled(quick)
        board = self.board.copy(stack=self.board.halfmove_clock)
        return Line(board, self.white_ms, self.black_ms, self.dials, (paces[0], paces[1]))

    def uci(self, move: chess.Move) -> str:
        """A move as the game spells it."""
        return self.board.uci(move, chess960=self.chess960)


def view_of(ledger: Ledger, think_ms: int, paces: tuple[Pace, Pace]) -> View:
    """The ledger's game, with the side to move having thought `think_ms`."""
    clocks = [ledger.black_ms, ledger.white_ms]
    clocks[ledger.turn] = max(1, clocks[ledger.turn] - think_ms)
    return View(
        ledger.board, ledger.chess960, clocks[True], max(1, clocks[False]), ledger.setup.rules.dials, paces
    )


def choose(view: View, switches: Switches) -> Generator[Ask, Found, Decision]:
    """Choose a move; there must be a legal one."""
    choice = _Choice(view, switches)
    return (yield from choice.run())


class _Choice:
    """One choice in the making."""

    def __init__(self, view: View, switches: Switches) -> None:
        self.view = view
        self.switches = switches
        self.line = view.line(switches.slow, switches.quick)
        self.legal = list(view.board.legal_moves)
        self.banned: dict[chess.Move, str] = {}
        self.tally: Counter[str] = Counter()

    def run(self) -> Generator[Ask, Found, Decision]:
        if len(self.legal) == 1:
            return self._decide(self.legal[0], "the only legal move")
        if self.switches.flags and (won := self._win()) is not None:
            return won
        me = self.line.board.turn
        if self.switches.flags and (self._short() or may_flag(self.line, me, 1)):
            self._ban_losers()
        found = yield self._ask(1.0 if not self._deep_danger() else 0.5)
        if not self._deep_danger():
            return self._found(found)
        return (yield from self._verified(found))

    def _win(self) -> Decision | None:
        them = not self.line.board.turn
        deepest = self.switches.deep if self.switches.proofs else 0
        for moves in range(deepest + 1):
            if not may_flag(self.line, them, moves + 1):
                continue
            self.tally[f"win search {moves}"] += 1
            search = FlagSearch(self.line, self.line.nodes + self.switches.win_nodes)
            move = self._try(lambda search=search, moves=moves: search.win(moves))
            if move is not None:
                self.tally[f"win {moves}"] += 1
                how = "flags the opponent" if not moves else f"flags the opponent by force within {moves + 1} moves"
                return self._decide(move, how)
        return None

    def _ban_losers(self) -> None:
        """Moves that lose at once, and among the others those that are flagged at once."""
        self.tally["safe scan"] += 1
        search = FlagSearch(self.line, self.line.nodes + 10_000)
        for move in self.legal:
            if search.refuted(move, 0):
                self.banned[move] = "is flagged at once"
        if len(self.banned) == len(self.legal):
            self.tally["all lose"] += 1
            self.banned.clear()
            me = self.line.board.turn
            for move in self.legal:
                outcome = self.line.push(move)
                self.line.pop()
                if outcome is not None and outcome.winner == (not me):
                    self.banned[move] = "flags ourselves"
            if len(self.banned) == len(self.legal):
                self.banned.clear()
        elif self.banned:
            self.tally["bans"] += 1

    def _verified(self, found: Found) -> Generator[Ask, Found, Decision]:
        """Ask again without the moves that a proof refutes."""
        refusals = 0
        while True:
            move = self._move(found)
            refuted = self._refuted(move)
            if not refuted:
                if refusals == 0 and not self._asked_all:
                    first = found
                    found = yield self._ask(1.0)
                    if found.uci == first.uci or not self._refuted(self._move(found)):
                        return self._found(found)
                    self.tally["second refuted"] += 1
                    return self._found(first)
                return self._found(found)
            self.tally["refuted"] += 1
            self.banned[move] = "loses by force on time"
            refusals += 1
            if len(self.banned) >= len(self.legal) or refusals > 4:
                self.tally["no way out"] += 1
                return self._found(found)
            found = yield self._ask(0.5)

    _asked_all = False

    def _refuted(self, move: chess.Move) -> bool:
        for moves in range(1, self.switches.deep + 1):
            search = FlagSearch(self.line, self.line.nodes + self.switches.safe_nodes)
            self.tally[f"verify {moves}"] += 1
            if self._try(lambda search=search, moves=moves: search.refuted(move, moves)):
                return True
        return False

    def _try(self, proof):  # type: ignore[no-untyped-def]
        height = self.line.height
        try:
            return proof()
        except Spent:
            self.tally["spent"] += 1
            while self.line.height > height:
                self.line.pop()
            return None

    def _short(self) -> bool:
        """Whether our own move may cost us the flag."""
        line = self.line
        me = line.board.turn
        return line.clock_ms[me] <= max(line.dearest_toll_ms(me), line.prices.castling_ms) + max(line.prices.fee_ms)

    def _deep_danger(self) -> bool:
        return self.switches.proofs and self.switches.deep > 0 and may_flag(self.line, self.line.board.turn, 2)

    def _ask(self, part: float) -> Ask:
        moves: Sequence[str] = ()
        if self.banned:
            moves = [self.view.uci(move) for move in self.legal if move not in self.banned]
        return Ask(tuple(moves), part, self.line.nodes)

    def _move(self, found: Found) -> chess.Move:
        return next(move for move in self.legal if found.uci in (move.uci(), self.view.uci(move)))

    def _found(self, found: Found) -> Decision:
        return Decision(found.uci, "the engine's move", found.score_cp, found.depth, self.line.nodes, self.tally)

    def _decide(self, move: chess.Move, why: str) -> Decision:
        return Decision(self.view.uci(move), why, None, None, self.line.nodes, self.tally)
