"""Games in the terminal: a live picture on a terminal, one line an event elsewhere."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import chess
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bridge import event_types
from bridge.interfaces import Entry
from bridge.rules.clock_text import clock_text

_SHOWN_GAMES = 4
_FRAMES_A_SECOND = 8
_FIGURES = {"P": "♟", "N": "♞", "B": "♝", "R": "♜", "Q": "♛", "K": "♚"}


@dataclass
class GameFacts:
    """What is shown of one game, folded from its events. Clocks in ms; `at_ms` is when they were stored."""

    id: str
    facts: dict[str, object] = field(default_factory=dict)
    at_ms: int = 0
    verdict: str = ""
    note: str = ""

    def take(self, entry: Entry) -> None:
        """Fold one event in."""
        match entry.type:
            case event_types.GAME_STARTED | event_types.GAME_PLY | event_types.GAME_TAKEBACK:
                self.facts |= entry.data
                self.at_ms = entry.time_ms
                self.note = ""
            case event_types.FLAG_PROVISIONAL:
                self.note = f"{str(entry.data.get('side', '')).title()}'s flag seems to have fallen (provisional)"
            case event_types.FLAG_WITHDRAWN:
                self.note = "the provisional flag is withdrawn"
            case event_types.VERDICT_PROVISIONAL | event_types.VERDICT_CHANGED | event_types.VERDICT_FINAL:
                self.verdict = str(entry.data.get("text", ""))

    def clock_ms(self, side: chess.Color, now_ms: int, *, platform: bool = False) -> int | None:
        """A clock now; the side to move's runs on by the local clock after both first moves."""
        name = ("platform_" if platform else "") + f"{chess.COLOR_NAMES[side]}_ms"
        stored = self.facts.get(name)
        if not isinstance(stored, int):
            return None
        ply = self.facts.get("ply")
        runs = isinstance(ply, int) and ply >= 2 and not self.verdict and self.board().turn == side
        return stored - (now_ms - self.at_ms) if runs else stored

    def board(self) -> chess.Board:
        """The position."""
        fen = self.facts.get("fen")
        return chess.Board(str(fen), chess960=True) if fen else chess.Board()


def effects_text(facts: Mapping[str, object]) -> str:
    """What a ply did to the clocks and why: `capture n +10 −10 s, toll 2 s, check chip 2 s`."""
    if facts.get("guarded"):
        return "guarded: nothing is charged in a repeated position"
    parts = []
    capture = facts.get("capture")
    if isinstance(capture, Mapping):
        parts.append(f"capture {capture['piece']} +{_s(capture['gain_ms'])} −{_s(capture['loss_ms'])} s")
    for name, text in (("toll_ms", "toll"), ("fee_ms", "promotion fee"), ("chip_ms", "check chip")):
        amount = facts.get(name)
        if isinstance(amount, int) and amount:
            parts.append(f"{text} {_s(amount)} s")
    return ", ".join(parts)


def _s(ms: object) -> str:
    return f"{ms / 1000:g}" if isinstance(ms, int) else "?"


class PlainLines:
    """One line an event, for files and pipes."""

    name = "terminal"

    def __init__(self, console: Console) -> None:
        self._console = console
        self._games: dict[str, GameFacts] = {}

    async def write(self, entry: Entry) -> None:
        """Print what the event means, if a person would want to read it."""
        line = self._line(entry)
        if line:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _line(self, entry: Entry) -> str:
        data = entry.data
        match entry.type:
            case event_types.GAME_STARTED:
                return f"{entry.subject} {data.get('white')} – {data.get('black')}: started"
            case event_types.GAME_PLY:
                effects = effects_text(data) if data.get("counted") else "after the KiriChess end"
                return f"{entry.subject} {_move_number(data)}{data.get('san')}  {_clocks(data)}  {effects}"
            case event_types.GAME_TAKEBACK:
                return f"{entry.subject} moves taken back  {_clocks(data)}"
            case event_types.FLAG_PROVISIONAL:
                return f"{entry.subject} {str(data.get('side')).title()}'s flag seems to have fallen (provisional)"
            case event_types.FLAG_WITHDRAWN:
                return f"{entry.subject} the provisional flag is withdrawn"
            case event_types.VERDICT_PROVISIONAL | event_types.VERDICT_CHANGED | event_types.VERDICT_FINAL:
                return f"{entry.subject} {entry.type.rsplit('.', 1)[1]} verdict: {data.get('text')}"
            case event_types.ANOMALY:
                return f"{entry.subject} anomaly: {data.get('note')}"
            case event_types.ENGINE_FAILED:
                return f"{entry.subject} engine failed: {data.get('cause')}"
            case event_types.ACCOUNT_ONLINE | event_types.ACCOUNT_OFFLINE:
                why = f" ({data['reason']})" if data.get("reason") else ""
                return f"{entry.account} is {entry.type.rsplit('.', 1)[1]}{why}"
            case event_types.CHALLENGE_ACCEPTED:
                return f"{entry.subject} challenge accepted, pool {data.get('pool')}"
            case event_types.CHALLENGE_DECLINED:
                return f"{entry.subject} challenge declined: {data.get('reason')}"
        return ""


