"""What is shown of one running game, folded from its events."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import chess

from bridge import event_types
from bridge.interfaces import Entry
from bridge.records.game import printable
from bridge.records.pool_told import pool_title
from bridge.sinks.ply_text import changed_text, effects_text, flag_text, move_text, withdrawn_text

_LAST_PLIES = 2


@dataclass
class GameFacts:
    """Clocks in ms; `at_ms` is when they were stored. `note` is what is unsettled or odd, `verdict` the last one told.

    `plies` holds the last moves with their effects, the newest first.
    """

    id: str
    facts: dict[str, object] = field(default_factory=dict)
    at_ms: int = 0
    plies: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_LAST_PLIES))
    note: str = ""
    verdict: str = ""
    over: bool = False
    final: bool = False

    def take(self, entry: Entry) -> None:
        """Fold one event in."""
        data = entry.data
        match entry.type:
            case event_types.GAME_STARTED | event_types.GAME_RULES | event_types.GAME_PLY | event_types.GAME_TAKEBACK:
                self._stands(entry)
                if entry.type == event_types.GAME_PLY:
                    self.plies.appendleft((move_text(data), effects_text(data)))
                elif entry.type == event_types.GAME_TAKEBACK:
                    self.plies.clear()
                    self.note = "moves taken back"
            case event_types.GAME_FINISHED:
                self._stands(entry)
                self.over = True
            case event_types.FLAG_PROVISIONAL:
                self.note = flag_text(data)
            case event_types.FLAG_WITHDRAWN:
                self.note = withdrawn_text(data)
            case event_types.ANOMALY:
                self.note = printable(str(data.get("note", "")))
            case event_types.VERDICT_PROVISIONAL | event_types.VERDICT_FINAL:
                self.verdict = str(data.get("text", ""))
                self.final = entry.type == event_types.VERDICT_FINAL
                self.note = ""
                self._judged(data)
            case event_types.VERDICT_CHANGED:
                self.verdict = changed_text(data)
                self._judged(data)

    def _stands(self, entry: Entry) -> None:
        self.facts |= entry.data
        self.at_ms = entry.time_ms
        self.note = ""

    def _judged(self, data: Mapping[str, object]) -> None:
        """The verdict's clocks are the last ones: what was thought when the game ended is charged in them (R9)."""
        verdict = data.get("verdict")
        if isinstance(verdict, Mapping):
            self.facts |= {name: verdict[name] for name in ("white_ms", "black_ms") if name in verdict}

    def clock_ms(self, side: chess.Color, now_ms: int, *, platform: bool = False) -> int | None:
        """A clock now; the side to move's runs on by the local clock, unless the source is late (R12)."""
        stored = self.facts.get(("platform_" if platform else "") + f"{chess.COLOR_NAMES[side]}_ms")
        if not isinstance(stored, int):
            return None
        return stored - max(0, now_ms - self.at_ms) if self.runs(side) else stored

    def runs(self, side: chess.Color) -> bool:
        """Whether a side's clock is seen to run: after both first moves, until either end of the game."""
        ply = self.facts.get("ply")
        running = isinstance(ply, int) and ply >= 2 and not self.over and not self.verdict
        return running and not self.facts.get("delayed") and self.board().turn == side

    def board(self) -> chess.Board:
        """The position."""
        fen = self.facts.get("fen")
        return chess.Board(str(fen), chess960=True) if fen else chess.Board()

    def player(self, side: chess.Color) -> str:
        """A player's name, fit for a terminal."""
        name = chess.COLOR_NAMES[side]
        return printable(str(self.facts.get(name) or "")) or "anonymous"

    def title(self) -> str:
        """The game's id, its pool, and how late it is seen."""
        late = " · as spectators see it, 3 plies late" if self.facts.get("delayed") else ""
        return printable(f"{self.id} · {pool_title(self.facts)}{late}")
