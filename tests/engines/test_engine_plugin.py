"""Python plugins: found by name, kept from the game itself, held to the deadline whatever they do."""

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge.engines.plugin import PluginEngine
from bridge.errors import EngineError
from bridge.interfaces import Limit
from bridge.rules.ledger import Ledger
from bridge.rules.position import read_move

ROOT = Path(__file__).parents[2]
Game = Callable[..., Ledger]
Limits = Callable[..., Limit]
Write = Callable[[str], str]


@pytest.fixture
def plugin(tmp_path: Path) -> Write:
    """Writes a plugin file whose class is `Mine`, and gives its name."""

    def write(body: str) -> str:
        file = tmp_path / "mine.py"
        head = "import asyncio, sys, time\nfrom bridge.interfaces import Choice\n\n"
        file.write_text(head + textwrap.dedent(body))
        return f"{file}:Mine"

    return write


def thinking(line: str, *, kind: str = "def") -> str:
    return f"class Mine:\n    {kind} think(self, ledger, limit):\n        {line}\n"


async def started(name: str, **options: str) -> PluginEngine:
    engine = PluginEngine(name, options)
    await engine.start()
    return engine


async def failing(engine: PluginEngine, ledger: Ledger, limit: Limit) -> str:
    with pytest.raises(EngineError) as caught:
        await engine.think(ledger, limit)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def everything(value: object) -> object:
    """All that is in an object, and in the objects in it, as plain values."""
    if isinstance(value, dict):
        return {key: everything(item) for key, item in value.items()}
    if isinstance(value, list):
        return [everything(item) for item in value]
    names = [*getattr(value, "__dict__", ()), *getattr(value, "__slots__", ())]
    return {name: everything(getattr(value, name)) for name in names} or value


async def so(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


def threads_of(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if name in thread.name]


# -- finding it ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", 'must be named "module:Class"'),
        ("module", 'must be named "module:Class"'),
        ("module:", 'must be named "module:Class"'),
        ("no.such.module:Mine", "cannot be imported: it is not installed here"),
        ("/no/such/file.py:Mine", "does not exist"),
        ("bridge.engines.random_engine:Rndom", "has no class 'Rndom' (it has:"),
        ("bridge.engines.spec:EngineSpec", "failed: TypeError"),
        ("builtins:object", "has no method think(ledger, limit)"),
    ],
)
async def test_a_name_that_leads_nowhere(name: str, told: str) -> None:
    with pytest.raises(EngineError) as caught:
        await PluginEngine(name).start()
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    await asyncio.sleep(0.05)
    assert not threads_of(f"engine {name}")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import no_such_package", "No module named 'no_such_package'"),
        ("class Mine", "SyntaxError"),
        ("class Mine:\n    def __init__(self): raise OSError('no book')\n", "failed: OSError: no book"),
        ("sys.exit(3)", "tried to end the program"),
        ("class Mine:\n    def __init__(self): raise type('Panic', (BaseException,), {})()\n", "failed: Panic"),
    ],
)
async def test_a_plugin_that_cannot_be_made(plugin: Write, body: str, told: str) -> None:
    with pytest.raises(EngineError) as caught:
        await PluginEngine(plugin(body)).start()
    assert told in str(caught.value)


async def test_an_unknown_option_is_told(plugin: Write) -> None:
    with pytest.raises(EngineError, match="takes no arguments"):
        await started(plugin(thinking("pass")), depht="3")


async def test_a_constructor_that_takes_too_long(plugin: Write) -> None:
    engine = PluginEngine(plugin("class Mine:\n    def __init__(self): time.sleep(1)\n"), start_timeout_ms=100)
    with pytest.raises(EngineError, match="did not start within 100 ms"):
        await engine.start()


# -- thinking --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["def", "async def"])
async def test_plain_and_async_plugins(plugin: Write, game: Game, limit: Limits, kind: str) -> None:
    engine = await started(plugin(thinking('return Choice("e2e4", 20, 5, "book")', kind=kind)))
    choice = await engine.think(game(), limit())
    assert (choice.uci, choice.score_cp, choice.depth, choice.why) == ("e2e4", 20, 5, "book")
    await engine.close()


async def test_whatever_it_does_to_its_ledger_the_game_is_untouched(plugin: Write, game: Game, limit: Limits) -> None:
    body = """
        from bridge.rules.events import Moved, Berserked, Ended

        class Mine:
            def think(self, ledger, limit):
                ledger.apply(Berserked(True, 1))
                ledger.apply(Moved("g1f3", 5000))
                ledger.board.push_uci("g8f6")
                ledger.apply(Ended("resign", True))
                for name, value in vars(ledger).items():
                    if hasattr(value, "clear"):
                        value.clear()
                return Choice("g1f3")
    """
    engine = await started(plugin(body))
    ledger = game(None, "e2e4 e7e5")
    twin = game(None, "e2e4 e7e5")
    await engine.think(ledger, limit())
    assert everything(ledger) == everything(twin)
    await engine.close()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('raise RuntimeError("out of ideas")', "failed: RuntimeError: out of ideas"),
        ("return None", "answered None, which is no Choice"),
        ('return "e2e4"', "answered 'e2e4', which is no Choice"),
        ('return Choice("e2e5")', "illegal move 'e2e5'"),
        ('return Choice("")', "illegal move ''"),
        ("sys.exit()", "tried to end the program"),
        ("raise KeyboardInterrupt", "tried to end the program"),
        ("raise asyncio.CancelledError", "failed: CancelledError"),
        ("raise GeneratorExit", "failed: GeneratorExit"),
        ('raise type("Panic", (BaseException,), {})("in Rust")', "failed: Panic: in Rust"),
        ("return Choice(ledger.board.peek)", "is no move in UCI"),
        ('return Choice("e2e4", "much")', "score_cp 'much', which is no whole number"),
        ('return Choice("e2e4", float("nan"))', "score_cp nan, which is no whole number"),
        ('return Choice("e2e4", 1, [])', "depth [], which is no whole number"),
        ('return Choice("e2e4", why=b"x")', "why b'x', which is no text"),
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
async def test_failures_and_nonsense(plugin: Write, game: Game, limit: Limits, line: str, told: str, kind: str) -> None:
    engine = await started(plugin(thinking(line, kind=kind)))
    assert told in await failing(engine, game(), limit())
    assert "start it first" in await failing(engine, game(), limit())
    await engine.start()
    assert told in await failing(engine, game(), limit())


