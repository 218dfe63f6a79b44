"""One live game kept in step with its platform: snapshot → diff → ledger → journal.

What may live here: the order of those steps, and the resumption from the journal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import chess
import structlog

from bridge import event_types
from bridge.errors import JournalError, RecordError
from bridge.event_data import about, facts_after, settled, take_in
from bridge.interfaces import Draft, Entry, GameInfo, Journal
from bridge.live_flag import LiveFlag
from bridge.outbox import Outbox
from bridge.records.evaluations import Evaluation, by_ply, from_line
from bridge.records.events import decode, encode
from bridge.records.one_line import one_line
from bridge.records.pgn_writer import UNKNOWN_DATE, to_pgn
from bridge.records.verdict_json import flag_object, verdict_object
from bridge.rules.diff import diff
from bridge.rules.endings import Outcome
from bridge.rules.events import Agreed, Ended, Event, Moved, Started, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset
from bridge.rules.refine import refine
from bridge.rules.snapshot import Setup, Snapshot
from bridge.rules.verdict import Verdict, verdict
from bridge.verdicts import ToldVerdict, replacing, standing

log = structlog.get_logger("kirichess_tracker")

_TYPES: dict[type, str] = {
    Started: event_types.GAME_STARTED,
    Agreed: event_types.GAME_RULES,
    Moved: event_types.GAME_PLY,
    TakenBack: event_types.GAME_TAKEBACK,
    Ended: event_types.GAME_FINISHED,
}


class Tracker:
    """The ledger of one game and its trace in the journal.

    `steady_ms` is a clock that never jumps. `records` False: another account of ours stores the same game, so here it
    is only taken up from the journal.
    """

    def __init__(
        self, game_id: str, account: str, journal: Journal, steady_ms: Callable[[], int], *, records: bool = True
    ) -> None:
        self.game_id = game_id
        self.account = account
        self.info: GameInfo | None = None
        self.stored_at_ms: int | None = None
        self._journal = journal
        self._outbox = Outbox(journal, game_id) if records else None
        self._ledger: Ledger | None = None
        self._live = LiveFlag(steady_ms, self._flag_falls)
        self._sans: list[str] = []
        self._told: _Told | None = None
        self._standing: ToldVerdict | None = None

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
        return self._live.elapsed_ms()

    async def open(
        self,
        info: GameInfo,
        rules: Ruleset,
        *,
        source: str,
        precision_ms: int | None,
        seat: str = "",
        delayed: bool = False,
    ) -> None:
        """Start the ledger, or take it up again where the journal has it.

        `delayed`: lines come later than the moves are made, so arrival times say nothing (R12). `stored_at_ms`: the
        wall clock at the start of a game that was taken up again. Raises JournalError.
        """
        self.info = info
        self._live.delayed = delayed
        if await self.resume():
            return
        setup = setup_of(info, rules, source, precision_ms)
        self._ledger = Ledger(setup)
        facts = {"seat": seat, "delayed": delayed, **settled(setup), **about(info), **facts_after(self._ledger)}
        await self._append([self._draft(Started(setup), facts)])

    async def resume(self) -> bool:
        """Take the ledger up where the journal has it; False: it has nothing of the game. Raises JournalError."""
        entries = await self._stored()
        stored = [event for entry in entries if isinstance(event := entry.data.get("event"), dict)]
        if not stored:
            return False
        self.stored_at_ms = entries[0].time_ms
        self._ledger = Ledger.replay(decode(event) for event in stored)
        self._told = _Told.by(self._ledger)
        self._standing = standing(entries)
        self._sans = [str(entry.data["san"]) for entry in entries if entry.type == event_types.GAME_PLY]
        self._live.resume(entries)
        return True

    async def take(self, snapshot: Snapshot) -> list[Event]:
        """Bring ledger and journal to a snapshot; what is returned is stored already.

        An illegal move stops the intake of that snapshot: the board stays at the last legal position and an anomaly
        is noted.
        """
        self._live.stop()
        drafts: list[Draft] = []
        taken: list[Event] = []
        try:
            for event in diff(self.ledger, snapshot):
                drafts += self._apply(event)
                taken.append(event)
        except RecordError as error:
            ply = len(self.ledger.moves) + 1
            log.error("illegal_move", game=self.game_id, ply=ply, cause=str(error))
            drafts.append(self._anomaly("illegal_move", ply, str(error), f"illegal:{self.game_id}:{ply}"))
        drafts += self._flag_settled(self._live.read(self.ledger, snapshot, taken)) + self._newly_judged()
        await self._append(drafts)
        self._live.watch(self.ledger)
        return taken

    def agree(self, rules: Ruleset) -> bool:
        """Other rules, if it is not too late for that; stored behind what came before."""
        ledger = self.ledger
        if self._outbox is None or len(ledger.moves) > 1 or ledger.outcome is not None or ledger.over:
            return False
        if rules != ledger.setup.rules:
            self._outbox.put(self._apply(Agreed(rules)))
        return True

    def _apply(self, event: Event) -> list[Draft]:
        ledger = self.ledger
        known = len(ledger.anomalies)
        facts = take_in(ledger, event)
        if isinstance(event, Moved):
            self._sans.append(str(facts["san"]))
        draft = self._draft(event, {**facts, **facts_after(ledger)})
        noted = [] if type(event) not in _TYPES else ledger.anomalies[known:]
        return [draft, *(self._anomaly(anomaly.kind, anomaly.ply, anomaly.note) for anomaly in noted)]

    async def conclude(self, judged: Verdict, cause: str = "") -> None:
        """Store the final verdict, once; one that differs from what was told before, or is certain where a final one
        was not, is told as changed, with the cause.

        The first final verdict comes after the change of a provisional one; later ones are changes alone. Returns when
        it is stored, for however long the journal cannot be written.
        """
        self._live.stop()
        drafts = []
        evaluations, sans = await self._evaluations(judged), self._known_sans(judged)
        pgn = to_pgn(judged, date=await self._date(), evaluations=evaluations, sans=sans)
        data = {**self._verdict_data(judged), "pgn": pgn}
        told = _Told(judged.outcome, judged.plies)
        previous = self._standing.core() if self._standing else self._told.as_json() if self._told else None
        settled = self._standing is not None and judged.certain and self._standing.verdict.get("certain") is False
        if previous is not None and (previous != told.as_json() or settled):
            cause = cause or f"judged again from the finer source {judged.setup.source}"
            change = {**data, "previous": previous, "cause": cause}
            drafts.append(self._draft_of(event_types.VERDICT_CHANGED, change, replacing(self._standing, self.game_id)))
        drafts.append(self._draft_of(event_types.VERDICT_FINAL, data, f"final:{self.game_id}"))
        self._told = told
        if self._outbox is not None:
            self._outbox.put(drafts)
            await self._outbox.empty()

    async def refined(self, clocks_ms: Sequence[int | None]) -> Ledger:
        """The game with the thinking times that lines left out, by the clock after each ply. Raises JournalError."""
        if self._outbox is not None:
            await self._outbox.empty()
        events = [event for entry in await self._stored() if isinstance(event := entry.data.get("event"), dict)]
        return Ledger.replay(refine((decode(event) for event in events), clocks_ms))

    async def stored(self) -> None:
        """Wait until all that was taken in is stored, however long the journal cannot be written."""
        if self._outbox is not None:
            await self._outbox.empty()

    def close(self) -> None:
        """Stop the flag timer, and trying to store."""
        self._live.close()
        if self._outbox is not None:
            self._outbox.drop()

    # -- the journal ---------------------------------------------------------------------------------------------

    async def _stored(self) -> list[Entry]:
        entries: list[Entry] = []
        while True:
            page = await self._journal.read(subject=self.game_id, after=entries[-1].seq if entries else 0)
            entries += page
            if not page:
                return entries

    async def _append(self, drafts: Sequence[Draft]) -> None:
        if self._outbox is not None:
            self._outbox.put(drafts)
            await self._outbox.stored()

    def _draft(self, event: Event, data: dict[str, object]) -> Draft:
        kind = _TYPES.get(type(event), event_types.ANOMALY)
        if kind == event_types.ANOMALY:
            anomaly = self.ledger.anomalies[-1]
            data |= {"kind": anomaly.kind, "note": anomaly.note}
        return self._draft_of(kind, {**data, "event": encode(event)})

    def _draft_of(self, kind: str, data: dict[str, object], key: str | None = None) -> Draft:
        return Draft(kind, self.game_id, data, self.account, key)

    def _anomaly(self, kind: str, ply: int, note: str, key: str | None = None) -> Draft:
        return self._draft_of(event_types.ANOMALY, {"kind": kind, "ply": ply, "note": note}, key)

    # -- verdicts ------------------------------------------------------------------------------------------------

    def _newly_judged(self) -> list[Draft]:
        told = _Told.by(self.ledger)
        if told is None or told == self._told:
            return []
        self._told = told
        judged = verdict(self.ledger, final=False)
        return [self._draft_of(event_types.VERDICT_PROVISIONAL, self._verdict_data(judged))]

    def _verdict_data(self, judged: Verdict) -> dict[str, object]:
        found = verdict_object(judged, ledger=True, sans=self._known_sans(judged))
        return {"verdict": found, "text": one_line(judged)}

    def _known_sans(self, judged: Verdict) -> Sequence[str] | None:
        """Those that were stored ply by ply; None where moves were taken back, which are among them."""
        known = len(self._sans) == len(judged.moves) and list(judged.moves) == self.ledger.moves
        return self._sans if known else None

    async def _date(self) -> str:
        """The day (UTC) on which the game was first stored, as PGN has it."""
        try:
            entries = await self._journal.read(subject=self.game_id, limit=1)
        except JournalError as error:
            log.warning("date_unknown", game=self.game_id, cause=str(error))
            return UNKNOWN_DATE
        return f"{datetime.fromtimestamp(entries[0].time_ms / 1000, UTC):%Y.%m.%d}" if entries else UNKNOWN_DATE

    async def thoughts(self, side: chess.Color) -> dict[int, Evaluation | None]:
        """By ply, what our engine thought of each move of a side that stands."""
        moves = self.ledger.moves
        plies = range(1 if self.ledger.start_turn == side else 2, len(moves) + 1, 2)
        known = by_ply(await self._thoughts(), moves) if plies else {}
        return {ply: known.get(ply) for ply in plies}

    async def _evaluations(self, judged: Verdict) -> list[Evaluation]:
        """What engines of ours thought, to be told once the platform's game is over (fair play)."""
        return await self._thoughts() if judged.platform is not None else []

    async def _thoughts(self) -> list[Evaluation]:
        try:
            return [from_line(line) for line in await self._journal.thoughts(self.game_id)]
        except (JournalError, RecordError) as error:
            log.warning("evaluations_unknown", game=self.game_id, cause=str(error))
            return []

    # -- the live flag (R12) -------------------------------------------------------------------------------------

    def _flag_falls(self, side: chess.Color) -> None:
        data: dict[str, object] = {"side": chess.COLOR_NAMES[side], "cause": "thinking", "ply": self.ledger.plies}
        if self._outbox is not None:
            self._outbox.put([self._draft_of(event_types.FLAG_PROVISIONAL, data)])

    def _flag_settled(self, withdrawn: chess.Color | None) -> list[Draft]:
        if withdrawn is None:
            return []
        data: dict[str, object] = {
            "side": chess.COLOR_NAMES[withdrawn],
            "left_ms": self.ledger.clock_ms(withdrawn),
        }
        return [self._draft_of(event_types.FLAG_WITHDRAWN, data)]


@dataclass(frozen=True, slots=True)
class _Told:
    """What was last said of a game's end; clocks may differ by the source's error without being news."""

    outcome: Outcome
    plies: int

    @classmethod
    def by(cls, ledger: Ledger) -> "_Told | None":
        return None if ledger.outcome is None else cls(ledger.outcome, ledger.plies)

    def as_json(self) -> dict[str, object]:
        outcome = self.outcome
        return {
            "result": outcome.result,
            "reason": outcome.reason,
            "flag": flag_object(outcome.flag),
            "ended_at_ply": self.plies,
        }


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
