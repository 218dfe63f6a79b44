"""What `run`, `watch` and `demo` share: a daemon with a terminal, and signals that drain first and stop second."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence

import structlog
from rich.console import Console

from bridge.cloudevents import to_json
from bridge.daemon import Daemon
from bridge.interfaces import Entry, Sink
from bridge.settings.models import Settings
from bridge.sinks.terminal import LiveView, PlainLines


class JsonLines:
    """Events as CloudEvents, one JSON object a line, on stdout."""

    name = "stdout"

    async def write(self, entry: Entry) -> None:
        """Print one event."""
        sys.stdout.write(to_json(entry) + "\n")
        sys.stdout.flush()

    async def close(self) -> None:
        """Nothing to let go of."""


def terminal_sink(*, json: bool) -> Sink:
    """A live picture on a terminal, one line an event elsewhere, CloudEvents with `--json`."""
    if json:
        return JsonLines()
    console = Console()
    return LiveView(console) if console.is_terminal and "NO_COLOR" not in os.environ else PlainLines(console)


def set_up_logs() -> None:
    """Readable lines on stderr; stdout is the result's."""
    level = logging.WARNING if sys.stderr.isatty() else logging.INFO
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


async def run_daemon(settings: Settings, sinks: Sequence[Sink], announce: Callable[[Daemon], None]) -> None:
    """Run until there is no more to do or a signal came: the first drains, the second stops at once.

    Raises KeyboardInterrupt for the second signal.
    """
    daemon = Daemon(settings, sinks=sinks)
    work = asyncio.create_task(daemon.run())
    with_signals(daemon.drain, work)
    ready = asyncio.create_task(daemon.ready.wait())
    await asyncio.wait({work, ready}, return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if not work.done():
        announce(daemon)
    await outcome_of(work)


def with_signals(drain: Callable[[], None], work: "asyncio.Task[None]") -> None:
    """Let SIGINT and SIGTERM drain first and cancel `work` second."""
    asked = False

    def on_signal() -> None:
        nonlocal asked
        if asked:
            work.cancel()
            return
        asked = True
        sys.stderr.write("draining: no new games; once more to stop at once\n")
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
