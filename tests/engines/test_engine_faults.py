"""Programs that are missing, die, hang, lie or babble: one clear error, no process left, and a fresh start works."""

import asyncio
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from bridge.engines.process import ProcessEngine
from bridge.errors import EngineError
from bridge.interfaces import Limit
from bridge.rules.ledger import Ledger

ROOT = Path(__file__).parents[2]
HONEST = """
    import sys, time
    def say(text): print(text, flush=True)
    for line in sys.stdin:
        word = line.split()[0]
        if word == "uci":
            say("option name Hash type spin default 16 min 1 max 1024")
            say("option name Skill Level type spin default 20 min 0 max 20")
            say("option name Clear Hash type button")
            say("option name Ponder type check default false")
            say("uciok")
        elif word == "isready": say("readyok")
        elif word == "quit": break
        elif word == "go":
            %s
"""

Game = Callable[..., Ledger]
Limits = Callable[..., Limit]
Running = Callable[[str], list[int]]


class Fake(Protocol):
    def __call__(self, on_go: str = ..., *, first: str = "", whole: str = "") -> Path: ...


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """Writes a scripted engine: what it does on `go`, what it does `first`, or the `whole` of it."""

    def write(on_go: str = 'say("bestmove e2e4")', *, first: str = "", whole: str = "") -> Path:
        file = tmp_path / "fake-engine"
        body = textwrap.dedent(whole or HONEST % on_go)
        file.write_text(f"#!{sys.executable} -S\n{textwrap.dedent(first)}\n{body}")
        file.chmod(0o755)
        return file

    return write


async def gone(running: Running, file: Path) -> bool:
    for _ in range(1500):
        if not running(str(file)):
            return True
        await asyncio.sleep(0.02)
    return False


async def failing(engine: ProcessEngine, ledger: Ledger, limit: Limit) -> str:
    """The error of one search, which must be one line."""
    with pytest.raises(EngineError) as caught:
        await engine.think(ledger, limit)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- the program -----------------------------------------------------------------------------------------------------


async def not_started(path: str) -> str:
    with pytest.raises(EngineError) as caught:
        await ProcessEngine(path).start()
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_a_program_that_is_not_there_is_named_with_a_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "stockfish"
    installed.write_text("#!/bin/sh\n")
    installed.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"did you mean {installed}?" in await not_started("stokfish")
    assert f"did you mean {installed}?" in await not_started(str(tmp_path / "nowhere" / "stockfisch"))
    assert f"set path: {installed}" in await not_started("zurichess")
    assert "needs a path" in await not_started("")


async def test_what_cannot_be_executed_says_why(tmp_path: Path) -> None:
    plain = tmp_path / "engine"
    plain.write_text("no program")
    assert f"is not executable: chmod +x {plain}" in await not_started(str(plain))
    assert "is a folder" in await not_started(str(tmp_path))
    plain.chmod(0o755)
    assert "cannot be executed" in await not_started(str(plain))
    plain.write_text("#!/no/such/interpreter\n")
    assert "cannot be executed" in await not_started(str(plain))


async def test_a_name_is_looked_up_in_path(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, game: Game, limit: Limits
) -> None:
    monkeypatch.setenv("PATH", str(fake().parent))
    engine = ProcessEngine("fake-engine")
    await engine.start()
    assert (await engine.think(game(), limit())).uci == "e2e4"
    await engine.close()


# -- starting --------------------------------------------------------------------------------------------------------


async def test_it_exits_at_start_and_its_last_words_are_told(fake: Fake, running: Running) -> None:
    file = fake(first='import sys; print("no network file", file=sys.stderr); sys.exit(3)')
    told = await not_started(str(file))
    assert "exit code: 3" in told
    assert "no network file" in told
    assert await gone(running, file)


async def test_it_is_silent_at_start(fake: Fake, running: Running) -> None:
    file = fake(whole="import time; time.sleep(600)")
    with pytest.raises(EngineError, match="did not get ready within 300 ms: is it a UCI engine"):
        await ProcessEngine(str(file), start_timeout_ms=300).start()
    assert await gone(running, file)


