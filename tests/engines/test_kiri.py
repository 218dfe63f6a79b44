"""`kind: kiri` over a program: flags it did not see, faults it survives, and a reason for every move."""

import asyncio
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import chess
import pytest
from pydantic import TypeAdapter

from bridge.engines.build import build_engine
from bridge.engines.kiri import KiriEngine
from bridge.engines.random_engine import RandomEngine
from bridge.engines.reasons import explain_choice
from bridge.engines.spec import EngineSpec
from bridge.engines.switches import Switches
from bridge.engines.time_plan import plan_time
from bridge.errors import EngineError
from bridge.interfaces import Limit
from bridge.rules.events import Moved, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup, TimeControl
from bridge.settings.engines import EngineSettings, KiriParts
from bridge.thinker import Thinker

Game = Callable[..., Ledger]
Running = Callable[[str], list[int]]
LIMIT = Limit(60_000, 60_000, 0, 0, 3_000)
PROGRAM = """
    import sys, time
    def say(text): print(text, flush=True)
    count = 0
    for line in sys.stdin:
        word = line.split()[0] if line.split() else ""
        if word == "uci": say("option name Hash type spin default 16 min 1 max 64\\noption name Threads type spin "
                              "default 1 min 1 max 4\\nuciok")
        elif word == "isready": say("readyok")
        elif word == "quit": break
        elif word == "go":
            count += 1
            only = line.split("searchmoves ")[1].split() if "searchmoves" in line else []
            %s
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    def write(on_go: str) -> str:
        file = tmp_path / "program"
        file.write_text(f"#!{sys.executable} -S\n{textwrap.dedent(PROGRAM % on_go)}")
        file.chmod(0o755)
        return str(file)

    return write


@pytest.fixture
async def started(program: Callable[[str], str]) -> AsyncIterator[Callable[[str], "asyncio.Future[KiriEngine]"]]:
    engines: list[KiriEngine] = []

    async def start(on_go: str) -> KiriEngine:
        engine = KiriEngine(program(on_go), {"Hash": 16}, seed=1)
        engines.append(engine)
        await engine.start()
        await asyncio.sleep(0.4)
        return engine

    def begin(on_go: str) -> "asyncio.Future[KiriEngine]":
        return asyncio.ensure_future(start(on_go))

    yield begin
    for engine in engines:
        await engine.close()


def with_clocks(ledger: Ledger, white_ms: int, black_ms: int) -> Ledger:
    ledger.apply(TakenBack(len(ledger.moves), ledger.white_ms - white_ms, ledger.black_ms - black_ms))
    return ledger


Start = Callable[[str], "asyncio.Future[KiriEngine]"]
SAY = 'say("info depth 9 score cp 31 nodes 900 pv " + (only or ["%s"])[0]); say("bestmove " + (only or ["%s"])[0])'


async def test_the_programs_move_is_played_with_its_score_and_a_reason(game: Game, started: Start) -> None:
    engine = await started(SAY % ("e2e4", "e2e4"))
    choice = await engine.think(game(), LIMIT)
    assert (choice.uci, choice.score_cp, choice.depth) == ("e2e4", 31, 9)
    assert choice.why.startswith("the engine's move; ")
    assert "can be thought away" in choice.why
    assert engine.last is not None
    assert explain_choice(engine.last).splitlines()[1] == "  e2e4 +0.31, own clock -0:01.0, other +0:00.0"


async def test_a_flag_is_played_though_the_program_would_not(game: Game, started: Start) -> None:
    engine = await started(SAY % ("e1e2", "e1e2"))
    ledger = with_clocks(game("4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1"), 60_000, 4_900)
    choice = await engine.think(ledger, LIMIT)
    assert choice.uci == "d2d5"
    assert choice.why.startswith("flags the opponent")


async def test_in_a_plain_game_no_clock_of_kirichess_counts(game: Game, started: Start) -> None:
    """Rated, in a tournament, or opted out of: neither our proofs nor the built-in search may see a flag there."""
    ledger = with_clocks(game("4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1"), 60_000, 4_900)
    engine = await started(SAY % ("e1e2", "e1e2"))
    assert (await engine.think(ledger, replace(LIMIT, plain=True))).uci == "e1e2"
    alone = KiriEngine(seed=1)
    await alone.start()
    assert (await alone.think(ledger, LIMIT)).uci == "d2d5"
    assert (await alone.think(ledger, replace(LIMIT, plain=True))).uci != "d2d5"
    await alone.close()


async def test_the_program_is_kept_from_moves_that_lose_on_time(game: Game, started: Start) -> None:
    engine = await started(SAY % ("d1d5", "d1d5"))
    fen = "k7/p7/8/3r4/8/8/8/3QK3 w - - 0 1"
    choice = await engine.think(with_clocks(game(fen, pool="ratchet"), 3_500, 60_000), LIMIT)
    then = with_clocks(game(fen, pool="ratchet"), 3_500, 60_000)
    then.apply(Moved(choice.uci, 0))
    assert then.outcome is None
    assert engine.last is not None
    assert any(one.note == "flags ourselves" for one in engine.last.candidates)


FAULTS = {
    "dies": "sys.exit(3)",
    "is silent": "time.sleep(60)",
    "moves illegally": 'say("bestmove a1a8")',
    "babbles": 'say("bestmove what now")',
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_whatever_befalls_the_program_a_move_comes_in_time(game: Game, started: Start, fault: str) -> None:
    engine = await started(FAULTS[fault])
    ledger = game()
    for _ in range(3):
        began = time.monotonic()
        choice = await engine.think(ledger, Limit(60_000, 60_000, 0, 0, 2_000))
        assert time.monotonic() - began < 2.0
        assert ledger.board.is_legal(chess.Move.from_uci(choice.uci))


ODD = [
    "score cp 900 pv %s e7e8=Q zz",
    "score cp 900 pv nonsense",
    "depth x score cp abc pv %s",
    "score mate pv %s",
    "score pv",
]


@pytest.mark.parametrize("info", ODD)
async def test_what_a_program_says_oddly_is_passed_over(game: Game, started: Start, info: str) -> None:
    """Its move counts: only what our own choice would have learnt from the line is missing."""
    told = info.replace("%s", "e2e4")
    engine = await started(f'say("info depth 5 " + {told!r}); say("bestmove " + (only or ["e2e4"])[0])')
    ledger = with_clocks(game("8/6rp/8/k7/8/8/4Q2P/4K3 w - - 0 1"), 60_000, 60_000)
    choice = await engine.think(ledger, LIMIT)
    assert "built-in" not in choice.why
    assert choice.uci == "e2e4"


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_of_the_program_is_told(game: Game, started: Start, fault: str) -> None:
    """Once: the game's events name it, though the move came in time."""
    told: list[str] = []
    thinker = Thinker(await started(FAULTS[fault]), RandomEngine(1), told.append)
    for _ in range(2):
        assert (await thinker.choose(game(), lambda: Limit(60_000, 60_000, 0, 0, 2_000))).uci
    assert len(told) == 1
    assert "engine" in told[0]


