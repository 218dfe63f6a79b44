"""A table: one bot run by the daemon against an opponent that the test moves, on an arena that breaks on order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import chess
import pytest

import bridge.daemon
from bridge import event_types
from bridge.arena import Account, Arena, ArenaSettings, RequestLine, lines
from bridge.arena import offers as arena_offers
from bridge.arena import referee as arena_referee
from bridge.arena.game import Game
from bridge.daemon import Daemon
from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec
from bridge.errors import EngineError
from bridge.interfaces import Choice, Engine, Entry, Limit
from bridge.platforms.lichess.timings import Timings
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup, Snapshot, TimeControl
from bridge.rules.verdict import Verdict, judge
from bridge.settings.models import Settings

QUICK = Timings(
    connect_s=1.0,
    silence_s=1.0,
    reopen_s=0.02,
    release_s=0.003,
    backoff_s=(0.02, 0.1),
    believed_after=3,
    rate_limit_s=0.3,
    move_s=1.0,
    request_s=1.0,
    move_retry_s=(0.02, 0.1),
    move_holds_s=(0.1, 0.2),
)
"""The adapter's own figures, some ten times faster."""

PATIENCE_S = 30.0
"""For what must happen, however busy the machine is; when it matters, a test says so."""

_ARCHIVE_MS = 40
"""How far the archive's clocks may be from those on the lines."""

_OPENING = """
e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5
a4b3 d7d6 c2c3 e8g8 h2h3 c8b7 d2d4 f8e8 b1d2 e7f8
"""
LINE = tuple(_OPENING.split())
"""What both sides play, unless a test wants something else."""

Behaviour: TypeAlias = Callable[[Ledger, Limit], Awaitable[Choice]]


async def dies(ledger: Ledger, limit: Limit) -> Choice:
    raise EngineError("the engine died")


async def breaks(ledger: Ledger, limit: Limit) -> Choice:
    raise RuntimeError("a fault nobody thought of")


async def hangs(ledger: Ledger, limit: Limit) -> Choice:
    await asyncio.sleep(limit.deadline_ms / 1000)
    raise EngineError("silent past its deadline")


@dataclass
class FakeEngine:
    """Plays LINE where it can; before that, one after the other, what it is told to do. Kept over restarts."""

    moves: Sequence[str] = LINE
    delay_s: float = 0.0
    score_cp: int | None = None
    next: list[Behaviour] = field(default_factory=list)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    starts: int = 0
    closes: int = 0
    thinking: int = 0
    fails_to_start: bool = False

    async def start(self) -> None:
        self.starts += 1
        if self.fails_to_start:
            raise EngineError("no such engine")

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        self.asked.append(tuple(ledger.moves))
        self.limits.append(limit)
        self.thinking += 1
        try:
            if self.next:
                return await self.next.pop(0)(ledger, limit)
            await asyncio.sleep(self.delay_s)
            return Choice(self.choice(ledger), score_cp=self.score_cp)
        finally:
            self.thinking -= 1

    def choice(self, ledger: Ledger) -> str:
        at = len(ledger.moves)
        legal = sorted(move.uci() for move in ledger.board.legal_moves)
        return self.moves[at] if at < len(self.moves) and self.moves[at] in legal else legal[0]

    async def close(self) -> None:
        self.closes += 1


@dataclass
class Recorder:
    """A sink that keeps what it is given."""

    name: str = "recorder"
    entries: list[Entry] = field(default_factory=list)

    async def write(self, entry: Entry) -> None:
        self.entries.append(entry)

    async def close(self) -> None:
        pass

    def of(self, kind: str, subject: str = "") -> list[Entry]:
        return [entry for entry in self.entries if entry.type == kind and subject in ("", entry.subject)]


async def until(so: Callable[[], object], patience_s: float = PATIENCE_S, what: str = "") -> None:
    """Wait until something is so."""
    try:
        async with asyncio.timeout(patience_s):
            while not so():
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"not within {patience_s} s: {what or so}") from None


