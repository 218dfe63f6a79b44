"""What is new in a snapshot: the one place where platform clocks become thinking time.

A platform's state is cumulative, so a reconnect, a repeated line, several missed plies and a takeback are one case.
Thinking time telescopes (rules §6): a reading is compared with what the clock would read had its side thought no
further (`PlatformClocks`). So errors do not add up, and the time of plies without a reading lands on the next one
that has one (R14).
"""

from collections.abc import Sequence

import chess

from bridge.rules.events import Berserked, Ended, Event, Moved, Noted, Resynced, TakenBack, TimeGiven
from bridge.rules.ledger import Ledger
from bridge.rules.platform_clocks import SOURCE_ERROR_MS
from bridge.rules.position import read_move
from bridge.rules.snapshot import RECORD_END, RUNNING, Anomaly, Snapshot
from bridge.rules.takeback import not_given_back

_GIFT_MS = range(5_000, 60_001)
"""What one gift can be on Lichess (add-time is 5 to 60 s)."""

_SURE_GIFT_MS = 4_500
_GIFT_ERROR_MS = 500
"""How far a running clock must be above our estimate, and how near to whole seconds, before a gift is believed:
else it may be a late line."""


def diff(ledger: Ledger, snapshot: Snapshot) -> list[Event]:
    """The events that bring the ledger to the snapshot; empty when nothing is new.

    Pure: neither argument changes.

    Raises:
        RecordError: an illegal move among those of a game that ended; any other is found by `ledger.apply`.
    """
    return [] if ledger.over else _Comparison(ledger, snapshot).events()


def is_related(known: Sequence[str], told: Sequence[str]) -> bool:
    """Whether moves that are told continue the known ones or are their beginning (a takeback).

    If not, lines were lost or the platform spoke of another game: ask it again before anything is done.
    """
    return _common(known, told) == min(len(known), len(told))