async def test_the_parts_of_the_settings_are_those_of_the_engine(game: Game, program: Callable[[str], str]) -> None:
    """Each is a key of `parts`; with the flags left out the program's move is played though it does not flag."""
    names = list(KiriParts.model_fields)
    assert Switches.of(dict.fromkeys(names, True)) == Switches()
    assert len({Switches.of({name: False}) for name in names} - {Switches()}) == len(names)
    settings = TypeAdapter(EngineSettings).validate_python(
        {"kind": "kiri", "path": program(SAY % ("e1e2", "e1e2")), "parts": {"flags": False, "proofs": False}}
    )
    engine = build_engine(EngineSpec(**settings.model_dump()))
    assert isinstance(engine, KiriEngine)
    await engine.start()
    await engine.ready()
    ledger = with_clocks(game("4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1"), 60_000, 4_900)
    assert (await engine.think(ledger, LIMIT)).uci == "e1e2"
    await engine.close()


async def test_what_has_passed_since_the_last_reading_cannot_pay_a_toll(game: Game, started: Start) -> None:
    """The rook's three seconds were there when the turn began; half a second later, and on the way, they are not."""
    engine = await started(SAY % ("h1h2", "h1h2"))
    fen = "5b2/8/5pk1/8/8/8/8/K6R w - - 0 1"
    late = Limit(20, 60_000, 0, 0, 2_000, overhead_ms=200)
    choice = await engine.think(with_clocks(game(fen), 3_300, 200_000), late)
    then = with_clocks(game(fen), 3_300, 200_000)
    then.apply(Moved(choice.uci, 500))
    assert then.outcome is None


async def test_the_plan_knows_a_short_platform_clock_and_what_every_move_loses_on_the_way(
    game: Game, started: Start
) -> None:
    """The platform's clock pays no tolls: where it is the shorter one, none are set aside from it."""
    engine = await started(SAY % ("e2e4", "e2e4"))
    rules = named("ratchet")
    short = Ledger(Setup("x", rules, "stream", 10, time_control=TimeControl(60_000, 0)))
    await engine.think(short, Limit(59_000, 235_000, 0, 0, 59_000, nodes=10))
    assert engine.last_plan is not None
    assert engine.last_plan.bound == "the platform's clock"
    assert engine.last_plan.clock_ms > 200_000
    plans = []
    for overhead_ms in (0, 500):
        await engine.think(
            game(pool="ratchet"), Limit(235_000, 235_000, 0, 0, 9_000, nodes=10, overhead_ms=overhead_ms)
        )
        plans.append(engine.last_plan.disposable_ms)
    assert plans[0] - plans[1] == pytest.approx(500 * engine.last_plan.moves_left, rel=0.02)


