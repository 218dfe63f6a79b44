"""The ledger: the fold of a game's events into position, KiriChess clocks and, at the end, the outcome.

What may live here: state that follows from the events alone. No I/O, no wall clock, no logging. The effects of a ply do
not depend on time and the clocks do not depend on the board, so a takeback replays the clocks and never the moves.
"""

from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, replace

import chess

from bridge.errors import RecordError
from bridge.rules.effects import Effects, push
from bridge.rules.endings import Flag, Outcome, board_ending, flag_outcome
from bridge.rules.events import Agreed, Berserked, Ended, Event, Moved, Noted, Resynced, Started, TakenBack, TimeGiven
from bridge.rules.platform_clocks import PlatformClocks
from bridge.rules.platform_end import platform_outcome
from bridge.rules.position import Key, position_key, read_move, start_board
from bridge.rules.snapshot import RECORD_END, Anomaly, Setup

NO_EFFECTS = Effects()


@dataclass(frozen=True, slots=True)
class Row:
    """One counted ply, or (`ply` None) time a player spent on moves that were taken back (R5).

    `think_ms` None: unknown, counted 0 (R14). `white_ms`, `black_ms`: the KiriChess clocks after it, not cut at zero.
    `reading_ms`: the mover's platform clock after it, where known; `credited_ms`: what the platform gave the
    side since its last row, increment and gifts.
    """

    ply: int | None
    side: chess.Color
    uci: str | None
    think_ms: int | None
    effects: Effects
    increment_ms: int
    white_ms: int
    black_ms: int
    reading_ms: int | None = None
    credited_ms: int = 0