class _Comparison:
    def __init__(self, ledger: Ledger, snapshot: Snapshot) -> None:
        self.ledger = ledger
        self.setup = ledger.setup
        self.snapshot = snapshot
        self.clocks = ledger.clocks.copy()
        self.common = _common(ledger.moves, snapshot.moves)
        self.out: list[Event] = []

    def events(self) -> list[Event]:
        known, moves = len(self.ledger.moves), len(self.snapshot.moves)
        if self.snapshot.notes:
            self.out.extend(Noted(note) for note in self.snapshot.notes if note not in self.ledger.anomalies)
        if self.common < known:
            self._take_back(self.common)
        elif moves == known:
            self._hear_of_gifts()
            self._read_still_clocks()
        if self.snapshot.berserk:
            self._berserk_announced()
        if not known and not self.ledger.rows:
            self._spent_after(0)
        for ply in range(self.common + 1, moves + 1):
            self._move(ply)
            self._spent_after(ply)
        if self.snapshot.status not in RUNNING:
            self._emit(Ended(self.snapshot.status, self.snapshot.winner, self._pending_ms()))
        elif self.snapshot.final_think_ms:
            # A record that stops within a turn: the platform's game goes on, what was thought by then is told.
            self._emit(Ended(RECORD_END, None, self.snapshot.final_think_ms))
        return self.out

    def _emit(self, event: Event) -> None:
        self.out.append(event)
        self.clocks.apply(event)

    # -- moves ---------------------------------------------------------------------------------------------------

    def _move(self, ply: int) -> None:
        side = self.ledger.side_at(ply)
        reading = None
        told = self.snapshot.think_ms[ply - 1] if self.snapshot.think_ms is not None else None
        if self.snapshot.think_ms is not None and self.snapshot.clocks_ms is None:
            think = told
            credited = self._increment(side, ply) if ply > 2 or not self.setup.free_first_moves else 0
        else:
            reading = self._reading(ply, side)
            if told is not None:
                think, credited = self._told_move(ply, side, told, reading)
            elif ply <= 2 and self.setup.free_first_moves:
                think, credited = self._first_move(ply, side, reading)
            else:
                think, credited = self._timed_move(ply, side, reading)
        moved = Moved(self.snapshot.moves[ply - 1], think, reading, credited, self.snapshot.at_ms)
        self.out.append(moved)
        self.clocks.moved(side, ply, moved)

    def _reading(self, ply: int, side: chess.Color) -> int | None:
        """The mover's platform clock after a ply: from the source's history, or from the last line's own clock."""
        history = self.snapshot.clocks_ms
        if history is not None and ply <= len(history) and history[ply - 1] is not None:
            return history[ply - 1]
        # Only the mover's clock is exact on a line; the other side's already runs.
        return self.snapshot.clock_ms(side) if ply == len(self.snapshot.moves) else None

    def _told_move(self, ply: int, side: chess.Color, told: int, reading: int | None) -> tuple[int, int]:
        """The source tells the thinking itself: whatever else changed the clock was none (R4, R13)."""
        credited = self._increment(side, ply) if ply > 2 or not self.setup.free_first_moves else 0
        left = self.clocks.left_ms[side]
        if reading is not None and left is not None:
            jump = reading + told - credited - left
            if jump:
                self._emit(TimeGiven(side, jump) if jump > 0 else Resynced(side, left + jump))
        return told, credited

    def _timed_move(self, ply: int, side: chess.Color, reading: int | None) -> tuple[int | None, int]:
        """(thinking time, increment credited): previous reading + increment + gifts − new reading (rules §6)."""
        increment = self._increment(side, ply)
        left = self.clocks.left_ms[side]
        if reading is None or left is None:
            return None, increment
        given = reading - left - self.clocks.ahead_ms[side] - increment
        if given > SOURCE_ERROR_MS:
            self._emit(TimeGiven(side, given, seen=False))
            left += given
        return max(0, left + increment - reading), increment

    def _first_move(self, ply: int, side: chess.Color, reading: int | None) -> tuple[int | None, int]:
        """R2 and R3: nothing is charged or paid for it, unless the clocks were started early."""
        left = self.clocks.left_ms[side]
        if left is None:
            return None, 0
        if reading is None:
            return 0, 0
        error = max(SOURCE_ERROR_MS, self.setup.precision_ms or 0)
        if not self.clocks.started:
            if abs(reading - left) <= error:
                return 0, 0
            if self._is_berserk(side, reading, error):
                self._emit(Berserked(side, reading))
                return 0, 0
            if reading > left + self._increment(side, ply):
                self._emit(TimeGiven(side, reading - left, seen=False))
                return 0, 0
        return self._timed_move(ply, side, reading)

    def _increment(self, side: chess.Color, ply: int) -> int:
        """What the platform pays for a timed move: nothing after berserk, nor for a move that ends the game (§6)."""
        control = self.setup.time_control
        if control is None or not control.increment_ms or side in self.clocks.berserk:
            return 0
        if self.snapshot.status not in RUNNING and ply == len(self.snapshot.moves) and self._ended_by_move():
            return 0
        return control.increment_ms

    def _ended_by_move(self) -> bool:
        """Whether Lichess ended the game by the last ply of the snapshot (Lichess API, order of endings on a move)."""
        if not self.setup.free_first_moves:
            return False
        board = self.ledger.board.copy()
        for _ in range(len(self.ledger.moves) - self.common):
            board.pop()
        for uci in self.snapshot.moves[self.common :]:
            board.push(read_move(board, uci))
        if not any(board.generate_legal_moves()) or board.is_insufficient_material() or board.halfmove_clock >= 100:
            return True
        # Threefold is automatic where a bot plays; elsewhere it is claimed, and then some thinking is pending.
        drawn = self.snapshot.status == "draw" and not self.snapshot.final_think_ms
        return self.snapshot.status == "variantEnd" or (drawn and board.is_repetition(3))

    # -- clocks without a move -----------------------------------------------------------------------------------

    def _hear_of_gifts(self) -> None:
        """What the platform says that it gave, as far as no clock has shown it (R4)."""
        for side in chess.COLORS:
            unseen = self.snapshot.told_ms[side] - self.clocks.given_ms[side]
            if unseen > 0 and self.clocks.left_ms[side] is not None and self.snapshot.status in RUNNING:
                self._emit(TimeGiven(side, unseen))

    def _read_still_clocks(self) -> None:
        """The move list is the same: a clock can have been given time (R4) or have jumped (R13)."""
        if self.snapshot.status not in RUNNING or self.snapshot.clocks_ms is not None:
            return
        for side in chess.COLORS:
            reading, left = self.snapshot.clock_ms(side), self.clocks.left_ms[side]
            if reading is None or left is None:
                continue
            if reading in (left, left + self.clocks.ahead_ms[side]):
                continue  # a repeated line
            if len(self.ledger.moves) < 2 and self._is_berserk(side, reading, SOURCE_ERROR_MS):
                self._emit(Berserked(side, reading))
            elif side == self.ledger.turn:
                self._read_running_clock(side, reading, left)
            elif abs(reading - left) > SOURCE_ERROR_MS and not self._waits_for_reading(side):
                self._jump(side, left, reading)

    def _read_running_clock(self, side: chess.Color, reading: int, left: int) -> None:
        """A gift to the side to move; its clock may have run since, also before ply 3 if it was started early (R2)."""
        elapsed = self._elapsed_ms()
        rise = reading - left + elapsed
        # Gifts are whole seconds; without arrival times, what is missing to the next one is time that ran.
        given = (rise + 500) // 1000 * 1000 if elapsed else -(-rise // 1000) * 1000
        sure = rise >= _SURE_GIFT_MS and abs(rise - given) < _GIFT_ERROR_MS
        if given > 0 and (reading - left > SOURCE_ERROR_MS or (elapsed and sure)):
            self._emit(TimeGiven(side, given))

    def _elapsed_ms(self) -> int:
        now, since = self.snapshot.at_ms, self.clocks.turn_began_ms
        running = self.clocks.started or len(self.ledger.moves) >= 2
        return max(0, now - since) if running and now is not None and since is not None else 0

    def _jump(self, side: chess.Color, left: int, reading: int) -> None:
        if reading - left in _GIFT_MS and (reading - left) % 1000 == 0:
            self._emit(TimeGiven(side, reading - left))
        else:
            self._emit(Resynced(side, reading))

    def _waits_for_reading(self, side: chess.Color) -> bool:
        """The side's last ply had no reading: a lower clock is its thinking time, still to come (R14)."""
        last = next((row for row in reversed(self.ledger.rows) if row.side == side), None)
        return last is not None and last.think_ms is None

    # -- berserk -------------------------------------------------------------------------------------------------

    def _is_berserk(self, side: chess.Color, reading: int, error_ms: int) -> bool:
        """Whether a drop before the side's first move is what berserk takes (Lichess API, clock rules)."""
        control = self.setup.time_control
        if control is None or side in self.clocks.berserk or not self.setup.free_first_moves:
            return False
        berserk_ms = control.berserk_ms(free_first_moves=True)
        return berserk_ms < control.start_ms(free_first_moves=True) and abs(reading - berserk_ms) <= error_ms

    def _berserk_announced(self) -> None:
        for side in chess.COLORS:
            if side in self.snapshot.berserk and side not in self.clocks.berserk:
                self._emit(Berserked(side, self._start_after_berserk(side)))

    def _start_after_berserk(self, side: chess.Color) -> int | None:
        """The reading after berserk (R3), else what Lichess leaves; None where the side has moved since."""
        first = 1 if side == self.ledger.start_turn else 2
        control = self.setup.time_control
        if control is None or first <= self.common:
            return None
        free = self.setup.free_first_moves
        reading = self._reading(first, side) if free and first <= len(self.snapshot.moves) else None
        return reading if reading is not None else control.berserk_ms(free)

    # -- takebacks and the end -----------------------------------------------------------------------------------

    def _take_back(self, plies: int) -> None:
        if plies < len(self.snapshot.moves):
            note = "the platform's moves are no longer those we had: a takeback and new moves, or lost lines"
            self.out.append(Noted(Anomaly("moves_replaced", plies, note)))
        exact = len(self.snapshot.moves) == plies
        undone = self.ledger.rows_after(plies)
        spent: dict[chess.Color, int] = {}
        left: dict[chess.Color, int | None] = {}
        for side in chess.COLORS:
            own = [row for row in undone if row.side == side]
            reading = self.snapshot.clock_ms(side) if exact else None
            spent[side], left[side] = not_given_back(self.clocks, side, own, plies, reading)
        white, black = chess.WHITE, chess.BLACK
        self._emit(TakenBack(plies, spent[white], spent[black], left[white], left[black], self.snapshot.at_ms))

    def _spent_after(self, plies: int) -> None:
        """A takeback of which only the spent time is told."""
        if (spent := self.snapshot.spent_ms.get(plies)) is not None:
            black, white = spent
            black_left, white_left = (
                None if left is None else left - ms for left, ms in zip(self.clocks.left_ms, spent, strict=True)
            )
            self._emit(TakenBack(plies, white, black, white_left, black_left, self.snapshot.at_ms))

    def _pending_ms(self) -> int:
        """What the side to move had thought when the game ended (R9; on time: until its platform clock was empty)."""
        if self.snapshot.final_think_ms is not None:
            return self.snapshot.final_think_ms
        turn = self.ledger.side_at(len(self.snapshot.moves) + 1)
        left = self.clocks.left_ms[turn]
        if left is None:
            return 0
        reading = 0 if self.snapshot.status == "outoftime" else self.snapshot.clock_ms(turn)
        return max(0, left - reading) if reading is not None else 0


def _common(known: Sequence[str], moves: Sequence[str]) -> int:
    """How many plies both lists share from the start."""
    length = min(len(known), len(moves))
    if list(known[:length]) == list(moves[:length]):
        return length
    return next(i for i in range(length) if known[i] != moves[i])