async def test_without_a_plan_the_thinking_time_is_a_share_of_the_clock(game: Game) -> None:
    ledger = game(pool="ratchet")
    planned, shared = (
        plan_time(ledger.board, 240_000, ledger.setup.rules.dials, ahead=ahead) for ahead in (True, False)
    )
    assert planned.bound == "disposable time"
    assert shared.bound == "a share of the clock"
    assert shared.think_ms > planned.think_ms


async def test_any_uci_program_will_do(game: Game, tmp_path: Path) -> None:
    """One with no options at all too: what kiri sets by itself is a suggestion."""
    file = tmp_path / "program"
    answers = {"uci": "uciok", "isready": "readyok", "go": "bestmove a2a4"}
    lines = (
        f"import sys\nfor line in sys.stdin:\n word = line.split()[0]\n print({answers}.get(word, ''), flush=True)\n"
    )
    file.write_text(f"#!{sys.executable} -S\n{lines} if word == 'quit': break\n")
    file.chmod(0o755)
    engine = KiriEngine(str(file))
    await engine.start()
    await engine.ready()
    assert (await engine.think(game(), LIMIT)).uci == "a2a4"
    await engine.close()


async def test_an_option_that_the_program_has_not_is_told(game: Game, program: Callable[[str], str]) -> None:
    engine = KiriEngine(program("pass"), {"Hsh": 5})
    await engine.start()
    with pytest.raises(EngineError, match="did you mean 'Hash'"):
        await engine.ready()
    assert "did you mean 'Hash'" in (await engine.think(game(), LIMIT)).fault
    await engine.close()


async def test_after_a_fault_the_program_is_asked_again(game: Game, started: Start, tmp_path: Path) -> None:
    mark = tmp_path / "failed-once"
    engine = await started(
        f"""import os
            if not os.path.exists({str(mark)!r}):
                open({str(mark)!r}, "w").close(); sys.exit(1)
            {SAY % ("a2a3", "a2a3")}"""
    )
    answers = []
    for _ in range(6):
        answers.append((await engine.think(game(), LIMIT)).uci)
        await asyncio.sleep(0.2)
    assert answers[0] != "a2a3"
    assert answers[-1] == "a2a3"


async def test_a_cancelled_thought_leaves_the_engine_usable(game: Game, started: Start) -> None:
    engine = await started(f"time.sleep(0.3 if count == 1 else 0); {SAY % ('e2e4', 'e2e4')}")
    thinking = asyncio.ensure_future(engine.think(game(), LIMIT))
    await asyncio.sleep(0.05)
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert (await engine.think(game(), LIMIT)).uci


async def test_a_program_that_is_not_there_is_told_at_the_start() -> None:
    with pytest.raises(EngineError, match="does not exist"):
        await KiriEngine("/nowhere/stockfish").start()


async def test_no_process_is_left(game: Game, started: Start, running: Running, tmp_path: Path) -> None:
    engine = await started(SAY % ("e2e4", "e2e4"))
    assert running(str(tmp_path / "program"))
    await engine.close()
    assert not running(str(tmp_path / "program"))
    with pytest.raises(EngineError, match="not running"):
        await engine.think(game(), LIMIT)


async def test_the_built_in_search_explains_its_moves(game: Game) -> None:
    engine = KiriEngine(seed=1)
    await engine.start()
    choice = await engine.think(game("4k3/8/8/8/5p2/4P3/8/4K3 w - - 0 1"), LIMIT)
    assert engine.last is not None
    first, best, *others = explain_choice(engine.last).splitlines()
    assert first.startswith(f"{choice.uci}: the built-in search's move")
    assert choice.uci == "e3f4"
    assert best.startswith("  e3f4 +")
    assert best.endswith("own clock +0:04.0, other -0:05.0")
    assert 1 <= len(others) <= 5
    await engine.close()


async def test_the_first_move_comes_within_a_second_whatever_is_installed(game: Game) -> None:
    for spec in (EngineSpec("kiri"), EngineSpec("kiri", builtin=True)):
        engine = build_engine(spec)
        began = time.monotonic()
        await engine.start()
        await engine.think(game(), Limit(1_000_000, 1_000_000, 0, 0, 600_000))
        assert time.monotonic() - began < 1.0
        await engine.close()
