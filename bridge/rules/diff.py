"""What is new in a snapshot: the one place where platform clocks become thinking time.

A platform's state is cumulative, so a reconnect, a repeated line, several missed plies and a takeback are one case.
Thinking time telescopes (rules §6): each side carries what its clock *would* read had it thought no further
(`Ledger.left_ms`), and a new reading is compared with that. So errors do not add up, a small negative difference is
taken off the next thinking time (R4), and the time of plies without a reading lands on the next one that has one (R14).
"""

from collections.abc import Sequence

import chess

from bridge.rules.events import Berserked, Ended, Event, Moved, Noted, Resynced, TakenBack, TimeGiven
from bridge.rules.ledger import Ledger, Row
from bridge.rules.position import read_move
from bridge.rules.snapshot import RUNNING, Snapshot

SOURCE_ERROR_MS = 40
"""A difference of at most this is rounding, not time given (R4)."""

_GIFT_MS = range(5_000, 60_001)
"""What one gift can be on Lichess (add-time is 5 to 60 s)."""

_SURE_GIFT_MS = 4_500
"""How far a running clock must be above our estimate before it is believed: below that it may be a late line."""


def diff(ledger: Ledger, snapshot: Snapshot) -> list[Event]:
    """The events that bring the ledger to the snapshot; empty when nothing is new.

    Pure: neither argument changes. `ledger.apply` raises RecordError on an illegal move among them.
    """
    if ledger.platform is not None:
        return []
    return _Comparison(ledger, snapshot).events()


