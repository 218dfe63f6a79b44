"""What `run`, `watch` and `demo` share: a daemon with a terminal, and signals that drain first and stop second."""

import asyncio
import gc
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path

from bridge import systemd
from bridge.cli.console import console, is_lively
from bridge.cli.logs import tell
from bridge.cloudevents import to_json
from bridge.daemon import Daemon
from bridge.interfaces import Entry, Sink
from bridge.reload import Reload
from bridge.settings.models import Settings
from bridge.sinks.plain_lines import PlainLines
from bridge.sinks.terminal import LiveView

_COLLECT_AFTER = (10_000, 5, 5)
"""New objects between looks of the garbage collector, its looks between those at what is older, and of these between
those at everything. By Python's own 700, 10 and 10 it took 7 % of the time of a busy program."""


class JsonLines:
    """Events as CloudEvents, one JSON object a line, on stdout."""

    name = "stdout"

    async def write(self, entry: Entry) -> None:
        """Print one event."""
        sys.stdout.write(to_json(entry) + "\n")
        sys.stdout.flush()

    async def close(self) -> None:
        """Nothing to let go of."""


class Stdout:
    """A sink that prints. `gone` is set when nobody reads any more (`| head`): then there is no use in going on."""

    def __init__(self, *, json: bool) -> None:
        self.gone = asyncio.Event()
        self._sink = _printer(json=json)
        self.name = self._sink.name

    async def write(self, entry: Entry) -> None:
        """Print one event."""
        try:
            await self._sink.write(entry)
        except BrokenPipeError:
            self.gone.set()

    async def close(self) -> None:
        """Leave the terminal as it was."""
        await self._sink.close()


def _printer(*, json: bool) -> Sink:
    """A live picture on a terminal, one line an event elsewhere, CloudEvents with `--json`."""
    if json:
        return JsonLines()
    screen = console(sys.stdout)
    return LiveView(screen) if is_lively(sys.stdout) else PlainLines(screen)


async def run_daemon(
    settings: Settings,
    *,
    json: bool,
    announce: Callable[[Daemon], None],
    file: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run until there is no more to do or a signal came: the first drains, the second stops at once.

    `file` is where the settings are from: SIGHUP has it read again, with the `variables` of the start.

    Raises KeyboardInterrupt for the second signal, BrokenPipeError when nobody reads what is printed.
    """
    stdout = Stdout(json=json)
    daemon = Daemon(settings, sinks=[stdout])
    work = asyncio.create_task(daemon.run())
    with_signals(partial(_drain, daemon, work), work)
    ready = asyncio.create_task(daemon.ready.wait())
    await asyncio.wait({work, ready}, return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if not work.done():
        announce(daemon)
        # What is loaded by now stays for good. Each time the collector looked it all over, every move would wait.
        gc.freeze()
        gc.set_threshold(*_COLLECT_AFTER)
        # It looks thoroughly only when a quarter is new, of what it found the last time: from here on little.
        gc.collect()
        systemd.notify("READY=1")
    again = [_reload(daemon, settings, file, variables or {}).run()] if file is not None else []
    await until_first(work, *again, stdout.gone.wait(), systemd.keep_told(lambda: daemon.summary, lambda: daemon.alive))
    if stdout.gone.is_set():
        raise BrokenPipeError
    if work.cancelled() and not daemon.ready.is_set():
        return
    await outcome_of(work)


def _reload(daemon: Daemon, settings: Settings, file: Path, variables: Mapping[str, str]) -> Reload:
    """Before this SIGHUP ends the program, as it does everywhere: nothing is played yet."""
    reload = Reload(file, variables, settings, daemon.reload)
    daemon.reread = reload.now
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload.now)
    return reload


def _drain(daemon: Daemon, work: "asyncio.Task[None]") -> None:
    if not daemon.ready.is_set():
        # It may be waiting for a server, and has nothing to finish.
        work.cancel()
        return
    if daemon.plays:
        tell("draining", "draining: no new games, running ones are finished; once more to stop at once")
    systemd.notify("STOPPING=1")
    daemon.drain()


async def until_first(work: "asyncio.Task[None]", *others: Coroutine[object, object, object]) -> None:
    """Wait for the work or anything else; what is not done then is cancelled. Raises what another one raised."""
    tasks = [asyncio.create_task(other) for other in others]
    await asyncio.wait({work, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    for task in (work, *tasks):
        task.cancel()
    await asyncio.wait({work, *tasks})
    for ended in tasks:
        if not ended.cancelled():
            ended.result()


def with_signals(drain: Callable[[], None], work: "asyncio.Task[None]") -> None:
    """Let SIGINT and SIGTERM drain first and cancel `work` second."""
    asked = False

    def on_signal() -> None:
        nonlocal asked
        if asked:
            work.cancel()
            return
        asked = True
        drain()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)


async def outcome_of(work: "asyncio.Task[None]") -> None:
    """Wait for the work; a second signal's cancellation becomes KeyboardInterrupt (exit status 130)."""
    try:
        await work
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