class Ledger:
    """One game under KiriChess rules. Feed it with `apply`; read everything else.

    `moves` and `board` follow the platform, also past the KiriChess end; `rows` hold what counted (R8).
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.board = start_board(setup.start_fen)
        self.start_turn = self.board.turn
        self.chess960 = setup.chess960 or self.board.has_chess960_castling_rights()
        self.moves: list[str] = []
        self.readings_ms: list[int | None] = []
        """By ply: the mover's platform clock after it, where known."""
        self.rows: list[Row] = []
        self.anomalies: list[Anomaly] = []
        self.platform: Ended | None = None
        self.takebacks = 0
        """How many times plies were taken back."""
        self.over = False
        """Whether the platform's game, or the record, is over: nothing follows."""
        start_ms = setup.time_control.start_ms(setup.free_first_moves) if setup.time_control else None
        self.clocks = PlatformClocks(start_ms, started=not setup.free_first_moves)
        self._prices = setup.rules.dials.prices
        self._dead = setup.rules.dials.dead_position
        self._base_ms = [self._prices.base_ms, self._prices.base_ms]
        self._keys: list[Key] = [position_key(self.board)]
        self._seen: dict[Key, int] = {self._keys[0]: 1}
        self._clock: list[int] = []
        self._plain: list[int] = []
        self._closest_ms = 0
        self._unknown = False
        self._read: tuple[str, chess.Move] | None = None
        self._reset_clocks()
        self.outcome = board_ending(self.board, 1, self.board.is_checkmate(), self._dead)

    @classmethod
    def replay(cls, events: Iterable[Event]) -> "Ledger":
        """The ledger of a stored game; its first event must be `Started`."""
        iterator = iter(events)
        first = next(iterator)
        assert isinstance(first, Started), "a game's first event is Started"
        ledger = cls(first.setup)
        for event in iterator:
            ledger.apply(event)
        return ledger

    @property
    def turn(self) -> chess.Color:
        """The side to move on the platform."""
        return self.board.turn

    @property
    def white_ms(self) -> int:
        """White's KiriChess clock."""
        return self._clock[chess.WHITE]

    @property
    def black_ms(self) -> int:
        """Black's KiriChess clock."""
        return self._clock[chess.BLACK]

    @property
    def left_ms(self) -> Sequence[int | None]:
        """By colour: what the platform's clock would read had its side thought no further."""
        return self.clocks.left_ms

    @property
    def berserk(self) -> Collection[chess.Color]:
        """The sides that gave up their platform increment (R3)."""
        return self.clocks.berserk

    def clock_ms(self, side: chess.Color) -> int:
        """The KiriChess clock of one side, after the last counted ply."""
        return self._clock[side]

    @property
    def seen(self) -> Container[Key]:
        """The positions that have stood, by their keys: bringing one back costs nothing."""
        return self._seen

    @property
    def plies(self) -> int:
        """How many plies counted: the number of the last one (`ended_at_ply`)."""
        return next((row.ply for row in reversed(self.rows) if row.ply is not None), 0)

    @property
    def certain(self) -> bool:
        """Whether the readings are fine enough to trust who stands and who fell (rules §6).

        A ply whose time is unknown makes the whole game uncertain (R14), though the clocks are exact again by their
        sums at that side's next reading: until then a flag may have fallen unseen. Only a finer record tells
        (`refine`), so a bot with a gap behind it neither resigns nor announces a fall, and plays on as on a board.
        """
        precision = self.setup.precision_ms
        return precision is not None and not self._unknown and (precision == 0 or self._closest_ms >= precision)

    def side_at(self, ply: int) -> chess.Color:
        """Who makes the ply with this number (1 is the first)."""
        return self.start_turn if ply % 2 else not self.start_turn

    def read(self, uci: str) -> chess.Move:
        """A legal move in the position that stands (`read_move`), looked up once. Raises RecordError."""
        if self._read is None or self._read[0] != uci:
            self._read = uci, read_move(self.board, uci)
        return self._read[1]

    def apply(self, event: Event) -> None:
        """Take in one event.

        Raises:
            RecordError: an illegal move, or other rules too late; the ledger is as it was before.
        """
        match event:
            case Moved():
                self._moved(event)
            case TakenBack():
                self._taken_back(event)
            case TimeGiven():
                self._given(event)
            case Resynced():
                self.clocks.apply(event)
                self._note("resync", f"{_name(event.side)}'s platform clock jumped without a move")
            case Berserked():
                self._berserked(event)
            case Ended():
                self._ended(event)
            case Noted():
                self.anomalies.append(event.anomaly)
            case Agreed():
                self._agreed(event)
            case Started():
                assert event.setup == self.setup, "a ledger is started once"

    # -- moves ---------------------------------------------------------------------------------------------------

    def _moved(self, event: Moved) -> None:
        move = self.read(event.uci)
        self._read = None
        side = self.board.turn
        self.moves.append(event.uci)
        self.readings_ms.append(event.reading_ms)
        given_ms = self.clocks.given_ms[side]
        self.clocks.moved(side, len(self.moves), event)
        if self.outcome is not None:
            self.board.push(move)
            return
        if self._think(side, event.think_ms):
            self.outcome = self._flag(side, "thinking")
            self.board.push(move)
            return
        by_king = self.board.kings & chess.BB_SQUARES[move.from_square]
        uci = self.board.uci(move, chess960=self.chess960) if by_king else move.uci()
        effects, key, mate = push(self.board, move, self._prices, self._seen)
        self._keys.append(key)
        occurrences = self._seen[key] = self._seen.get(key, 0) + 1
        before_ms = self._clock[not side]
        row = self._book(len(self.moves), side, uci, event, effects, given_ms)
        self.rows.append(row)
        had_moves = True if effects.chip_ms else None
        self.outcome = board_ending(self.board, occurrences, mate, self._dead, had_moves=had_moves) or self._flag_after(
            side, before_ms - effects.loss_ms
        )

    def _think(self, side: chess.Color, think_ms: int | None) -> bool:
        """Charge thinking time; True when the flag fell by it (step 1)."""
        if think_ms is None:
            self._unknown = True
            return False
        self._clock[side] -= think_ms
        self._plain[side] -= think_ms
        self._watch(self._clock[side])
        return self._clock[side] <= 0

    def _book(self, ply: int, side: chess.Color, uci: str, event: Moved, effects: Effects, given_ms: int) -> Row:
        increment_ms = self._prices.increment_ms
        clock = self._clock
        clock[side] += effects.mover_ms + increment_ms
        clock[not side] += effects.opponent_ms
        self._plain[side] += increment_ms
        black_ms, white_ms = clock
        self._watch(black_ms)
        self._watch(white_ms)
        think, reading, credited = event.think_ms, event.reading_ms, event.credited_ms + given_ms
        return Row(ply, side, uci, think, effects, increment_ms, white_ms, black_ms, reading, credited)

    # -- flags ---------------------------------------------------------------------------------------------------

    def _flag(self, side: chess.Color, cause: str) -> Outcome:
        return flag_outcome(self.board, Flag(side, cause, forced=self._plain[side] > 0))

    def _flag_after(self, side: chess.Color, opponent_after_capture_ms: int) -> Outcome | None:
        """R1: the layers are a stack; the first one that empties a clock names the flag."""
        by_capture = opponent_after_capture_ms <= 0
        own = self._clock[side] <= 0
        opponent = by_capture or self._clock[not side] <= 0
        if own and opponent:
            match self.setup.rules.dials.double_flag:
                case "draw":
                    return Outcome("double_flag")
                case "mover_loses":
                    return self._flag(side, "toll")
        if by_capture:
            return self._flag(not side, "capture")
        if own:
            return self._flag(side, "toll")
        return self._flag(not side, "chip") if opponent else None

    def _watch(self, clock_ms: int) -> None:
        if abs(clock_ms) < self._closest_ms:
            self._closest_ms = abs(clock_ms)

    # -- everything else -----------------------------------------------------------------------------------------

    def rows_after(self, plies: int) -> list[Row]:
        """The rows that a takeback to `plies` undoes: later plies, and what earlier takebacks left spent since."""
        kept = next((i for i, row in enumerate(reversed(self.rows)) if row.ply is not None and row.ply <= plies), None)
        return self.rows if kept is None else self.rows[len(self.rows) - kept :]

    def _taken_back(self, event: TakenBack) -> None:
        self.takebacks += 1
        self._read = None
        while len(self.moves) > event.plies:
            self.moves.pop()
            self.readings_ms.pop()
            self.board.pop()
        if self.outcome is None:
            self._undo_rows(event)
        else:
            self.clocks.apply(event)

    def _undo_rows(self, event: TakenBack) -> None:
        while len(self._keys) > event.plies + 1:
            key = self._keys.pop()
            self._seen[key] -= 1
            if not self._seen[key]:
                del self._seen[key]
        undone = self.rows_after(event.plies)
        before = {side: self._left_before(undone, side) for side in chess.COLORS}
        rows = self.rows[: len(self.rows) - len(undone)]
        self.clocks.apply(event)
        for side, spent in ((chess.WHITE, event.white_spent_ms), (chess.BLACK, event.black_spent_ms)):
            left, earlier = self.left_ms[side], before[side]
            # What the platform left of an increment or a gift can be lost by the next takeback.
            credited = left + spent - earlier if left is not None and earlier is not None else 0
            if spent:
                rows.append(Row(None, side, None, spent, NO_EFFECTS, 0, 0, 0, credited_ms=credited))
            else:
                self.clocks.given_ms[side] = credited
        self._replay_clocks(rows)

    def _left_before(self, undone: Sequence[Row], side: chess.Color) -> int | None:
        """What a platform clock would read had the side's undone rows never been, nor any gift since."""
        left = self.left_ms[side]
        if left is None:
            return None
        undone_ms = sum((row.think_ms or 0) - row.credited_ms for row in undone if row.side == side)
        return left - self.clocks.given_ms[side] + undone_ms

    def _replay_clocks(self, rows: Sequence[Row]) -> None:
        """Fold the clocks anew; a flag that falls by it belongs to no move, so thinking is its cause."""
        self._reset_clocks()
        self.rows = []
        for row in rows:
            self._think(row.side, row.think_ms)
            if row.ply is None:
                self.rows.append(replace(row, white_ms=self.white_ms, black_ms=self.black_ms))
            else:
                assert row.uci is not None, "a counted ply has a move"
                event = Moved(row.uci, row.think_ms, row.reading_ms, row.credited_ms)
                self.rows.append(self._book(row.ply, row.side, row.uci, event, row.effects, 0))
        for side in (self.board.turn, not self.board.turn):
            if self.outcome is None and self._clock[side] <= 0:
                self.outcome = self._flag(side, "thinking")

    def _reset_clocks(self) -> None:
        self._clock = list(self._base_ms)
        self._plain = list(self._base_ms)
        self._closest_ms = min(self._base_ms)
        self._unknown = False

    def _agreed(self, event: Agreed) -> None:
        """Judge what has been played, one ply at most, by the other rules; the platform's clocks stay as they are."""
        if len(self.moves) > 1 or self.outcome is not None:
            raise RecordError("other rules can only be agreed on before the second ply")
        dials, rows = event.rules.dials, self.rows
        moves, platform, takebacks = self.moves[:], self.clocks, self.takebacks
        self.setup = replace(self.setup, rules=event.rules)
        self._prices, self._dead = dials.prices, dials.dead_position
        halved = self.berserk if dials.berserk == "halve" else ()
        self._base_ms = [self._prices.base_ms // (2 if side in halved else 1) for side in (chess.BLACK, chess.WHITE)]
        self.clocks = PlatformClocks(None, started=True)
        self._taken_back(TakenBack(0))
        self._reset_clocks()
        self.rows = []
        self.outcome = board_ending(self.board, 1, self.board.is_checkmate(), self._dead)
        for row in rows:
            if row.uci is None:
                self._think(row.side, row.think_ms)
                self.rows.append(replace(row, white_ms=self.white_ms, black_ms=self.black_ms))
            else:
                self._moved(Moved(row.uci, row.think_ms, row.reading_ms, row.credited_ms))
        self.moves, self.clocks, self.takebacks = moves, platform, takebacks

    def _given(self, event: TimeGiven) -> None:
        self.clocks.apply(event)
        least = "" if event.seen else "at least "
        note = f"{_name(event.side)} was given {least}{event.given_ms} ms on the platform"
        # What only a reading betrays belongs to the ply of that reading, which comes next.
        ply = len(self.moves) if event.seen else len(self.moves) + 1
        self.anomalies.append(Anomaly("time_given", ply, note))

    def _berserked(self, event: Berserked) -> None:
        self.clocks.apply(event)
        self._note("berserk", f"{_name(event.side)} berserked: no platform increment, less platform time")
        if self.setup.rules.dials.berserk == "halve" and self.outcome is None:
            self._base_ms[event.side] //= 2
            self._replay_clocks(self.rows)

    def _ended(self, event: Ended) -> None:
        self.over = True
        if event.status != RECORD_END:
            self.platform = event
        if self.outcome is not None:
            return
        if event.status != "aborted" and event.pending_ms and self._think(self.board.turn, event.pending_ms):
            self.outcome = self._flag(self.board.turn, "thinking")
            return
        self.outcome, anomaly = platform_outcome(self.board, event, self.setup, len(self.moves))
        if anomaly is not None:
            self.anomalies.append(anomaly)

    def _note(self, kind: str, note: str) -> None:
        self.anomalies.append(Anomaly(kind, len(self.moves), note))


def _name(side: chess.Color) -> str:
    return chess.COLOR_NAMES[side]
