"""What every engine keeps to, whatever it is made of."""

import asyncio
import shutil
import statistics
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import chess
import pytest

from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec
from bridge.errors import EngineError
from bridge.interfaces import Engine, Limit
from bridge.rules.events import Moved
from bridge.rules.ledger import Ledger
from bridge.rules.position import read_move

TEMPLATE = Path(__file__).parents[2] / "config" / "engine_plugin.py"
SPECS = {
    "kiri": EngineSpec("kiri", seed=1),
    "random": EngineSpec("random", seed=1),
    "plugin": EngineSpec("python", plugin=f"{TEMPLATE}:GreedyEngine", options={"captures": True}),
    "stockfish": EngineSpec("uci", "stockfish", {"Hash": 16, "Threads": 1}),
    "gnuchess": EngineSpec("xboard", "gnuchess", args=("--xboard",)),
    "fairy-stockfish": EngineSpec("xboard", "fairy-stockfish"),
}
CHESS960 = ("kiri", "random", "plugin", "stockfish")
STRONG = ("kiri", "stockfish", "gnuchess", "fairy-stockfish")


class Game(Protocol):
    def __call__(
        self,
        fen: str | None = None,
        moves: str = "",
        *,
        chess960: bool = False,
        pool: str = "anchor",
        game_id: str = "",
    ) -> Ledger: ...


Limits = Callable[..., Limit]


def spec_or_skip(name: str) -> EngineSpec:
    spec = SPECS[name]
    if spec.path and shutil.which(spec.path, path="/usr/games:/usr/local/games:/usr/bin:/usr/local/bin") is None:
        pytest.skip(f"{spec.path} is not installed")
    return spec


@pytest.fixture(params=SPECS)
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    made = build_engine(spec_or_skip(request.param))
    await made.start()
    yield made
    await made.close()


@pytest.fixture(params=CHESS960)
async def engine960(request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    made = build_engine(spec_or_skip(request.param))
    await made.start()
    yield made
    await made.close()


@pytest.fixture(params=STRONG)
async def strong(request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, Engine]]:
    made = build_engine(spec_or_skip(request.param))
    await made.start()
    yield request.param, made
    await made.close()


