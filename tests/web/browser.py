"""What the tests in a real browser share: Chromium, a monitor behind a line that can be cut, a game on order."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import chess
import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright

from bridge.interfaces import GameInfo, Player
from bridge.journal import SqlJournal
from bridge.rules.pools import named
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.rules.verdict import verdict
from bridge.tracker import Tracker
from bridge.web import Monitor, StatusReport, Stream, create_monitor
from bridge.web.control import Controls

CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(path).exists()), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt install chromium")

SPY = """
window.broken = [];
addEventListener("securitypolicyviolation", (event) => broken.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        await browser.close()


@dataclass
class Reader:
    """A tab, and everything it complained of."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    async def open(self, address: str) -> None:
        await self.page.goto(address)

    async def moves(self) -> list[str]:
        """The move list of a game's page, without what each move brought."""
        return await self.page.locator("#moves button > span").all_inner_texts()

    async def await_moves(self, count: int) -> None:
        await self.page.locator("#moves button").nth(count - 1).wait_for(state="attached", timeout=60_000)

    async def violations(self) -> list[str]:
        """What the Content-Security-Policy stopped."""
        found: list[str] = await self.page.evaluate("window.broken")
        return found


async def new_reader(browser: Browser, **context: object) -> Reader:
    opened: BrowserContext = await browser.new_context(**context)  # type: ignore[arg-type]  # the browser's own options
    await opened.add_init_script(SPY)
    page = await opened.new_page()
    page.set_default_timeout(60_000)
    reader = Reader(page)

    def heard(message: ConsoleMessage) -> None:
        # A line that is cut on purpose is told by the browser too.
        if message.type in ("error", "warning") and "net::ERR" not in message.text:
            reader.complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: reader.complaints.append(str(error)))
    return reader


class Line:
    """A port that passes everything on to the monitor, until it is cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.port = 0
        self.passed: list[str] = []
        """The request lines that went through."""

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Every connection breaks off, and new ones are refused."""
        assert self._server is not None
        self._server.close()
        for writer in tuple(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers |= {writer, far_writer}
        with suppress(ConnectionError):
            await asyncio.gather(self._pass(reader, far_writer, told=True), self._pass(far_reader, writer))
        for each in (writer, far_writer):
            each.close()
        self._writers -= {writer, far_writer}

    async def _pass(self, source: asyncio.StreamReader, to: asyncio.StreamWriter, *, told: bool = False) -> None:
        try:
            while data := await source.read(65_536):
                if told and data.startswith(b"GET "):
                    self.passed.append(data.split(b"\r\n", 1)[0].decode())
                to.write(data)
                await to.drain()
        finally:
            to.close()


@dataclass
class Table:
    """A game that moves on order, written down as the program does it."""

    tracker: Tracker
    info: GameInfo
    moves: list[str] = field(default_factory=list)
    sans: list[str] = field(default_factory=list)
    board: chess.Board = field(default_factory=chess.Board)
    left_ms: dict[chess.Color, int] = field(default_factory=dict)

    async def play(self, *sans: str, think_ms: int = 700) -> None:
        for san in sans:
            side = self.board.turn
            move = self.board.parse_san(san)
            if len(self.moves) >= 2:
                self.left_ms[side] -= think_ms
            self.board.push(move)
            self.moves.append(move.uci())
            self.sans.append(san)
            await self.tracker.take(self._snapshot())

    async def take_back(self, plies: int) -> None:
        del self.moves[-plies:], self.sans[-plies:]
        for _ in range(plies):
            self.board.pop()
        await self.tracker.take(self._snapshot())

    async def end(self, status: str, winner: chess.Color | None) -> None:
        await self.tracker.take(self._snapshot(status, winner))
        await self.tracker.conclude(verdict(self.tracker.ledger, final=True))

    def _snapshot(self, status: str = "started", winner: chess.Color | None = None) -> Snapshot:
        return Snapshot(
            tuple(self.moves), status, winner, white_ms=self.left_ms[True], black_ms=self.left_ms[False], at_ms=0
        )


@dataclass
class Place:
    """A journal with its monitor and the line to it."""

    journal: SqlJournal
    line: Line

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.line.port}/"

    async def table(
        self,
        game_id: str = "game0001",
        white: str = "Anna",
        black: str = "Bert",
        *,
        pool: str = "ratchet",
        fen: str | None = None,
        seat: str = "",
    ) -> Table:
        control = TimeControl(480_000, 0)
        info = GameInfo(
            game_id,
            Player(white.lower(), white),
            Player(black.lower(), black),
            time_control=control,
            start_fen=fen,
            url=f"https://lichess.org/{game_id}",
        )
        tracker = Tracker(game_id, "Anna", self.journal, lambda: 0)
        await tracker.open(info, named(pool), source="stream", precision_ms=10, seat=seat)
        board = chess.Board(fen) if fen else chess.Board()
        return Table(tracker, info, board=board, left_ms={chess.WHITE: 480_000, chess.BLACK: 480_000})


@asynccontextmanager
async def place(
    streams: Sequence[Stream] = (Stream("Anna", True),), *, controls: Controls | None = None, token: str | None = None
) -> AsyncIterator[Place]:
    """A monitor over an empty journal in memory."""
    report = StatusReport("0", 0, ready=True, streams=tuple(streams))
    async with SqlJournal("sqlite://") as journal:
        monitor = Monitor("127.0.0.1:0", token)
        await monitor.start(create_monitor(journal, lambda: report, controls=controls))
        line = Line(monitor.port)
        await line.open()
        try:
            yield Place(journal, line)
        finally:
            await line.cut()
            await monitor.stop()
