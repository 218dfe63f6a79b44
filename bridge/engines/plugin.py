"""`kind: python`: an engine written in Python, in this process but in a thread of its own, under a deadline.

The plugin sees a copy of the ledger and a limit, nothing else. A thread cannot be killed: one that does not answer in
time is left behind, and `start` makes a fresh engine in a fresh thread. Whatever a plugin raises is an EngineError.
"""

import asyncio
import importlib
import importlib.util
import inspect
import operator
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypeVar, cast

from bridge.engines.answer import accept, private_copy, require_move, within
from bridge.engines.spec import Option
from bridge.errors import EngineError
from bridge.interfaces import Choice, EngineName, Limit
from bridge.rules.ledger import Ledger

START_TIMEOUT_MS = 10_000
_GOODBYE_MS = 1_000
_LONGEST_WHY = 1_000
T = TypeVar("T")


class Thinker(Protocol):
    """What a plugin class has to offer. `think` and `close` may be `async`.

    May be left out: `close()`, at the end, and `stop()`, called from another thread when the answer of a `think` that
    is not `async` (those are cancelled) is not wanted any more.
    """

    def think(self, ledger: Ledger, limit: Limit) -> Choice | Awaitable[Choice]:
        """A legal move in `ledger.board`, before `limit.deadline_ms` has passed."""
        ...


class PluginEngine:
    """Runs one instance of the plugin class; `options` are the keyword arguments it is made with."""

    def __init__(
        self, plugin: str, options: Mapping[str, Option] | None = None, *, start_timeout_ms: int = START_TIMEOUT_MS
    ) -> None:
        self._plugin = plugin
        self._options = dict(options or {})
        self._start_timeout_ms = start_timeout_ms
        self._thread: PluginThread | None = None
        self._thinker: Thinker | None = None

    @property
    def called(self) -> EngineName:
        """By its class: where its file lies is nobody's business."""
        return EngineName("python", self._plugin.rpartition(":")[2])

    async def start(self) -> None:
        """Import the module and make the engine; does nothing while it works.

        Raises:
            EngineError: no such module or class, no `think`, or its constructor failed or took too long.
        """
        if self._thinker is not None:
            return
        self._thread = PluginThread(f"engine {self._plugin}")
        try:
            self._thinker = await self._run(self._make(), self._start_timeout_ms, "start")
        except BaseException:
            await self.close()
            raise

    async def _make(self) -> Thinker:
        thinker = load_plugin(self._plugin)(**self._options)
        if not callable(getattr(thinker, "think", None)):
            raise EngineError(f"plugin {self._plugin!r} has no method think(ledger, limit)")
        return cast(Thinker, thinker)

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        """The plugin's move. Cancelling it cancels an `async` plugin and stops another one that has `stop`.

        Raises:
            EngineError: not started, raised, no answer by the deadline, no Choice, or an illegal move.
        """
        if self._thinker is None:
            raise EngineError(f"plugin {self._plugin!r} is not running: start it first")
        require_move(ledger)
        try:
            answer = await self._run(_ask(self._thinker, private_copy(ledger), limit), limit.deadline_ms, "answer")
            who = f"plugin {self._plugin!r}"
            return within(ledger, accept(ledger, _checked(answer, who), who), limit)
        except EngineError:
            await self.close()
            raise

    async def close(self) -> None:
        """Let the plugin close itself, and its thread end. Never raises."""
        thread, thinker = self._thread, self._thinker
        self._thread = self._thinker = None
        if thread is None:
            return
        try:
            if thinker is not None:
                with suppress(EngineError, TimeoutError):  # it is over either way
                    await asyncio.wait_for(thread.run(_contained(_goodbye(thinker), self._plugin)), _GOODBYE_MS / 1000)
        finally:
            thread.end()

    async def _run(self, work: Coroutine[None, None, T], timeout_ms: int, verb: str) -> T:
        thread = self._thread
        assert thread is not None, "a plugin runs in its thread"
        answer = thread.run(_contained(work, self._plugin))
        try:
            await asyncio.wait({answer}, timeout=timeout_ms / 1000)
            if answer.done():
                return answer.result()
        finally:
            if not answer.done():
                answer.cancel()
                _stop(self._thinker)
        # Its thread may be stuck for ever: no goodbye.
        self._thread = self._thinker = None
        thread.end()
        raise EngineError(f"plugin {self._plugin!r} did not {verb} within {timeout_ms} ms")


