"""How kiri chooses: the wrapped engine for chess, our own proofs for the clocks.

Without I/O: `choose` is a generator that asks for searches and is sent what they found, so that the bridge can answer
it from an event loop and the laboratory from a pipe.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from random import Random
from typing import TypeVar

import chess

from bridge.engines.cheapest_mate import MOST_MOVES, MateSearch
from bridge.engines.conversion import WINNING_CP, is_hunt, matters, payable
from bridge.engines.expected import reply_flags
from bridge.engines.flag_search import FlagSearch, Spent, may_flag
from bridge.engines.reasons import explained
from bridge.engines.repetition import ahead, better_than_drawn, repeats
from bridge.engines.root_scan import Scan, scan
from bridge.engines.search import find_move
from bridge.engines.switches import Switches
from bridge.engines.uci_info import MATE_CP
from bridge.engines.view import Ask, Decision, Found, View, allowed

T = TypeVar("T")
_OWN_PART = 0.5
"""Of an allowance, at most so much is for our own searches."""
_MOST_NODES, _SCAN_NODES, _HUNT_NODES, _MATE_NODES = 20_000, 2_000, 4_000, 2_000
_WORSE_CP = -50
_PARTS = (0.5, 0.6, 1.0)
"""Of what is left: second, third and last search where the first one's move was refuted."""


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
        self.legal = allowed(view.board, view.root_moves)
        self.is_free = len(self.legal) == view.board.legal_moves.count()
        self.banned: dict[chess.Move, str] = {}
        self.most_nodes = _MOST_NODES if view.allowance is None else max(1, round(view.allowance * _OWN_PART))
        self.tally: Counter[str] = Counter()

    def run(self) -> Generator[Ask, Found, Decision]:
        """Flags first, then the engine, then what the clocks say of its move."""
        if len(self.legal) == 1:
            return self._decided(self.legal[0], "the only legal move" if self.is_free else "the only move left")
        seen = Scan()
        if self.switches.flags:
            won = self._win()
            if won is not None:
                return won
            seen = self._scan()
            if seen.wins:
                return self._decided(seen.wins[0], "wins at once, before our clock is looked at")
            self.banned = dict(seen.banned)
            if self._open() == list(seen.flag_draws):
                return self._decided(seen.flag_draws[0], "draws by a flag; every other move loses by one")
        if seen.hopeless and self.switches.swindle:
            return (yield from self._swindle())
        danger = not seen.hopeless and self.switches.safe_moves > 0 and may_flag(self.line, self.me, 2)
        bill = self.switches.conversion and matters(self.line)
        if bill and is_hunt(self.line):
            return self._hunt()
        persist = self.switches.persist and ahead(self.line)
        found = yield self._ask(self._open(), self.switches.main_part if danger or bill or persist else 1.0)
        if seen.flag_draws and (found.score_cp or 0) < _WORSE_CP:
            return self._decided(seen.flag_draws[0], "draws by a flag, where the board is worse")
        if persist and repeats(self.line, found):
            found = yield from self._going_on(found)
        if bill and (found.score_cp or 0) >= WINNING_CP:
            mate = self._mate(found)
            if mate is not None:
                return mate
            found = yield from self._payable(found)
        if not danger:
            return self._found(found, "the engine's move")
        return (yield from self._verified(found))

    # -- flags now -----------------------------------------------------------------------------------------------

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

    def _scan(self) -> Scan:
        line = self.line
        spare_ms = line.clock_ms[self.me] - max(line.dearest_toll_ms(self.me), line.prices.castling_ms)
        if spare_ms > max(line.prices.fee_ms) and not may_flag(line, self.me, 1):
            return Scan()
        seen = scan(line, self.legal, min(line.nodes + _SCAN_NODES, self.most_nodes))
        self.tally["banned"] += bool(seen.banned)
        self.tally["hopeless"] += seen.hopeless
        return seen

    # -- flags to come -------------------------------------------------------------------------------------------

    def _verified(self, found: Found) -> Generator[Ask, Found, Decision]:
        """Another move where a proof refutes the engine's: one it thought of before, or what it finds without."""
        first, why = found, "the engine's move"
        for part in _PARTS:
            if not self._refuted(found):
                return self._found(found, why)
            self.tally["refuted"] += 1
            why = "the engine's best move that is not flagged by force"
            second = next((one for one in self._recent(found) if not self._refuted(one)), None)
            if second is not None:
                return self._found(second, why)
            if len(self.banned) == len(self.legal):
                break
            found = yield self._ask(self._open(), part)
        self.tally["no way out"] += 1
        return self._found(first, "the engine's move: nothing is proven safe")

    def _refuted(self, found: Found) -> bool:
        move = self._move(found)
        if move in self.banned:
            return True
        search = self._search(self.switches.safe_nodes)
        if any(self._tried(search.refuted, move, moves) for moves in range(1, self.switches.safe_moves + 1)):
            self.banned[move] = "is flagged by force"
            return True
        return False

    def _going_on(self, found: Found) -> Generator[Ask, Found, Found]:
        """Another move than one that repeats, where the game that goes on is worth more than a draw."""
        self.tally["repeats"] += 1
        for one in reversed(self._recent(found)):
            if not repeats(self.line, one) and better_than_drawn(self.line, one):
                return one
        others = [move for move in self._open() if not repeats(self.line, Found(self.view.uci(move)))]
        if not others:
            return found
        other = yield self._ask(others, 0.8)
        return other if better_than_drawn(self.line, other) else found

    def _hunt(self) -> Decision:
        """A bare king's end by our own search, with both clocks in it."""
        self.tally["hunted"] += 1
        last = self.line.nodes + _HUNT_NODES if self.view.allowance is None else self.view.allowance
        best = find_move(self.line, lambda: self.line.nodes >= last, Random(0), self._open())
        why = "the cheapest way to win that our own search sees, with both clocks"
        return self._found(best.told(self.view.uci), why)

    def _mate(self, found: Found) -> Decision | None:
        """Of the mates that are near the cheapest, which may well be longer than the engine's."""
        candidates = sorted(self._open(), key=self._move(found).__ne__)  # the engine's own first: of equals it stays
        best: tuple[chess.Move, int] | None = None
        for within in range(MATE_CP - (found.score_cp or 0), MOST_MOVES + 1):
            search = MateSearch(self.line, min(self.line.nodes + _MATE_NODES, self.most_nodes))
            best = self._tried(search.cheapest, within, candidates) or best
        if best is None:
            return None
        self.tally["cheapest mate"] += 1
        uci = self.view.uci(best[0])
        mate = found if uci == found.uci else replace(found, uci=uci, pv=(uci,), earlier=(found, *found.earlier))
        return self._found(mate, f"the cheapest mate: leaves {best[1] / 1000:.1f} s")

    def _payable(self, found: Found) -> Generator[Ask, Found, Found]:
        """A win that the clock can pay, where the engine's cannot be paid."""
        if payable(self.line, found):
            return found
        self.tally["unpayable"] += 1
        recent = [one for one in self._recent(found) if (one.score_cp or 0) >= WINNING_CP]
        cheaper = next((one for one in reversed(recent) if payable(self.line, one)), None)
        others = [move for move in self._open() if move != self._move(found)]
        if cheaper is None and others:
            other = yield self._ask(others, 0.8)
            cheaper = other if (other.score_cp or 0) >= WINNING_CP and payable(self.line, other) else None
        self.tally["payable"] += cheaper is not None
        return cheaper or found

    def _swindle(self) -> Generator[Ask, Found, Decision]:
        """Every move can be flagged: one that is not, if the opponent replies as the engine expects."""
        first: Found | None = None
        for part in _PARTS:
            found = yield self._ask(self._open(), part)
            first = first or found
            for one in (found, *reversed(self._recent(found))):
                if not reply_flags(self.line, one):
                    self.tally["swindled"] += 1
                    return self._found(one, "can be flagged, as every move; the expected reply does not")
            self.banned[self._move(found)] = "the expected reply flags us"
            if len(self.banned) == len(self.legal):
                break
        assert first is not None, "there is at least one search"
        return self._found(first, "the engine's move: every move can be flagged")

    def _recent(self, found: Found) -> list[Found]:
        """What the engine preferred shortly before, oldest first."""
        least = (found.depth or 0) - self.switches.fresh
        known = [one for one in found.earlier if (one.depth or 0) >= least and self.view.move(one.uci) is not None]
        return [one for one in known if self._move(one) not in self.banned]

    # -- the rest ------------------------------------------------------------------------------------------------

    def _search(self, nodes: int) -> FlagSearch:
        return FlagSearch(self.line, min(self.line.nodes + nodes, self.most_nodes))

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
        return Ask(() if self.is_free and len(names) == len(self.legal) else names, part, self.line.nodes)

    def _move(self, found: Found) -> chess.Move:
        move = self.view.move(found.uci)
        return self.legal[0] if move is None else move

    def _found(self, found: Found, why: str) -> Decision:
        nodes = self.line.nodes
        candidates = explained(self.line, found, self.banned, chess960=self.view.chess960)
        return Decision(found.uci, why, found.score_cp, found.depth, nodes, candidates, self.tally)

    def _decided(self, move: chess.Move, why: str) -> Decision:
        return self._found(Found(self.view.uci(move)), why)
