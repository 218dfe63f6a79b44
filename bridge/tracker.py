"""One live game kept in step with its platform: snapshot → diff → ledger → journal.

What may live here: the order of those steps, the resumption from the journal, and the live flag timer, the one place
where wall time meets the ledger; what it says is provisional (R12).
"""

import asyncio
from collections.abc import Callable, Sequence

import chess
import structlog

from bridge import event_types
from bridge.errors import RecordError
from bridge.interfaces import Draft, Entry, GameInfo, Journal
from bridge.records.events import decode, encode
from bridge.records.one_line import one_line
from bridge.records.pgn_writer import to_pgn
from bridge.records.verdict_json import row_object, verdict_object
from bridge.rules.diff import diff
from bridge.rules.endings import Outcome
from bridge.rules.events import Ended, Event, Moved, Started, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset
from bridge.rules.position import read_move
from bridge.rules.snapshot import RUNNING, Setup, Snapshot
from bridge.rules.verdict import Verdict, verdict

log = structlog.get_logger("kirichess_tracker")

_TYPES: dict[type, str] = {
    Started: event_types.GAME_STARTED,
    Moved: event_types.GAME_PLY,
    TakenBack: event_types.GAME_TAKEBACK,
    Ended: event_types.GAME_FINISHED,
}


_EFFECTS = ("capture", "toll_ms", "fee_ms", "chip_ms", "increment_ms", "guarded")


class Tracker:
    """The ledger of one game and its trace in the journal. `journal` None: the game is recorded by another account.

    `steady_ms` is a clock that never jumps. `undelayed`: whether lines come as the moves are made.
    """

    def __init__(
        self,
        game_id: str,
        account: str,
        journal: Journal | None,
        steady_ms: Callable[[], int],
        *,
        undelayed: bool = True,
    ) -> None:
        self.game_id = game_id
        self.account = account
        self.info: GameInfo | None = None
        self._journal = journal
        self._steady_ms = steady_ms
        self._undelayed = undelayed
        self._ledger: Ledger | None = None
        self._running_since_ms: int | None = None
        self._flag_timer: asyncio.Task[None] | None = None
        self._provisional: chess.Color | None = None
        self._told: Outcome | None = None

    @property
    def ledger(self) -> Ledger:
        """The ledger; only after `open`."""
        assert self._ledger is not None, "the game is not open yet"
        return self._ledger

    @property
    def is_open(self) -> bool:
        """Whether the first message of the game has been taken in."""
        return self._ledger is not None

    def elapsed_ms(self) -> int:
        """How long the running turn has lasted, by the last reading and the steady clock."""
        return 0 if self._running_since_ms is None else max(0, self._steady_ms() - self._running_since_ms)

    async def open(self, info: GameInfo, rules: Ruleset, *, source: str, precision_ms: int, seat: str = "") -> None:
        """Start the ledger, or take it up again where the journal has it."""
        self.info = info
        stored = await self._stored()
        if stored:
            self._ledger = Ledger.replay(decode(entry) for entry in stored)
            self._told = self._ledger.outcome
            return
        setup = setup_of(info, rules, source, precision_ms)
        self._ledger = Ledger(setup)
        await self._append([self._draft(Started(setup), {"seat": seat, **_about(info), **_facts_after(self._ledger)})])

    async def take(self, snapshot: Snapshot) -> list[Event]:
        """Bring ledger and journal to a snapshot; what is returned is stored already.

        An illegal move stops the intake of that snapshot: the board stays at the last legal position and an anomaly
        is noted.
        """
        ledger = self.ledger
        drafts, taken = [], []
        for event in diff(ledger, snapshot):
            known = len(ledger.anomalies)
            try:
                facts = _facts_before(ledger, event)
                ledger.apply(event)
            except RecordError as error:
                log.error("illegal_move", game=self.game_id, ply=len(ledger.moves) + 1, cause=str(error))
                drafts.append(self._anomaly("illegal_move", len(ledger.moves) + 1, str(error)))
                break
            taken.append(event)
            drafts.append(self._draft(event, {**facts, **_facts_after(ledger)}))
            noted = [] if type(event) not in _TYPES else ledger.anomalies[known:]
            drafts.extend(self._anomaly(anomaly.kind, anomaly.ply, anomaly.note) for anomaly in noted)
        drafts += self._flag_settled(taken) + self._newly_judged(snapshot)
        await self._append(drafts)
        self._watch_flag(snapshot)
        return taken

    async def conclude(self, judged: Verdict) -> None:
        """Store the final verdict, once; one that differs from what was told before is told as changed first."""
        drafts = []
        data = self._verdict_data(judged)
        if self._told is not None and self._told != judged.outcome:
            previous = {"result": self._told.result, "reason": self._told.reason}
            change = {**data, "previous": previous, "cause": f"judged again from {judged.setup.source}"}
            drafts.append(self._draft_of(event_types.VERDICT_CHANGED, change, f"changed:{self.game_id}"))
        drafts.append(self._draft_of(event_types.VERDICT_FINAL, data, f"final:{self.game_id}"))
        self._told = judged.outcome
        await self._append(drafts)

    def close(self) -> None:
        """Stop the flag timer."""
        if self._flag_timer is not None:
            self._flag_timer.cancel()

    # -- the journal ---------------------------------------------------------------------------------------------

    async def _stored(self) -> list[dict[str, object]]:
        if self._journal is None:
            return []
        entries: list[Entry] = []
        while True:
            page = await self._journal.read(subject=self.game_id, after=entries[-1].seq if entries else 0)
            entries += page
            if not page:
                break
        return [event for entry in entries if isinstance(event := entry.data.get("event"), dict)]

    async def _append(self, drafts: Sequence[Draft]) -> None:
        if self._journal is not None and drafts:
            await self._journal.append(drafts)

    def _draft(self, event: Event, data: dict[str, object]) -> Draft:
        kind = _TYPES.get(type(event), event_types.ANOMALY)
        if kind == event_types.ANOMALY:
            anomaly = self.ledger.anomalies[-1]
            data |= {"kind": anomaly.kind, "note": anomaly.note}
        return self._draft_of(kind, {**data, "event": encode(event)})

    def _draft_of(self, kind: str, data: dict[str, object], key: str | None = None) -> Draft:
        return Draft(kind, self.game_id, data, self.account, key)

    def _anomaly(self, kind: str, ply: int, note: str) -> Draft:
        return self._draft_of(event_types.ANOMALY, {"kind": kind, "ply": ply, "note": note})

    # -- verdicts ------------------------------------------------------------------------------------------------

    def _newly_judged(self, snapshot: Snapshot) -> list[Draft]:
        outcome = self.ledger.outcome
        if outcome is None or outcome == self._told:
            return []
        self._told = outcome
        judged = verdict(self.ledger, final=False)
        return [self._draft_of(event_types.VERDICT_PROVISIONAL, self._verdict_data(judged))]

    def _verdict_data(self, judged: Verdict) -> dict[str, object]:
        data: dict[str, object] = {"verdict": verdict_object(judged, ledger=True), "text": one_line(judged)}
        if judged.final:
            data["pgn"] = to_pgn(judged)
        return data

    # -- the live flag (R12) -------------------------------------------------------------------------------------

    def _watch_flag(self, snapshot: Snapshot) -> None:
        self.close()
        ledger = self.ledger
        self._running_since_ms = self._turn_start_ms(snapshot)
        if self._undelayed and self._running_since_ms is not None and ledger.outcome is None:
            left_ms = ledger.clock_ms(ledger.turn) - self.elapsed_ms()
            if self._provisional is None:
                self._flag_timer = asyncio.create_task(self._flag_falls(ledger.turn, left_ms))

    def _turn_start_ms(self, snapshot: Snapshot) -> int | None:
        """When the running turn began on our steady clock, by what the side to move has left now."""
        ledger = self.ledger
        if snapshot.at_ms is None or snapshot.status not in RUNNING or not self._clock_runs():
            return None
        left, reading = ledger.left_ms[ledger.turn], snapshot.clock_ms(ledger.turn)
        spent_ms = max(0, left - reading) if left is not None and reading is not None else 0
        return snapshot.at_ms - spent_ms

    def _clock_runs(self) -> bool:
        return self.ledger.clocks.started

    async def _flag_falls(self, side: chess.Color, left_ms: int) -> None:
        await asyncio.sleep(max(0, left_ms) / 1000)
        self._provisional = side
        data: dict[str, object] = {"side": chess.COLOR_NAMES[side], "cause": "thinking", "ply": self.ledger.plies}
        await self._append([self._draft_of(event_types.FLAG_PROVISIONAL, data)])

    def _flag_settled(self, taken: Sequence[Event]) -> list[Draft]:
        """A reading came: a provisional flag is confirmed by the verdict, or withdrawn."""
        if self._provisional is None or not any(isinstance(event, Moved | TakenBack | Ended) for event in taken):
            return []
        side, self._provisional = self._provisional, None
        outcome = self.ledger.outcome
        if outcome is not None and outcome.flag is not None and outcome.flag.side == side:
            return []
        return [self._draft_of(event_types.FLAG_WITHDRAWN, {"side": chess.COLOR_NAMES[side]})]