class PluginThread:
    """A thread with an event loop of its own; a daemon, so that a stuck one never keeps the program from ending."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
            if tasks := asyncio.all_tasks(self._loop):
                for task in tasks:
                    task.cancel()
                self._loop.run_until_complete(asyncio.wait(tasks))
        finally:
            self._loop.close()

    def run(self, work: Coroutine[None, None, T]) -> asyncio.Future[T]:
        """Run it in the thread; cancelling the future cancels the work at its next `await`."""
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def end(self) -> None:
        """Let the thread end as soon as it is free."""
        self._loop.call_soon_threadsafe(self._loop.stop)


async def _contained(work: Coroutine[None, None, T], plugin: str) -> T:
    """What it returns; any fault of it, one that would end this program or its tasks included, as EngineError."""
    try:
        return await work
    except EngineError:
        raise
    except (SystemExit, KeyboardInterrupt) as error:
        raise EngineError(f"plugin {plugin!r} tried to end the program: {error!r}") from error
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()) and task.cancelling():
            raise
        # Its own CancelledError would pass for ours; Rust's panics are no Exception.
        raise EngineError(f"plugin {plugin!r} failed: {type(error).__name__}: {error}") from error


async def _ask(thinker: Thinker, ledger: Ledger, limit: Limit) -> object:
    answer = thinker.think(ledger, limit)
    return await answer if inspect.isawaitable(answer) else answer


def _checked(answer: object, who: str) -> Choice:
    """The answer with plain values. Raises EngineError: it is no Choice, or holds something else than it should."""
    if not isinstance(answer, Choice):
        raise EngineError(f"{who} answered {answer!r:.80}, which is no Choice")
    if not isinstance(answer.uci, str):
        raise EngineError(f"{who} answered {answer.uci!r:.80}, which is no move in UCI")
    if not isinstance(answer.why, str):
        raise EngineError(f"{who} answered why {answer.why!r:.80}, which is no text")
    numbers: dict[str, int | None] = {}
    for name in ("score_cp", "depth"):
        try:
            value = getattr(answer, name)
            numbers[name] = None if value is None else operator.index(value)
        except TypeError as error:
            raise EngineError(f"{who} answered {name} {value!r:.80}, which is no whole number") from error
    return Choice(answer.uci, numbers["score_cp"], numbers["depth"], answer.why[:_LONGEST_WHY])


def _stop(thinker: Thinker | None) -> None:
    """From a thread of its own: it may take as long as it likes."""
    stop = getattr(thinker, "stop", None)

    def ask() -> None:
        with suppress(Exception):  # the search goes on then, unheard
            cast(Callable[[], object], stop)()

    if callable(stop):
        threading.Thread(target=ask, name="plugin stop", daemon=True).start()


async def _goodbye(thinker: Thinker) -> None:
    close = getattr(thinker, "close", None)
    if close is not None and inspect.isawaitable(done := close()):
        await done


def load_plugin(plugin: str) -> Callable[..., object]:
    """The class named by "module:Class", or "file.py:Class" for a file outside the import path.

    Raises:
        EngineError: the name has no such form, or there is no such module, file or class.
    """
    module_name, colon, name = plugin.rpartition(":")
    if not (colon and module_name and name):
        raise EngineError(f'plugin {plugin!r} must be named "module:Class" or "file.py:Class"')
    module = _load_file(Path(module_name)) if module_name.endswith(".py") else _import(module_name)
    found = getattr(module, name, None)
    if not callable(found):
        classes = [key for key, value in vars(module).items() if isinstance(value, type) and not key.startswith("_")]
        raise EngineError(
            f"plugin module {module_name!r} has no class {name!r} (it has: {', '.join(classes) or 'none'})"
        )
    return cast(Callable[..., object], found)


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        own = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        missing = "it is not installed here" if own else f"it needs {error.name!r}"
        raise EngineError(
            f'plugin module {name!r} cannot be imported: {missing}; for a file write "file.py:Class"'
        ) from error


def _load_file(file: Path) -> ModuleType:
    file = file.expanduser()
    if not file.is_file():
        raise EngineError(f"plugin file {file} does not exist")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