async def test_a_slow_start_is_waited_for(fake: Fake, game: Game, limit: Limits) -> None:
    engine = ProcessEngine(str(fake(first="import time; time.sleep(0.7)")))
    await engine.start()
    assert (await engine.think(game(), limit())).uci == "e2e4"
    await engine.close()


async def test_a_cancelled_start_leaves_nothing(fake: Fake, running: Running) -> None:
    file = fake(whole="import time; time.sleep(600)")
    start = asyncio.ensure_future(ProcessEngine(str(file)).start())
    await asyncio.sleep(0.3)
    assert running(str(file))
    start.cancel()
    await asyncio.wait({start})
    assert start.cancelled()
    assert await gone(running, file)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"Hsh": 32}, "has no option 'Hsh'; did you mean 'Hash'?"),
        ({"Hash": 4096}, "at most 1024"),
        ({"skill level": "high"}, "expected integer"),
        ({"Ponder": True}, "is set by the bridge"),
    ],
)
async def test_an_option_that_cannot_be(
    fake: Fake, running: Running, options: dict[str, int | str | bool], told: str
) -> None:
    file = fake()
    with pytest.raises(EngineError) as caught:
        await ProcessEngine(str(file), options=options).start()
    assert told in str(caught.value)
    assert await gone(running, file)


async def test_options_and_limits_reach_the_engine(fake: Fake, game: Game, tmp_path: Path) -> None:
    log = tmp_path / "log"
    file = fake(
        whole=(HONEST % 'say("bestmove e2e4")').replace("word = l", f"open({str(log)!r}, 'a').write(line); word = l")
    )
    options = {"hash": 32, "Skill Level": 3.0, "Clear Hash": True}
    engine = ProcessEngine(str(file), options=options, nodes=0)
    await engine.start()
    for _ in range(2):
        await engine.think(game(), Limit(0, 61_500, 2_000, 0, 2_000))
    await engine.close()
    said = log.read_text().splitlines()
    assert "setoption name Hash value 32" in said
    assert said.count("setoption name Clear Hash") == 1
    assert [line for line in said if line.startswith("go")] == ["go wtime 1 btime 61500 winc 2000 binc 0 nodes 1"] * 2


# -- thinking --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on_go", "told"),
    [
        ("import os; os._exit(7)", "exit code: 7"),
        ('say("bestmove e2e5")', "illegal"),
        ('say("bestmove e7e5")', "illegal"),
        ('say("bestmove castles")', "castles"),
        ('say("bestmove (none)")', "gave no move"),
        ('say("bestmove")', "gave no move"),
        ('say("bestmove 0000")', "0000"),
    ],
)
async def test_death_and_nonsense(
    fake: Fake, running: Running, game: Game, limit: Limits, on_go: str, told: str
) -> None:
    file = fake(on_go)
    engine = ProcessEngine(str(file))
    await engine.start()
    assert told in await failing(engine, game(), limit())
    assert await gone(running, file)
    assert "start it first" in await failing(engine, game(), limit())
    fake()
    await engine.start()
    assert (await engine.think(game(), limit())).uci == "e2e4"
    await engine.close()
    assert await gone(running, file)


async def test_it_died_between_two_moves(fake: Fake, game: Game, limit: Limits) -> None:
    engine = ProcessEngine(str(fake('say("bestmove e2e4"); sys.exit(1)')))
    await engine.start()
    await engine.think(game(), limit())
    await asyncio.sleep(0.3)
    assert "dead" in await failing(engine, game(), limit())
    await engine.start()
    assert (await engine.think(game(), limit())).uci == "e2e4"
    await engine.close()


async def test_an_answer_that_nobody_waits_for_any_more_is_no_fault(fake: Fake) -> None:
    slow = (HONEST % "pass").replace('say("readyok")', 'time.sleep(0.2); say("readyok")')
    engine = ProcessEngine(str(fake(whole=slow)))
    await engine.start()
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    assert engine._protocol is not None
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(engine._protocol.ping(), 0.05)
    await asyncio.sleep(1.0)
    await engine.close()
    assert faults == []


async def test_a_hung_search_is_killed_at_its_deadline(fake: Fake, running: Running, game: Game, limit: Limits) -> None:
    file = fake("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)")
    engine = ProcessEngine(str(file))
    await engine.start()
    began = time.monotonic()
    assert "silent past its deadline of 300 ms" in await failing(engine, game(), limit(100_000, 300))
    assert 0.29 < time.monotonic() - began < 5
    assert await gone(running, file)