class _Comparison:
    def __init__(self, ledger: Ledger, snapshot: Snapshot) -> None:
        self.ledger = ledger
        self.snapshot = snapshot
        self.left = list(ledger.left_ms)
        self.started = ledger.clocks_started
        self.berserk = set(ledger.berserk)
        self.out: list[Event] = []

    def events(self) -> list[Event]:
        known = self.ledger.moves
        moves = self.snapshot.moves
        common = _common(known, moves)
        if not self.ledger.moves and not self.ledger.anomalies:
            self.out.extend(Noted(note) for note in self.snapshot.notes)
        if common < len(known):
            self._take_back(common)
        elif len(moves) == len(known):
            self._read_still_clocks()
        self._berserk_announced()
        for ply in range(common + 1, len(moves) + 1):
            self._move(ply)
        if self.snapshot.status not in RUNNING:
            self._end()
        return self.out

    # -- moves ---------------------------------------------------------------------------------------------------

    def _move(self, ply: int) -> None:
        side = self.ledger.side_at(ply)
        uci = self.snapshot.moves[ply - 1]
        thinks = self.snapshot.think_ms
        if thinks is not None:
            self.out.append(Moved(uci, thinks[ply - 1]))
            return
        reading = self._reading(ply, side)
        if self.ledger.setup.free_first_moves and ply <= 2:
            think, credited = self._first_move(side, reading)
        else:
            think, credited = self._timed_move(ply, side, reading)
        left = self.left[side]
        if left is not None:
            self.left[side] = left + credited - (think or 0)
        self.out.append(Moved(uci, think, reading, credited, self.snapshot.at_ms))

    def _reading(self, ply: int, side: chess.Color) -> int | None:
        """The mover's platform clock after a ply: from the source's history, or from the last line's own clock."""
        history = self.snapshot.clocks_ms
        if history is not None and ply <= len(history) and history[ply - 1] is not None:
            return history[ply - 1]
        # Only the mover's clock is exact on a line; the other side's already runs.
        return self.snapshot.clock_ms(side) if ply == len(self.snapshot.moves) else None

    def _timed_move(self, ply: int, side: chess.Color, reading: int | None) -> tuple[int | None, int]:
        control = self.ledger.setup.time_control
        increment = control.increment_ms if control and side not in self.berserk else 0
        if increment and ply == len(self.snapshot.moves) and self._ended_by_move():
            increment = 0
        left = self.left[side]
        if reading is None or left is None:
            return None, increment
        think = left + increment - reading
        if think < -SOURCE_ERROR_MS:
            self.out.append(TimeGiven(side, -think, seen=False))
            self.left[side] = left - think
        return max(0, think), increment

    def _first_move(self, side: chess.Color, reading: int | None) -> tuple[int | None, int]:
        """R2 and R3: nothing is charged or paid for it, unless the clocks were started early."""
        left, control = self.left[side], self.ledger.setup.time_control
        if reading is None or left is None or control is None:
            return (0, 0) if left is not None else (None, 0)
        increment = 0 if side in self.berserk else control.increment_ms
        error = max(SOURCE_ERROR_MS, self.ledger.setup.precision_ms or 0)
        if not self.started:
            if abs(reading - left) <= error:
                return 0, 0
            if self._is_berserk(side, reading, error):
                self._go_berserk(side, reading)
                return 0, 0
            if reading > left + increment:
                self.out.append(TimeGiven(side, reading - left, seen=False))
                self.left[side] = reading
                return 0, 0
        self.started = True
        think = left + increment - reading
        if think < -SOURCE_ERROR_MS:
            self.out.append(TimeGiven(side, -think, seen=False))
            self.left[side] = left - think
        return max(0, think), increment

    def _ended_by_move(self) -> bool:
        """Whether the last ply of the snapshot ended the game, so that Lichess pays no increment for it (§6)."""
        if not self.ledger.setup.free_first_moves or self.snapshot.status in RUNNING:
            return False
        if self.snapshot.status in ("mate", "stalemate", "variantEnd"):
            return True
        if self.snapshot.status != "draw":
            return False
        board = self.ledger.board.copy()
        for uci in self.snapshot.moves[_common(self.ledger.moves, self.snapshot.moves) :]:
            board.push(read_move(board, uci))
        return board.is_insufficient_material() or board.halfmove_clock >= 100 or board.is_repetition(5)

    # -- clocks without a move -----------------------------------------------------------------------------------

    def _read_still_clocks(self) -> None:
        """The move list is the same: a clock can have been given time (R4) or have jumped (R13)."""
        if self.snapshot.status not in RUNNING or self.snapshot.clocks_ms is not None:
            return
        turn = self.ledger.turn
        for side in chess.COLORS:
            reading, left = self.snapshot.clock_ms(side), self.left[side]
            if reading is None or left is None:
                continue
            running = side == turn and (self.started or len(self.ledger.moves) >= 2)
            if not running and len(self.ledger.moves) < 2 and self._is_berserk(side, reading, SOURCE_ERROR_MS):
                self._go_berserk(side, reading)
            elif running:
                self._read_running_clock(side, reading, left)
            elif abs(reading - left) > SOURCE_ERROR_MS and not self._waits_for_reading(side):
                self._jump(side, left, reading)

    def _read_running_clock(self, side: chess.Color, reading: int, left: int) -> None:
        # Without arrival times the clock can only be caught above what it read when it started to run.
        expected = left if self.snapshot.at_ms is None else left - self._elapsed_ms()
        rise = reading - expected
        if reading - left > SOURCE_ERROR_MS or (expected < left and rise >= _SURE_GIFT_MS):
            # Gifts are whole seconds; what is missing to the next one is time that ran since.
            given = (rise + 500) // 1000 * 1000 if expected < left else -(-rise // 1000) * 1000
            self.out.append(TimeGiven(side, given))
            self.left[side] = left + given

    def _elapsed_ms(self) -> int:
        since = self.ledger.turn_began_ms
        return max(0, (self.snapshot.at_ms or 0) - since) if since is not None else 0

    def _jump(self, side: chess.Color, left: int, reading: int) -> None:
        if reading - left in _GIFT_MS and (reading - left) % 1000 == 0:
            self.out.append(TimeGiven(side, reading - left))
        else:
            self.out.append(Resynced(side, reading))
        self.left[side] = reading

    def _waits_for_reading(self, side: chess.Color) -> bool:
        """The side's last ply had no reading: a lower clock is its thinking time, still to come (R14)."""
        last = next((row for row in reversed(self.ledger.rows) if row.side == side), None)
        return last is not None and last.think_ms is None

    # -- berserk -------------------------------------------------------------------------------------------------

    def _is_berserk(self, side: chess.Color, reading: int, error_ms: int) -> bool:
        """Lichess takes half of the configured limit (Lichess API, clock rules)."""
        control = self.ledger.setup.time_control
        if control is None or side in self.berserk or not self.ledger.setup.free_first_moves:
            return False
        return control.initial_ms > 0 and abs(reading - control.initial_ms // 2) <= error_ms

    def _go_berserk(self, side: chess.Color, reading: int | None) -> None:
        self.berserk.add(side)
        self.left[side] = reading
        self.out.append(Berserked(side, reading))

    def _berserk_announced(self) -> None:
        for side in self.snapshot.berserk - self.berserk:
            history = self.snapshot.clocks_ms or ()
            first = 0 if side == self.ledger.start_turn else 1
            reading = history[first] if first < len(history) else self.snapshot.clock_ms(side)
            self._go_berserk(side, reading if reading is not None else self.left[side])

    # -- takebacks and the end -----------------------------------------------------------------------------------

    def _take_back(self, plies: int) -> None:
        undone = [row for row in self.ledger.rows if row.ply is not None and row.ply > plies]
        exact = len(self.snapshot.moves) == plies
        left: dict[chess.Color, int | None] = {}
        spent: dict[chess.Color, int] = {}
        for side in chess.COLORS:
            rows = [row for row in undone if row.side == side]
            reading = self.snapshot.clock_ms(side) if exact else None
            spent[side], left[side] = self._not_given_back(side, rows, reading)
        self.left = [left[chess.BLACK], left[chess.WHITE]]
        white, black = chess.WHITE, chess.BLACK
        self.out.append(TakenBack(plies, spent[white], spent[black], left[white], left[black], self.snapshot.at_ms))

    def _not_given_back(self, side: chess.Color, undone: Sequence[Row], reading: int | None) -> tuple[int, int | None]:
        """R5: (what stays spent, what the clock reads now) of a side, some of whose plies were undone.

        Lichess restores a side to one of its recorded readings, increments included, so the latest recorded one that
        fits tells how many of the undone thinking times stand; between two of them the difference decides.
        """
        left = self.left[side]
        if left is None:
            return sum(row.think_ms or 0 for row in undone), None
        if reading is None:
            return sum(row.think_ms or 0 for row in undone), left
        control = self.ledger.setup.time_control
        increment = control.increment_ms if control and side not in self.berserk else 0
        clock, spent = left, sum(row.think_ms or 0 for row in undone)
        recorded = [(clock, spent)]
        for row in reversed(undone):
            think = row.think_ms or 0
            free = self.ledger.setup.free_first_moves and (row.ply or 0) <= 2 and not think
            clock += think - (0 if free else increment)
            spent -= think
            recorded.append((clock, spent))
        nearest, stands = min(recorded, key=lambda entry: abs(entry[0] - reading))
        if undone:
            return max(0, stands + nearest - reading), reading
        # Nothing of this side was undone: its clock is what it was, or runs again from what it reads.
        return 0, left if abs(left - reading) <= SOURCE_ERROR_MS or reading < left else reading

    def _end(self) -> None:
        snapshot = self.snapshot
        self.out.append(Ended(snapshot.status, snapshot.winner, self._pending_ms()))

    def _pending_ms(self) -> int:
        """What the side to move had thought when the game ended (R9; on time: until its platform clock was empty)."""
        if self.snapshot.final_think_ms is not None:
            return self.snapshot.final_think_ms
        turn = self.ledger.side_at(len(self.snapshot.moves) + 1)
        left = self.left[turn]
        if left is None:
            return 0
        if self.snapshot.status == "outoftime":
            return max(0, left)
        reading = self.snapshot.clock_ms(turn)
        return max(0, left - reading) if reading is not None and not self._ended_by_move() else 0


def _common(known: Sequence[str], moves: Sequence[str]) -> int:
    """How many plies both lists share from the start."""
    length = min(len(known), len(moves))
    if list(known[:length]) == list(moves[:length]):
        return length
    return next(i for i in range(length) if known[i] != moves[i])