class Table:
    """One arena with the bot Kiri and people; the daemon may be stopped and run again on the same journal."""

    QUICK, LINE, PATIENCE_S = QUICK, LINE, PATIENCE_S
    dies, breaks, hangs = staticmethod(dies), staticmethod(breaks), staticmethod(hangs)
    until = staticmethod(until)

    def __init__(self, arena: Arena, journal: Path, engine: FakeEngine, requests: list[RequestLine]) -> None:
        self.arena = arena
        self.faults = arena.faults
        self.journal = journal
        self.engine = engine
        self.requests = requests
        self.recorder = Recorder()
        self.daemon: Daemon | None = None
        self._work: asyncio.Task[None] | None = None

    # -- the daemon ----------------------------------------------------------------------------------------------

    async def run(
        self,
        *,
        timings: Timings = QUICK,
        program: dict[str, object] | None = None,
        more: dict[str, object] | None = None,
        **play: object,
    ) -> None:
        """Start the daemon; returns once its event stream is open. `program`: a UCI engine instead of the fake one;
        `more`: other sections of the configuration."""
        account = {"platform": "lichess", "url": self.arena.url, "token": "tokenKiri", "play": self.settings(**play)}
        settings = {
            "accounts": [account],
            "engines": {"fake": {"kind": "uci", **program} if program else {"kind": "random"}},
            "journal": {"url": f"sqlite:///{self.journal}"},
            **(more or {}),
        }
        self.daemon = Daemon(Settings.model_validate(settings), sinks=[self.recorder], timings=timings)
        self._work = asyncio.create_task(self.daemon.run())
        await until(lambda: self._failed() or self.listening, what="the daemon listens")
        # The daemon tries its engines when it starts.
        self.engine.starts = self.engine.closes = 0

    def settings(self, **play: object) -> dict[str, object]:
        return {"engine": "fake", "pool": "anchor", "move_overhead": 20, "concurrency": 4, "greeting": False, **play}

    def _failed(self) -> bool:
        if self._work is not None and self._work.done():
            self._work.result()
        return False

    @property
    def listening(self) -> bool:
        return any(stream.name.kind == "event" for stream in self.arena.hall.audience.open)

    @property
    def openings(self) -> int:
        """How often the event stream was opened."""
        return sum(line.path == "/api/stream/event" and line.status == 200 for line in self.requests)

    async def lose_events(self, fault: str) -> None:
        """The event stream ends, breaks (drop) or falls silent, and is opened again."""
        before = self.openings
        getattr(self.faults, fault)("event")
        await until(lambda: self.openings > before, what="the event stream is opened again")

    async def kill(self) -> None:
        """As abruptly as a task can be ended; nothing is said or finished."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await until(lambda: not self.listening, what="the arena saw the daemon go")

    # -- a game --------------------------------------------------------------------------------------------------

    def pair(self, *, bot_is_white: bool = False, limit_s: int = 540, **more: Any) -> Game:
        white, black = ("Kiri", "Human") if bot_is_white else ("Human", "Kiri")
        return self.arena.games[self.arena.pair(white, black, limit_s, **more)]

    def move(self, game: Game, uci: str) -> None:
        """The opponent's move."""
        self.arena.hall.move(game, game.turn, uci)

    async def play(self, game: Game, plies: int, patience_s: float = PATIENCE_S) -> None:
        """Both sides play LINE until so many plies stand on the board."""
        while game.plies < plies:
            if game.seat(game.turn).name == "Human":
                self.move(game, LINE[game.plies])
            else:
                at = game.plies
                await until(lambda at=at: game.plies > at, patience_s, f"the bot's move after {game.moves}")  # type: ignore[misc]

    async def silence_in_thought(self, game: Game, think_s: float = 0.2) -> None:
        """The opponent moves; while we think about the answer the game's stream falls silent."""
        self.engine.delay_s = think_s
        self.move(game, LINE[game.plies])
        await until(lambda: self.engine.thinking == 1)
        self.faults.silence("game", game.id)

    async def settled(self, game: Game) -> None:
        """Returns once the daemon reads the game and has stored every ply of it."""
        kinds = ("game", game.id)
        streams = self.arena.hall.audience.open
        await until(lambda: any((stream.name.kind, stream.name.topic) == kinds for stream in streams))
        await until(lambda: self.plies(game) == game.moves, what="every ply is stored")

    def tell(self, game: Game) -> None:
        """The state of the game once more."""
        hall = self.arena.hall
        hall.audience.to_players(game, lines.game_state(game, hall.game_now_ms(game)))

    def set_clock(self, game: Game, left_ms: int) -> None:
        """The bot's platform clock jumps, as after a restart of the server."""
        bot = game.color_of("kiri")
        assert game.clock is not None and bot is not None
        game.clock = game.clock.read(bot, left_ms // 10)
        self.tell(game)

    def spend(self, game: Game, ms: int) -> None:
        """The side to move has been thinking for so long."""
        assert game.clock is not None and game.clock.since_ms is not None
        game.clock = replace(game.clock, since_ms=game.clock.since_ms - ms)

    def propose_takeback(self, game: Game) -> None:
        """The opponent asks for its last move back."""
        human = game.color_of("human")
        assert human is not None
        hall = self.arena.hall
        hall.happen(game, arena_offers.takeback_yes(game, human, hall.game_now_ms(game)))

    def take_back(self, game: Game) -> None:
        """The opponent's last move is undone, as if we had agreed: one ply on its opponent's turn, two on its own."""
        self.propose_takeback(game)
        bot = game.color_of("kiri")
        assert bot is not None
        hall = self.arena.hall
        hall.happen(game, arena_offers.takeback_yes(game, bot, hall.game_now_ms(game)))

    async def resign(self, game: Game) -> None:
        """The opponent resigns; returns once the verdict is told."""
        hall = self.arena.hall
        human = game.color_of("human")
        assert human is not None
        hall.happen(game, arena_referee.resign(game, human, hall.game_now_ms(game)))
        await self.final(game)

    async def final(self, game: Game, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """The final verdict of a game."""
        await until(lambda: self.recorder.of(event_types.VERDICT_FINAL, game.id), patience_s, "a final verdict")
        entries = self.recorder.of(event_types.VERDICT_FINAL, game.id)
        assert len(entries) == 1
        verdict: dict[str, Any] = entries[0].data["verdict"]  # type: ignore[assignment]
        return verdict

    # -- what came of it -----------------------------------------------------------------------------------------

    def asked(self, path: str) -> list[RequestLine]:
        """The POST requests whose path holds this."""
        return [line for line in self.requests if line.method == "POST" and path in line.path]

    def plies(self, game: Game) -> list[str]:
        """The moves as they stand in the journal."""
        return [str(entry.data["uci"]) for entry in self.recorder.of(event_types.GAME_PLY, game.id)]

    def said(self, game: Game, room: str = "player") -> list[str]:
        """Our lines in the arena's chat."""
        return [str(line["text"]) for line in self.arena.hall.chats[game.id, room] if line["user"] == "Kiri"]

    def numbers(self) -> list[int]:
        return [entry.seq for entry in self.recorder.entries]

    def undisturbed(self, game: Game, pool: str = "anchor") -> Verdict:
        """The verdict of the same game, had every line been read at once: from the arena's own clocks."""
        assert game.clock is not None
        control = TimeControl(1000 * game.clock.control.limit_s, 1000 * game.clock.control.increment_s)
        setup = Setup(game.id, named(pool), "stream", 10, time_control=control, free_first_moves=True)
        ends = (10 * game.clock.hand(chess.WHITE).remaining_cs, 10 * game.clock.hand(chess.BLACK).remaining_cs)
        clocks = [10 * cs for cs in game.clocks_cs]
        return judge(setup, Snapshot(tuple(game.moves), game.status.key, game.winner, *ends, clocks_ms=clocks))

    async def check_undisturbed(self, game: Game) -> None:
        """Nothing lost, nothing doubled, and the verdict that an undisturbed game has.

        Plies that came several in a line have their clocks from the archive (R14), as near as that is.
        """
        live = await self.final(game)
        error_ms = _ARCHIVE_MS if any("/game/export/" in line.path for line in self.requests) else 0
        expected = self.undisturbed(game)
        assert live["platform_plies"] == game.plies
        assert (live["result"], live["reason"]) == (expected.outcome.result, expected.outcome.reason)
        assert abs(live["white_ms"] - expected.white_ms) <= error_ms
        assert abs(live["black_ms"] - expected.black_ms) <= error_ms
        assert live["certain"], [(row["ply"], row["think_ms"]) for row in live["ledger"]]
        assert self.plies(game) == game.moves
        assert self.numbers() == list(range(1, len(self.recorder.entries) + 1))


OpenTable: TypeAlias = Callable[..., AbstractAsyncContextManager[Table]]


@pytest.fixture
def open_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenTable:
    """`async with open_table(keep_alive_s=…) as table`: arena settings."""
    engine = FakeEngine()

    def build(spec: EngineSpec) -> Engine:
        return engine if spec.kind == "random" else build_engine(spec)

    monkeypatch.setattr(bridge.daemon, "build_engine", build)

    @asynccontextmanager
    async def start(**settings: Any) -> AsyncIterator[Table]:
        requests: list[RequestLine] = []
        figures = {"keep_alive_s": 0.2, "flag_check_s": 0.5, "board_min_speed": "ultraBullet", **settings}
        people = [Account("Human", "tokenHuman"), Account("Visitor", "tokenVisitor")]
        bots = [Account("Kiri", "tokenKiri", title="BOT"), Account("Robot", "tokenRobot", title="BOT")]
        async with Arena([*bots, *people], ArenaSettings(**figures), request_log=requests) as arena:
            table = Table(arena, tmp_path / "journal.db", engine, requests)
            try:
                yield table
            finally:
                await table.kill()

    return start


@pytest.fixture
async def table(open_table: OpenTable) -> AsyncIterator[Table]:
    async with open_table() as opened:
        yield opened