async def test_stop_comes_before_the_deadline(fake: Fake, game: Game, limit: Limits) -> None:
    file = fake('[None for line in iter(sys.stdin.readline, "stop\\n")]; say("bestmove d2d4")')
    engine = ProcessEngine(str(file))
    await engine.start()
    assert (await engine.think(game(), limit(100_000, 300))).uci == "d2d4"
    await engine.close()


async def test_a_cancelled_search_that_does_not_stop_is_killed(
    fake: Fake, running: Running, game: Game, limit: Limits
) -> None:
    file = fake("time.sleep(600)")
    engine = ProcessEngine(str(file))
    await engine.start()
    search = asyncio.ensure_future(engine.think(game(), limit(100_000, 60_000)))
    await asyncio.sleep(0.05)
    search.cancel()
    await asyncio.wait({search}, timeout=3)
    assert search.cancelled()
    assert await gone(running, file)


async def test_a_promotion_in_capitals_is_understood(fake: Fake, game: Game, limit: Limits) -> None:
    engine = ProcessEngine(str(fake('say("bestmove e7e8Q")')))
    await engine.start()
    assert (await engine.think(game("8/4P1k1/8/8/8/8/6K1/8 w - - 0 1"), limit())).uci == "e7e8q"
    await engine.close()


async def test_the_score_is_the_movers(fake: Fake, game: Game, limit: Limits) -> None:
    engine = ProcessEngine(str(fake('say("info depth 9 score cp -31 pv e7e5"); say("bestmove e7e5")')))
    await engine.start()
    choice = await engine.think(game(None, "e2e4"), limit())
    assert (choice.score_cp, choice.depth) == (-31, 9)
    await engine.close()


async def test_a_flood_on_stderr_blocks_nobody(fake: Fake, game: Game, limit: Limits) -> None:
    flood = 'sys.stderr.write("x" * 3_000_000); sys.stderr.write("line\\n" * 200_000); say("bestmove e2e4")'
    engine = ProcessEngine(str(fake(flood)))
    await engine.start()
    assert (await engine.think(game(), limit(5_000, 5_000))).uci == "e2e4"
    await engine.close()


async def test_babble_and_endless_lines_are_passed_over(fake: Fake, game: Game, limit: Limits) -> None:
    babble = [
        'say("hello")',
        'say("info score cp")',
        r'sys.stdout.buffer.write(b"\xff\n")',
        'say("x" * 2_000_000)',
        'say("bestmove e2e4")',
    ]
    engine = ProcessEngine(str(fake("; ".join(babble))))
    await engine.start()
    assert (await engine.think(game(), limit(5_000, 5_000))).uci == "e2e4"
    await engine.close()


async def test_no_chess960_without_the_option(fake: Fake, game: Game, limit: Limits) -> None:
    engine = ProcessEngine(str(fake()))
    await engine.start()
    ledger = game("k7/8/8/8/8/8/8/5KR1 w G - 0 1", chess960=True)
    assert "does not support UCI_Chess960" in await failing(engine, ledger, limit())


# -- nothing is left behind ------------------------------------------------------------------------------------------

CHILD = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', __file__])"


@pytest.mark.parametrize("on_go", ['say("bestmove e2e4")', "import os; os._exit(1)", "time.sleep(600)"])
async def test_the_children_of_an_engine_end_with_it(
    fake: Fake, running: Running, game: Game, limit: Limits, on_go: str
) -> None:
    file = fake(on_go, first=CHILD)
    engine = ProcessEngine(str(file))
    await engine.start()
    assert len(running(str(file))) == 2
    try:
        await engine.think(game(), limit(1_000, 300))
    except EngineError:
        assert await gone(running, file)
    await engine.close()
    assert await gone(running, file)


async def test_a_stubborn_engine_is_killed_on_close(fake: Fake, running: Running) -> None:
    file = fake(whole=(HONEST % "pass").replace("quit", "never"))
    engine = ProcessEngine(str(file))
    await engine.start()
    await engine.close()
    assert await gone(running, file)