def _move_number(data: Mapping[str, object]) -> str:
    ply = data.get("ply")
    number = (ply + 1) // 2 if isinstance(ply, int) else 0
    return f"{number}. " if data.get("side") == "white" else f"{number}… "


def _clocks(data: Mapping[str, object]) -> str:
    white, black = data.get("white_ms"), data.get("black_ms")
    if not isinstance(white, int) or not isinstance(black, int):
        return ""
    return f"White {clock_text(white)} Black {clock_text(black)} gap {clock_text(white - black)}"


class LiveView:
    """Running games as boards with both clocks, redrawn while the clocks run."""

    name = "terminal"

    def __init__(self, console: Console, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._console = console
        self._now_ms = now_ms
        self._games: dict[str, GameFacts] = {}
        self._live = Live(
            console=console,
            get_renderable=self.picture,
            refresh_per_second=_FRAMES_A_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._started = False

    async def write(self, entry: Entry) -> None:
        """Fold one event into the picture; a verdict is printed above it, so that it stays to be read."""
        if not self._started:
            self._live.start()
            self._started = True
        if not entry.subject or entry.type.startswith("kirichess.challenge"):
            return
        game = self._games.setdefault(entry.subject, GameFacts(entry.subject))
        game.take(entry)
        if entry.type == event_types.VERDICT_FINAL:
            self._console.print(Text(f"{entry.subject}  {game.verdict}", style="bold"))
            self._games.pop(entry.subject)

    async def close(self) -> None:
        """Leave the last picture on the screen."""
        if self._started:
            self._live.stop()

    def picture(self) -> RenderableType:
        """What stands on the screen now."""
        shown = list(self._games.values())[:_SHOWN_GAMES]
        more = len(self._games) - len(shown)
        boards = Columns([_panel(game, self._now_ms()) for game in shown])
        return Group(boards, Text(f"and {more} more games")) if more > 0 else boards


def _panel(game: GameFacts, now_ms: int) -> Panel:
    facts = game.facts
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column()
    table.add_row(_board(game.board()), _side_panel(game, now_ms))
    pool = str(facts.get("pool") or "custom").title()
    return Panel(table, title=f"{game.id} · {pool}", expand=False)


def _side_panel(game: GameFacts, now_ms: int) -> RenderableType:
    clocks = Table.grid(padding=(0, 2))
    clocks.add_row("", Text("KiriChess", style="dim"), Text("platform", style="dim"))
    for side in (chess.BLACK, chess.WHITE):
        name = chess.COLOR_NAMES[side]
        kiri, platform = game.clock_ms(side, now_ms), game.clock_ms(side, now_ms, platform=True)
        clocks.add_row(
            Text(str(game.facts.get(name) or name.title())),
            Text(clock_text(kiri) if kiri is not None else "–", style="bold red" if (kiri or 0) < 10_000 else "bold"),
            Text(clock_text(max(0, platform)) if platform is not None else "–", style="dim"),
        )
    white, black = game.clock_ms(chess.WHITE, now_ms), game.clock_ms(chess.BLACK, now_ms)
    gap = clock_text(white - black) if white is not None and black is not None else "–"
    last = f"{_move_number(game.facts)}{game.facts['san']}" if "san" in game.facts else ""
    lines = [Text(f"gap {gap}"), Text(last, style="bold"), Text(effects_text(game.facts))]
    if game.note:
        lines.append(Text(game.note, style="yellow"))
    if game.verdict:
        lines.append(Text(game.verdict, style="bold"))
    return Group(clocks, Text(), *lines)


def _board(board: chess.Board) -> Text:
    text = Text()
    for rank in range(7, -1, -1):
        for file in range(8):
            piece = board.piece_at(chess.square(file, rank))
            dark = (file + rank) % 2 == 0
            figure = _FIGURES[piece.symbol().upper()] if piece else " "
            colour = "bright_white" if piece is None or piece.color else "black"
            text.append(f"{figure} ", style=f"bold {colour} on {'dark_green' if dark else 'grey58'}")
        text.append("\n")
    return text