async def test_a_plugin_that_hangs_is_left_behind_and_the_loop_goes_on(
    plugin: Write, game: Game, limit: Limits
) -> None:
    engine = await started(plugin(thinking('time.sleep(30 if limit.nodes else 0); return Choice("e2e4")')))
    ticks = 0
    search = asyncio.ensure_future(engine.think(game(), limit(1_000, 200, nodes=1)))
    began = time.monotonic()
    while not search.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert time.monotonic() - began < 10
    assert ticks > 2
    assert "did not answer within 200 ms" in str(search.exception())
    await engine.start()
    assert (await engine.think(game(), limit(100_000, 20_000))).uci == "e2e4"
    await engine.close()


async def test_an_async_plugin_is_cancelled_with_its_search(
    plugin: Write, game: Game, limit: Limits, tmp_path: Path
) -> None:
    mark = tmp_path / "cancelled"
    body = f"""
        class Mine:
            async def think(self, ledger, limit):
                try:
                    await asyncio.sleep(limit.nodes or 0)
                except asyncio.CancelledError:
                    open({str(mark)!r}, "w").close()
                    raise
                return Choice("e2e4")
    """
    engine = await started(plugin(body))
    search = asyncio.ensure_future(engine.think(game(), limit(nodes=600)))
    await asyncio.sleep(0.1)
    search.cancel()
    await asyncio.wait({search})
    await so(mark.exists)
    assert (await engine.think(game(), limit())).uci == "e2e4"
    await engine.close()


@pytest.mark.parametrize("called_off", ["cancelled", "late"])
async def test_a_plain_plugin_is_told_that_its_answer_is_wanted_no_more(
    plugin: Write, game: Game, limit: Limits, called_off: str
) -> None:
    body = """
        import threading

        class Mine:
            def __init__(self):
                self.stopped = threading.Event()

            def think(self, ledger, limit):
                self.stopped.clear()
                if limit.nodes:
                    self.stopped.wait(limit.nodes)
                return Choice("e2e4")

            def stop(self):
                self.stopped.set()
    """
    name = plugin(body)
    engine = await started(name)
    search = asyncio.ensure_future(
        engine.think(game(), limit(1_000, 200 if called_off == "late" else 20_000, nodes=60))
    )
    await asyncio.sleep(0.1)
    if called_off == "cancelled":
        search.cancel()
    await asyncio.wait({search})
    if called_off == "late":
        await so(lambda: not threads_of(name))
        await engine.start()
    assert (await engine.think(game(), limit(100_000, 10_000))).uci == "e2e4"
    await engine.close()


async def test_a_long_reason_is_cut(plugin: Write, game: Game, limit: Limits) -> None:
    engine = await started(plugin(thinking('return Choice("e2e4", why="because " * 100_000)')))
    assert len((await engine.think(game(), limit())).why) < 2_000
    await engine.close()


@pytest.mark.parametrize("kind", ["def", "async def"])
async def test_close_reaches_the_plugin_and_its_thread_ends(plugin: Write, tmp_path: Path, kind: str) -> None:
    mark = tmp_path / "closed"
    name = plugin(thinking("pass") + f'    {kind} close(self):\n        open({str(mark)!r}, "w").close()\n')
    engine = await started(name)
    assert len(threads_of(name)) == 1
    await engine.close()
    assert mark.exists()
    await so(lambda: not threads_of(name))


@pytest.mark.parametrize("line", ['raise OSError("disk")', "time.sleep(30)"])
async def test_close_never_raises_or_waits_long(plugin: Write, line: str) -> None:
    engine = await started(plugin(thinking("pass") + f"    def close(self):\n        {line}\n"))
    began = time.monotonic()
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    await engine.close()
    assert time.monotonic() - began < 10
    gc.collect()
    assert complaints == []


async def test_a_stuck_plugin_does_not_keep_the_program_from_ending(plugin: Write) -> None:
    name = plugin(thinking("time.sleep(600)"))
    program = f"""
        import asyncio
        from bridge.engines.plugin import PluginEngine
        from bridge.errors import EngineError
        from bridge.interfaces import Limit
        from bridge.rules.ledger import Ledger
        from bridge.rules.pools import named
        from bridge.rules.snapshot import Setup

        async def main():
            engine = PluginEngine({name!r})
            await engine.start()
            try:
                await engine.think(Ledger(Setup("x", named("anchor"), "think", 0)), Limit(1000, 1000, 0, 0, 100))
            except EngineError as error:
                print(error)

        asyncio.run(main())
    """
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert "did not answer within 100 ms" in done.stdout
    assert done.returncode == 0
    assert done.stderr == ""


async def test_a_plugin_of_an_installed_module(game: Game, limit: Limits) -> None:
    engine = await started("bridge.engines.random_engine:RandomEngine")
    ledger = game()
    assert read_move(ledger.board, (await engine.think(ledger, limit())).uci)
    await engine.close()