async def test_a_close_that_is_called_off_again_and_again_still_hangs_up(fake: Fake, running: Running) -> None:
    file = fake(whole=(HONEST % "pass").replace("quit", "never"))
    engine = ProcessEngine(str(file))
    await engine.start()
    protocol = engine._protocol
    assert protocol is not None
    assert protocol.transport is not None
    closing = asyncio.create_task(engine.close())
    while not closing.done():
        await asyncio.sleep(0)
        closing.cancel()
    assert protocol.transport.is_closing()
    assert await gone(running, file)


ABANDONED = """
    import asyncio, os, signal, sys
    from bridge.engines.process import ProcessEngine
    engine = ProcessEngine(sys.argv[1])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in its background without
    async def main():
        await engine.start()
        print("started", flush=True)
        {end}
    asyncio.run(main())
"""


@pytest.mark.parametrize("end", ["raise MemoryError", "sys.exit(4)", "asyncio.get_running_loop().stop()", "pass"])
async def test_an_event_loop_that_ends_without_close_leaves_nothing(fake: Fake, running: Running, end: str) -> None:
    file = fake(first=CHILD)
    program = textwrap.dedent(ABANDONED.format(end=end))
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program, str(file)], cwd=ROOT, capture_output=True, text=True, timeout=30
    )
    assert "started" in done.stdout, done.stderr
    assert await gone(running, file)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
async def test_an_interrupted_program_leaves_nothing(fake: Fake, running: Running, number: signal.Signals) -> None:
    """The engine does not look at its input any more, and has started a program of its own."""
    file = fake(first=CHILD, whole=(HONEST % "pass").replace("quit", "never") + "    while True: time.sleep(1)\n")
    program = textwrap.dedent(ABANDONED.format(end="await asyncio.sleep(600)"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(file), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    await process.stdout.readline()
    assert len(running(str(file))) == 3  # the program, the engine, and what the engine started
    process.send_signal(number)
    await asyncio.wait_for(process.wait(), 60)
    assert await gone(running, file)


async def test_bounds_of_a_search_and_thinking_in_the_opponents_time(
    fake: Fake, game: Game, limit: Limits, tmp_path: Path
) -> None:
    """A move that was foreseen is told by `ponderhit`; nothing runs on after the game."""
    log = tmp_path / "log"
    reply = 'say("bestmove e2e4 ponder e7e5") if "ponder" not in line else None'
    file = fake(whole=(HONEST % reply).replace("word = l", f"open({str(log)!r}, 'a').write(line); word = l"))
    file.write_text(
        file.read_text()
        + '    elif word == "ponderhit": say("bestmove g1f3")\n    elif word == "stop": say("bestmove g1f3")\n'
    )
    engine = ProcessEngine(str(file), go_commands={"depth": 7, "movetime": 900, "nodes": 50}, ponder=True)
    await engine.start()
    # The first move of a game is never a hit: the engine did not know of it.
    assert (await engine.think(game(), replace(limit(), plain=True))).uci == "e2e4"
    assert (await engine.think(game(moves="e2e4 e7e5"), replace(limit(), plain=True))).uci == "g1f3"
    assert await engine.rest()
    await engine.close()
    said = [line for line in log.read_text().splitlines() if line.startswith(("go", "ponderhit"))]
    assert said[0].endswith("depth 7 nodes 50 movetime 900")
    assert "ponder" in said[1]
    assert said[2] == "ponderhit"


async def test_nothing_is_thought_ahead_where_clocks_jump(
    fake: Fake, game: Game, limit: Limits, tmp_path: Path
) -> None:
    """In KiriChess a foreseen move would be searched on with clocks from before its tolls."""
    log = tmp_path / "log"
    file = fake(
        whole=(HONEST % 'say("bestmove e2e4 ponder e7e5")').replace(
            "word = l", f"open({str(log)!r}, 'a').write(line); word = l"
        )
    )
    engine = ProcessEngine(str(file), ponder=True)
    await engine.start()
    assert (await engine.think(game(), limit())).uci == "e2e4"
    await engine.close()
    assert not [line for line in log.read_text().splitlines() if "ponder" in line.lower() and line.startswith("go")]
