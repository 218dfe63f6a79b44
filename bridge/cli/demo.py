"""`demo`: arena, two bots, daemon and monitor in one process; no account, no network."""

import asyncio
import math
import signal
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.event_types import VERDICT_FINAL

if TYPE_CHECKING:
    from bridge.arena import Arena
    from bridge.daemon import Daemon
    from bridge.interfaces import Entry
    from bridge.settings.models import Settings

_THINK_CAP_MS = 150
"""Thinking is shortened for the demonstration, the rules never are."""

_PAUSE_S = 3.0
_BOTS = ("KiriOne", "KiriTwo")


@click.command("demo")
@click.option("--once", is_flag=True, help="Play one game, print its verdict, and end.")
@click.option("--pool", default="winder", show_default=True, help="The pool, or preset, to play in.")
@click.option("--seconds", type=click.IntRange(1, 10**9), help="End after so many seconds.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The monitor's port (default: a free one).")
def command(once: bool, pool: str, seconds: int | None, port: int) -> None:
    """Watch two built-in bots play KiriChess on a local server.

    Prints the address of the page; live clocks in the terminal. Ends with a signal, after --seconds, or --once.
    """
    ends_at = None if seconds is None else time.monotonic() + seconds
    from bridge.cli.logs import set_up_logs
    from bridge.rules.pools import named

    name = named(pool).pool or pool
    set_up_logs()
    asyncio.run(_demo(name, once=once, ends_at=ends_at, port=port))


class _Verdicts:
    """A sink that tells when a game has its final verdict."""

    name = "demo"

    def __init__(self) -> None:
        self.finals: asyncio.Queue[str] = asyncio.Queue()

    async def write(self, entry: "Entry") -> None:
        if entry.type == VERDICT_FINAL:
            self.finals.put_nowait(entry.subject)

    async def close(self) -> None:
        pass


async def _demo(pool: str, *, once: bool, ends_at: float | None, port: int) -> None:
    from bridge.arena import Account, Arena
    from bridge.cli.running import Stdout, until_first
    from bridge.daemon import Daemon

    stdout, verdicts = Stdout(json=False), _Verdicts()
    with tempfile.TemporaryDirectory(prefix="kirichess-demo-") as folder:
        async with Arena([Account(name, f"demo{name}", title="BOT") for name in _BOTS]) as arena:
            settings = _settings(arena.url, pool, port, Path(folder))
            daemon = Daemon(settings, sinks=[stdout, verdicts], think_cap_ms=_THINK_CAP_MS)
            work = asyncio.create_task(daemon.run())
            ends = [
                _signal(),
                stdout.gone.wait(),
                *([] if ends_at is None else [asyncio.sleep(ends_at - time.monotonic())]),
            ]
            await until_first(work, _play(arena, daemon, verdicts, pool, once=once), *ends)
            if stdout.gone.is_set():
                raise BrokenPipeError
            if not work.cancelled():
                work.result()


async def _play(arena: "Arena", daemon: "Daemon", verdicts: _Verdicts, pool: str, *, once: bool) -> None:
    """One game after the other, colours swapped, from the daemon's first ready moment on; never returns."""
    from bridge.rules.budget import safe_platform_ms
    from bridge.rules.pools import named

    limit_s = -(-safe_platform_ms(named(pool).dials) // 60_000) * 60
    await daemon.ready.wait()
    if daemon.monitor is not None:
        click.echo(f"page: {daemon.monitor.url}   server: {arena.url}", err=True)
    white, black = _BOTS
    while True:
        arena.pair(white, black, limit_s, 0)
        await verdicts.finals.get()
        if once:
            daemon.drain()
        white, black = black, white
        await asyncio.sleep(_PAUSE_S if not once else math.inf)


async def _signal() -> None:
    """Return at the first SIGINT or SIGTERM: a demonstration has nothing to drain."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)


def _settings(url: str, pool: str, port: int, folder: Path) -> "Settings":
    from bridge.settings.models import Settings

    play = {"engine": "built-in", "pool": pool, "concurrency": 4, "move_overhead": 20}
    return Settings.model_validate(
        {
            "accounts": [{"platform": "lichess", "url": url, "token": f"demo{name}", "play": play} for name in _BOTS],
            "engines": {"built-in": {"kind": "kiri", "builtin": True}},
            "journal": {"url": f"sqlite:///{folder / 'journal.db'}"},
            "monitor": {"listen": f"127.0.0.1:{port}"},
        }
    )
