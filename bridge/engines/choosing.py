"""How kiri chooses: the wrapped engine for chess, our own proofs for the clocks.

Without I/O: `choose` is a generator that asks for searches and is sent what they found, so that the bridge can answer
it from an event loop and the laboratory from a pipe.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

import chess

from bridge.engines.flag_search import FlagSearch, Spent, may_flag
from bridge.engines.pressure import chance, threatening, worth
from bridge.engines.switches import Switches
from bridge.engines.view import Ask, Decision, Found, View
from bridge.engines.worth import Scale, line_points, move_points, squashed
from bridge.errors import RecordError
from bridge.rules.position import read_move

T = TypeVar("T")
_NO_SCORE_CP = 0


def choose(view: View, switches: Switches) -> Generator[Ask, Found, Decision]:
    """Choose a move; there must be a legal one."""
    return (yield from _Choice(view, switches).run())


class _Choice:
    """One choice in the making."""

    def __init__(self, view: View, switches: Switches) -> None:
        self.view = view
        self.switches = switches
        self.line = view.line(switches.slow, switches.quick)
        self.me = view.board.turn
        self.legal = list(view.board.legal_moves)
        self.banned: dict[chess.Move, str] = {}
        self.tally: Counter[str] = Counter()

    def run(self) -> Generator[Ask, Found, Decision]:
        """Flags first, then the engine, then what may be better for the clocks."""
        if len(self.legal) == 1:
            return self._decided(self.legal[0], "the only legal move")
        if self.switches.flags:
            won = self._win()
            if won is not None:
                return won
            self._ban_losers()
        threats = self._threats()
        gains = self._gains()
        spread = max(gains.values(), default=0.0) - min(gains.values(), default=0.0)
        more = bool(threats) or self._in_danger() or spread >= self.switches.trigger
        found = yield self._ask(self._open(), self.switches.main_part if more else 1.0)
        why = "the engine's move"
        if gains:
            now = gains.get(self._move(found))
            better = [m for m, p in gains.items() if now is not None and p >= now + self.switches.trigger]
            if better:
                self.tally["economy asked"] += 1
                other = yield self._ask(better, 0.9)
                if self._pays(found, other):
                    self.tally["economy"] += 1
                    found, why = other, "better for the clocks"
            elif spread >= self.switches.trigger and not self._in_danger():
                found = yield self._ask(self._open(), 1.0)
        if threats and self._move(found) not in threats:
            other = yield self._ask(threats, 0.7)
            if self._presses(found, other):
                self.tally["pressed"] += 1
                found, why = other, "threatens to flag the opponent"
        return (yield from self._verified(found, why))

    # -- flags ---------------------------------------------------------------------------------------------------

    def _win(self) -> Decision | None:
        for moves in range(self.switches.win_moves + 1):
            if not may_flag(self.line, not self.me, moves + 1):
                continue
            search = self._search(self.switches.win_nodes)
            move = self._tried(search.win, moves)
            if move is not None:
                self.tally[f"won in {moves}"] += 1
                how = "flags the opponent" if not moves else f"flags the opponent by force, {moves} more moves at most"
                return self._decided(move, how)
        return None

    def _ban_losers(self) -> None:
        """Moves that lose by themselves, or let the opponent flag us at once."""
        line = self.line
        spare_ms = line.clock_ms[self.me] - max(line.dearest_toll_ms(self.me), line.prices.castling_ms)
        if spare_ms > max(line.prices.fee_ms) and not may_flag(line, self.me, 1):
            return
        search = self._search(10_000)
        self.banned = {move: "lets us be flagged" for move in self.legal if search.refuted(move, 0)}
        self.tally["banned"] += bool(self.banned)
        if len(self.banned) == len(self.legal):
            self.tally["all lose"] += 1
            self.banned = {move: "flags ourselves" for move in self.legal if self._loses_alone(move)}
            if len(self.banned) == len(self.legal):
                self.banned = {}

    def _loses_alone(self, move: chess.Move) -> bool:
        outcome = self.line.push(move)
        self.line.pop()
        return outcome is not None and outcome.winner == (not self.me)

    def _in_danger(self) -> bool:
        return self.switches.safe_moves > 0 and may_flag(self.line, self.me, 2)

    def _verified(self, found: Found, why: str) -> Generator[Ask, Found, Decision]:
        """Ask again without the moves that a proof refutes; where every one is refuted the first is as good as any."""
        first = found
        if not self._in_danger() or "all lose" in self.tally:
            return self._found(found, why)
        for part in (0.6, 0.6, 1.0):
            move = self._move(found)
            if not self._refuted(move):
                return self._found(found, why)
            self.tally["refuted"] += 1
            self.banned[move] = "is flagged by force"
            if len(self.banned) == len(self.legal):
                break
            found = yield self._ask(self._open(), part)
            why = "the engine's best move that is not flagged by force"
        self.tally["no way out"] += 1
        return self._found(first, "the engine's move: nothing is proven safe")

    def _refuted(self, move: chess.Move) -> bool:
        search = self._search(self.switches.safe_nodes)
        return any(self._tried(search.refuted, move, moves) for moves in range(1, self.switches.safe_moves + 1))

    # -- threats -------------------------------------------------------------------------------------------------

    def _threats(self) -> list[chess.Move]:
        if not self.switches.pressure or not may_flag(self.line, not self.me, 1):
            return []
        return threatening(self.line, self._open())

    def _presses(self, found: Found, other: Found) -> bool:
        points = [
            worth(each.score_cp or _NO_SCORE_CP, chance(self.line, each), self.switches.win_points)
            for each in (found, other)
        ]
        return points[1] >= points[0] + self.switches.margin

    # -- seconds against centipawns ------------------------------------------------------------------------------

    def _gains(self) -> dict[chess.Move, float]:
        if not self.switches.weight:
            return {}
        scale = Scale.of(self.view.dials, self.switches.weight)
        # The dearest move against the cheapest, with a check: if that does not matter no move needs to be looked at.
        own, other = self.line.clock_ms[self.me], self.line.clock_ms[not self.me]
        swing = self.line.prices.chip_ms + max(self.line.prices.toll_ms)
        most = scale.points(own, other - self.line.prices.chip_ms) - scale.points(own - swing, other)
        return move_points(self.line, scale, self._open()) if most >= self.switches.trigger else {}

    def _pays(self, found: Found, other: Found) -> bool:
        scale = Scale.of(self.view.dials, self.switches.weight)
        points = [
            squashed(each.score_at(other.depth)) + line_points(self.line, scale, self._pv(each))
            for each in (found, other)
        ]
        return points[1] >= points[0] + self.switches.margin

    def _pv(self, found: Found) -> list[chess.Move]:
        board = self.view.board.copy(stack=False)
        board.chess960 = self.view.chess960
        moves = []
        for uci in found.pv or (found.uci,):
            try:
                move = read_move(board, uci)
            except RecordError:
                break
            moves.append(move)
            board.push(move)
        return moves

    # -- the rest ------------------------------------------------------------------------------------------------

    def _search(self, nodes: int) -> FlagSearch:
        return FlagSearch(self.line, self.line.nodes + nodes)

    def _tried(self, proof: Callable[..., T], *given: object) -> T | None:
        """A proof within its nodes; None where they did not suffice."""
        height = self.line.height
        try:
            return proof(*given)
        except Spent:
            self.tally["spent"] += 1
            while self.line.height > height:
                self.line.pop()
            return None

    def _open(self) -> list[chess.Move]:
        return [move for move in self.legal if move not in self.banned]

    def _ask(self, moves: Iterable[chess.Move], part: float) -> Ask:
        names = tuple(self.view.uci(move) for move in moves)
        return Ask(names if len(names) < len(self.legal) else (), part, self.line.nodes)

    def _move(self, found: Found) -> chess.Move:
        move = self.view.move(found.uci)
        return self.legal[0] if move is None else move

    def _found(self, found: Found, why: str) -> Decision:
        return Decision(found.uci, why, found.score_cp, found.depth, self.line.nodes, (), self.tally)

    def _decided(self, move: chess.Move, why: str) -> Decision:
        return Decision(self.view.uci(move), why, None, None, self.line.nodes, (), self.tally)