POSITIONS = {
    "start": (None, ""),
    "black": (None, "e2e4"),
    "castled": (None, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 f1e1 e8g8"),
    "castled as the rook is taken": (None, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1 g8f6 g1h1 h7h6 f1g1"),
    "set position": ("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 b - - 0 1", "a7a5 a2a4"),
    "promotion": ("8/4P1k1/8/8/8/8/6K1/8 w - - 0 1", ""),
    "en passant": ("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "e2e4"),
    "only move": ("7k/5Q2/7B/8/8/8/8/K7 w - - 0 1", "h6g7"),
    "check": ("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", ""),
}


@pytest.mark.parametrize("position", POSITIONS)
async def test_a_legal_move_and_an_untouched_ledger(engine: Engine, game: Game, limit: Limits, position: str) -> None:
    ledger = game(*POSITIONS[position])
    before = (ledger.board.fen(), list(ledger.moves), ledger.white_ms, ledger.black_ms, len(ledger.rows))
    choice = await engine.think(ledger, limit(500))
    assert (ledger.board.fen(), list(ledger.moves), ledger.white_ms, ledger.black_ms, len(ledger.rows)) == before
    ledger.apply(Moved(choice.uci, 0))


async def test_a_whole_chess960_opening(engine960: Engine, game: Game, limit: Limits) -> None:
    ledger = game("nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1", chess960=True)
    for _ in range(6):
        choice = await engine960.think(ledger, limit(300))
        ledger.apply(Moved(choice.uci, 0))
    assert len(ledger.moves) == 6


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("k7/2p5/8/8/8/8/6R1/5KR1 w K - 0 1", "f1g1"),
        ("7k/3p4/8/8/8/8/8/RK6 w Q - 0 1", "b1a1 h8g8"),
    ],
)
async def test_a_game_goes_on_after_chess960_castling(
    engine960: Engine, game: Game, limit: Limits, fen: str, moves: str
) -> None:
    ledger = game(fen, moves, chess960=True)
    choice = await engine960.think(ledger, limit(300))
    assert read_move(ledger.board, choice.uci)


@pytest.mark.parametrize(
    ("fen", "mate", "chess960"),
    [
        ("8/5p2/8/8/8/8/6R1/1k2K2R w K - 0 1", "e1g1", False),
        ("8/8/8/5B2/5p2/7p/R1R5/R3K1k1 w Q - 0 1", "e1c1", False),
        ("8/2p5/2B4N/8/8/8/6R1/k4KR1 w K - 0 1", "f1g1", True),
        ("4R3/3p4/3k4/8/p1R5/6N1/8/RK6 w Q - 0 1", "b1a1", True),
    ],
)
async def test_castling_that_mates_is_found_and_spelled_as_the_game_spells_it(
    strong: tuple[str, Engine], game: Game, limit: Limits, fen: str, mate: str, chess960: bool
) -> None:
    name, engine = strong
    if chess960 and name == "gnuchess":
        pytest.skip("GNU Chess knows no chess960")
    choice = await engine.think(game(fen, chess960=chess960), limit(3_000))
    assert choice.uci == mate


async def test_mate_by_promotion_is_found(strong: tuple[str, Engine], game: Game, limit: Limits) -> None:
    choice = await strong[1].think(game("7k/4P1pp/8/8/8/8/8/4K3 w - - 0 1"), limit())
    assert choice.uci in ("e7e8q", "e7e8r")


@pytest.mark.parametrize("clock_ms", [1, 30])
async def test_nearly_no_time(engine: Engine, game: Game, limit: Limits, clock_ms: int) -> None:
    ledger = game(None, "e2e4 e7e5")
    choice = await engine.think(ledger, limit(clock_ms, 2_000))
    assert read_move(ledger.board, choice.uci)


async def test_the_deadline_holds_however_much_time_there_is(engine: Engine, game: Game, limit: Limits) -> None:
    ledger = game()
    began = time.monotonic()
    choice = await engine.think(ledger, limit(10_000_000, 800))
    assert time.monotonic() - began < 5
    assert read_move(ledger.board, choice.uci)


async def test_a_cancelled_search_leaves_the_engine_usable(engine: Engine, game: Game, limit: Limits) -> None:
    ledger = game(None, "d2d4")
    for pause_s in (0, 0.01, 0.1):
        search = asyncio.ensure_future(engine.think(ledger, limit(10_000_000, 60_000)))
        await asyncio.sleep(pause_s)
        search.cancel()
        began = time.monotonic()
        await asyncio.wait({search})
        assert time.monotonic() - began < 5
    choice = await engine.think(game(None, "e2e4"), limit(500))
    assert read_move(game(None, "e2e4").board, choice.uci)


async def test_a_search_that_takes_the_place_of_another(engine: Engine, game: Game, limit: Limits) -> None:
    unwanted = asyncio.ensure_future(engine.think(game(None, "d2d4"), limit(10_000_000, 60_000)))
    await asyncio.sleep(0.05)
    unwanted.cancel()
    choice = await engine.think(game(None, "e2e4 e7e5"), limit(500))
    assert read_move(game(None, "e2e4 e7e5").board, choice.uci)
    await asyncio.wait({unwanted})


async def test_started_again_after_close(engine: Engine, game: Game, limit: Limits) -> None:
    await engine.start()
    await engine.close()
    await engine.close()
    await engine.start()
    assert (await engine.think(game(), limit(300))).uci


async def test_a_finished_game_is_an_error_and_not_a_move(engine: Engine, game: Game, limit: Limits) -> None:
    with pytest.raises(EngineError, match="no legal move"):
        await engine.think(game(None, "f2f3 e7e5 g2g4 d8h4"), limit())


async def test_the_loop_stays_free_while_an_engine_thinks(engine: Engine, game: Game, limit: Limits) -> None:
    ledger = game(None, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5")
    search = asyncio.ensure_future(engine.think(ledger, limit(3_000)))
    late = []
    while not search.done():
        began = time.monotonic()
        await asyncio.sleep(0.001)
        late.append(time.monotonic() - began)
    # One that held the loop would be late once, for the whole search; on a busy machine everybody is late.
    assert statistics.median(late) < 0.1


@pytest.mark.parametrize("name", SPECS)
async def test_several_at_once_and_nothing_left_behind(
    name: str, game: Game, limit: Limits, children: Callable[[], list[int]]
) -> None:
    engines = [build_engine(spec_or_skip(name)) for _ in range(3)]
    before = children()
    await asyncio.gather(*(engine.start() for engine in engines))
    ledgers = [game(None, moves, game_id=moves) for moves in ("e2e4", "d2d4", "g1f3 g8f6")]
    choices = await asyncio.gather(
        *(engine.think(ledger, limit(500)) for engine, ledger in zip(engines, ledgers, strict=True))
    )
    for choice, ledger in zip(choices, ledgers, strict=True):
        assert isinstance(read_move(ledger.board, choice.uci), chess.Move)
    await asyncio.gather(*(engine.close() for engine in engines))
    assert children() == before


async def test_only_the_moves_left_are_played(engine: Engine, game: Game, limit: Limits) -> None:
    """As a tablebase leaves some of them; both spellings of castling are known."""
    for ledger, left in ((game(), ("a2a3", "h2h4")), (game("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), ("e1h1", "e1g1"))):
        for _ in range(3):
            choice = await engine.think(ledger, replace(limit(nodes=200), root_moves=left))
            assert choice.uci in left


async def test_castling_left_alone_is_played(engine: Engine, game: Game, limit: Limits) -> None:
    ledger = game("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    assert (await engine.think(ledger, replace(limit(nodes=200), root_moves=("e1h1",)))).uci == "e1g1"
