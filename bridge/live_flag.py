"""The running turn of a live game: how long it has lasted, and the fall of a flag that no reading has told yet (R12).

The one place where wall time meets the ledger, and what comes of it is provisional.
"""

import asyncio
from collections.abc import Callable, Sequence

import chess

from bridge import event_types
from bridge.alarm import Alarm
from bridge.interfaces import Entry
from bridge.rules.events import Ended, Event, Moved, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.snapshot import RUNNING, Snapshot


class LiveFlag:
    """`fallen` is told of each fall by local estimate, with its side. `delayed`: lines come later than the moves are
    made, so arrival times say nothing and no flag falls here. `shown`: the side whose fall was told and stands open.
    """

    def __init__(self, steady_ms: Callable[[], int], fallen: Callable[[chess.Color], None]) -> None:
        self.delayed = False
        self.shown: chess.Color | None = None
        self._steady_ms = steady_ms
        self._fallen = fallen
        self._running_since_ms: int | None = None
        self._alarm = Alarm(self._falls)
        self._turn = chess.WHITE

    def resume(self, entries: Sequence[Entry]) -> None:
        """What was told before a restart, and neither withdrawn nor confirmed, is still open."""
        for entry in entries:
            if entry.type == event_types.FLAG_PROVISIONAL:
                self.shown = entry.data["side"] == "white"
            elif entry.type in (event_types.FLAG_WITHDRAWN, *event_types.VERDICTS):
                self.shown = None

    def elapsed_ms(self) -> int:
        """How long the running turn has lasted, by the last reading and the steady clock."""
        return 0 if self._running_since_ms is None else max(0, self._steady_ms() - self._running_since_ms)

    def stop(self) -> None:
        """No flag falls by local estimate while a reading is taken in."""
        self._alarm.off()

    def close(self) -> None:
        """No flag falls here any more. Whoever was told of it is let go of: they would keep each other, and with them
        a whole game, until the garbage collector comes by."""
        self._alarm.close()
        self._fallen = _tell_nobody

    def read(self, ledger: Ledger, snapshot: Snapshot, taken: Sequence[Event]) -> chess.Color | None:
        """A reading came, and these events of it; the side whose fall turns out wrong by it, if any."""
        self._running_since_ms = self._turn_start_ms(ledger, snapshot, taken)
        side, outcome = self.shown, ledger.outcome
        if side is None:
            return None
        if outcome is not None and outcome.flag is not None and outcome.flag.side == side:
            self.shown = None
            return None
        settled = any(isinstance(event, Moved | TakenBack | Ended) for event in taken)
        if not settled and (snapshot.clock_ms(side) is None or self._left_ms(ledger) <= 0):
            return None
        self.shown = None
        return side

    def watch(self, ledger: Ledger) -> None:
        """Wait for the clock of the side to move to run out."""
        self.stop()
        if self.delayed or self._running_since_ms is None or ledger.outcome or self.shown is not None:
            return
        left_s = max(0, self._left_ms(ledger)) / 1000
        self._turn = ledger.turn
        self._alarm.set(asyncio.get_running_loop().time() + left_s)

    def _left_ms(self, ledger: Ledger) -> int:
        """The KiriChess clock of the side to move now, by local estimate."""
        return ledger.clock_ms(ledger.turn) - self.elapsed_ms()

    def _turn_start_ms(self, ledger: Ledger, snapshot: Snapshot, taken: Sequence[Event]) -> int | None:
        """When the running turn began on our steady clock, by what the side to move has left now."""
        if snapshot.at_ms is None or snapshot.status not in RUNNING or not ledger.clocks.started:
            return None
        left, reading = ledger.left_ms[ledger.turn], snapshot.clock_ms(ledger.turn)
        spent_ms = max(0, left - reading) if left is not None and reading is not None else 0
        begins = any(isinstance(event, Moved | TakenBack) for event in taken)
        if not begins and not spent_ms and self._running_since_ms is not None:
            return self._running_since_ms  # a repeated line, or one without a clock, says nothing of the turn
        return snapshot.at_ms - spent_ms

    def _falls(self) -> None:
        self.shown = self._turn
        self._fallen(self._turn)


def _tell_nobody(_side: chess.Color) -> None:
    """The game is over."""
