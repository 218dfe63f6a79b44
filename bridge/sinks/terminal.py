"""A live picture of the running games: boards, KiriChess clocks beside the platform's, the gap, the last effects."""

import sys
from collections.abc import Callable

import chess
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bridge import event_types
from bridge.clocks import wall_ms
from bridge.interfaces import Entry
from bridge.rules.clock_text import clock_text
from bridge.sinks.game_facts import GameFacts
from bridge.sinks.ply_text import gap_text

_FRAMES_A_SECOND = 8
_WIDTH, _HEIGHT = 60, 12
"""Of one game on the screen, its frame included; fixed, so that nothing jumps."""
_NAME_CELLS = 14
_LOW_MS = 10_000
_FIGURES = dict(zip("PNBRQKpnbrqk", "♙♘♗♖♕♔♟♞♝♜♛♚", strict=True))


class LiveView:
    """Running games, redrawn while the clocks run. Final verdicts are printed above, so that they stay to be read."""

    name = "terminal"

    def __init__(self, console: Console, now_ms: Callable[[], int] = wall_ms) -> None:
        self._console = console
        self._now_ms = now_ms
        self._games: dict[str, GameFacts] = {}
        self._live = Live(
            console=console,
            get_renderable=self.picture,
            refresh_per_second=_FRAMES_A_SECOND,
            redirect_stdout=False,
            # Log lines must go above the picture, not through it; into a file they go by themselves.
            redirect_stderr=sys.stderr.isatty(),
        )
        self._started = False

    async def write(self, entry: Entry) -> None:
        """Fold one event into the picture."""
        if not entry.type.startswith(("kirichess.game.", "kirichess.verdict.", "kirichess.flag.", "kirichess.anomaly")):
            return
        if not self._started:
            self._live.start()
            self._started = True
        if entry.type == event_types.GAME_STARTED:
            # A finished game stays until another one needs its place.
            self._games = {key: game for key, game in self._games.items() if not game.final}
        game = self._games.setdefault(entry.subject, GameFacts(entry.subject))
        game.take(entry)
        if entry.type == event_types.VERDICT_FINAL:
            players = f"{game.player(chess.WHITE)} – {game.player(chess.BLACK)}"
            self._console.print(Text(f"{game.id}  {players}  {game.verdict}", style="bold"))

    async def close(self) -> None:
        """Leave the last picture on the screen."""
        if self._started:
            self._started = False
            self._live.stop()

    def picture(self) -> RenderableType:
        """What stands on the screen now."""
        games = list(self._games.values())
        width, height = self._console.size
        across, down = max(1, width // _WIDTH), max(1, (height - 2) // _HEIGHT)
        shown = games[: across * down]
        boards = Columns([_panel(game, self._now_ms(), min(width, _WIDTH)) for game in shown], padding=0)
        more = len(games) - len(shown)
        # Whatever a terminal writes by itself, the ^C that was typed say, falls on the last line: not on a frame.
        return Group(boards, Text(f"and {more} more" if more else ""))


def _panel(game: GameFacts, now_ms: int, width: int) -> Panel:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, width=18)
    table.add_column(width=max(10, width - 24))
    table.add_row(_board(game), _beside(game, now_ms))
    title = Text(game.title(), overflow="ellipsis", no_wrap=True)
    return Panel(table, title=title, width=width, height=_HEIGHT)


def _beside(game: GameFacts, now_ms: int) -> RenderableType:
    clocks = Table.grid(padding=(0, 1))
    clocks.add_row("", "", Text("KiriChess", style="dim"), Text("platform", style="dim"))
    for side in (chess.BLACK, chess.WHITE):
        clocks.add_row(*_clock_row(game, side, now_ms))
    white, black = game.clock_ms(chess.WHITE, now_ms), game.clock_ms(chess.BLACK, now_ms)
    gap = gap_text(white, black) if white is not None and black is not None else "unknown"
    lines = [Text(f"clock gap: {gap}")]
    if game.verdict:
        lines.append(Text(game.verdict, style="bold"))
    if game.note:
        lines.append(Text(game.note, style="yellow"))
    for number, (move, effects) in enumerate(game.plies):
        ply = Text(move, style="bold" if not number else "dim bold")
        lines.append(ply.append(f"  {effects}", style="not bold" if not number else "dim not bold"))
    return Group(clocks, *lines)


def _clock_row(game: GameFacts, side: chess.Color, now_ms: int) -> list[Text]:
    to_move = not game.over and game.board().turn == side
    name = Text(game.player(side), no_wrap=True)
    name.truncate(_NAME_CELLS, overflow="ellipsis", pad=True)
    kiri, platform = game.clock_ms(side, now_ms), game.clock_ms(side, now_ms, platform=True)
    low = kiri is not None and kiri < _LOW_MS
    return [
        Text(f"{'▸' if to_move else ' '}{'○' if side else '●'}", style="bold"),
        name,
        Text(clock_text(kiri) if kiri is not None else "–", style="bold red" if low else "bold", justify="right"),
        Text(clock_text(max(0, platform)) if platform is not None else "–", style="dim", justify="right"),
    ]


def _board(game: GameFacts) -> Text:
    """White below, with ranks and files; the last move's squares are marked."""
    board, uci = game.board(), str(game.facts.get("uci") or "")
    marked = {uci[:2], uci[2:4]} if game.plies else set()
    text = Text()
    for rank in range(7, -1, -1):
        text.append(f"{rank + 1} ", style="dim")
        for file in range(8):
            square = chess.square(file, rank)
            piece = board.piece_at(square)
            light = (file + rank) % 2
            ground = ("khaki3" if light else "dark_khaki") if chess.square_name(square) in marked else ""
            ground = ground or ("grey66" if light else "dark_green")
            figure = _FIGURES[piece.symbol()] if piece else " "
            colour = "bright_white" if piece and piece.color else "black"
            text.append(f"{figure} ", style=f"bold {colour} on {ground}")
        text.append("\n")
    return text.append("  a b c d e f g h", style="dim")