def setup_of(info: GameInfo, rules: Ruleset, source: str, precision_ms: int | None) -> Setup:
    """The setup of a game that came through the Lichess API: its first moves are free (R2, rules §6)."""
    return Setup(
        game_id=info.id,
        rules=rules,
        source=source,
        precision_ms=precision_ms,
        start_fen=info.start_fen,
        chess960=info.chess960,
        time_control=info.time_control,
        free_first_moves=True,
        white=info.white.name,
        black=info.black.name,
        site=info.url,
    )


def _about(info: GameInfo) -> dict[str, object]:
    control = info.time_control
    return {
        "white": info.white.name,
        "black": info.black.name,
        "white_title": info.white.title,
        "black_title": info.black.title,
        "url": info.url,
        "rated": info.rated,
        "variant": info.variant,
        "time_control": None
        if control is None
        else {"initial_ms": control.initial_ms, "increment_ms": control.increment_ms},
    }


def _facts_before(ledger: Ledger, event: Event) -> dict[str, object]:
    """What can only be said before the event: a move's SAN and where it stood, or how many plies are left.

    Raises:
        RecordError: an illegal move.
    """
    if isinstance(event, TakenBack):
        return {"plies": event.plies}
    if not isinstance(event, Moved):
        return {}
    move = read_move(ledger.board, event.uci)
    return {
        "ply": len(ledger.moves) + 1,
        "side": chess.COLOR_NAMES[ledger.turn],
        "uci": event.uci,
        "san": ledger.board.san(move),
        "think_ms": event.think_ms,
        "counted": ledger.outcome is None,
    }


def _facts_after(ledger: Ledger) -> dict[str, object]:
    facts: dict[str, object] = {
        "white_ms": ledger.white_ms,
        "black_ms": ledger.black_ms,
        "platform_white_ms": ledger.left_ms[chess.WHITE],
        "platform_black_ms": ledger.left_ms[chess.BLACK],
        "fen": ledger.board.fen(),
        "pool": ledger.setup.rules.pool,
    }
    if ledger.rows and ledger.rows[-1].ply == len(ledger.moves):
        row = row_object(ledger.rows[-1], None)
        facts |= {name: row[name] for name in _EFFECTS}
    return facts
