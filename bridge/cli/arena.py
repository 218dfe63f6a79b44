"""`arena`: the local Lichess-compatible server by itself."""

import asyncio
import signal
from pathlib import Path

import click

from bridge.cli.console import complain
from bridge.cli.values import finite
from bridge.errors import UsageError


@click.command(name="arena")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; a free one by default.")
@click.option(
    "--replay",
    "recorded",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Play the games of a PGN file live.",
)
@click.option(
    "--speed",
    type=click.FloatRange(0, 1_000_000, min_open=True),
    callback=finite,
    default=1.0,
    show_default=True,
    help="Of the waiting in a replay; clock values stay as recorded.",
)
@click.option("--faults", "spec", metavar="SPEC", help="Faults on order; the words stand below.")
@click.option("--wait", is_flag=True, help="Each replayed game waits until somebody watches it.")
def arena(port: int, recorded: Path | None, speed: float, spec: str | None, wait: bool) -> None:
    """A small Lichess on this machine: real clients play whole games on it, nothing leaves the machine.

    Prints its address and tokens, those of replayed players included: their streams can be read. Any token of the
    form lip_NAME makes a bot account, lip_human_NAME a human one. Ends on Ctrl-C or a termination signal.

    --faults SPEC is a list of WHERE:WHAT[:HOW…], parted by commas:

    \b
      WHERE  a route: move, chat, accept, resign, abort, draw, takeback, export, …
             or a stream: event_stream, game_stream, watch, games_by_ids, tv_feed
      WHAT   a status from 400 to 599 (400, 429, 503, …), page: a web page instead of an answer;
             of requests also reset: no answer, lost: done and no answer,
             late: done, answered after 10 s;
             of open streams, at their next line: end, reset, silence
      HOW    how often, always if nothing is said: a share (0.1) or every=30s; times=3,
             ply=20 (once a game, from that ply on; with every=, again and again),
             account=NAME, wait=5s (the figure of a 429, or how late an answer is)

    \b
    For example: --faults move:429:0.1:wait=2s,event_stream:reset:every=30s,game_stream:silence:ply=20
    """
    asyncio.run(_serve(port, recorded, speed, wait, spec))


async def _serve(port: int, recorded: Path | None, speed: float, wait: bool, spec: str | None) -> None:
    from bridge.arena import Account, Arena, ArenaSettings, read_recordings, seat_token
    from bridge.arena.fault_orders import parse_orders
    from bridge.arena.ordered_faults import OrderedFaults
    from bridge.arena.server import GAME_ROUTES, ROUTE_NAMES

    faults = None if spec is None else OrderedFaults(parse_orders(spec, ROUTE_NAMES, GAME_ROUTES))
    recordings = read_recordings(recorded, lambda error: complain(str(error))) if recorded else []
    accounts = [
        Account("KiriBot", "lip_KiriBot", title="BOT"),
        Account("RivalBot", "lip_RivalBot", title="BOT"),
        Account("Visitor", "lip_human_Visitor"),
    ]
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        async with Arena(accounts, ArenaSettings(open_accounts=True), port=port, faults=faults) as server:
            faulting = [asyncio.create_task(faults.run(server.hall))] if faults is not None else []
            click.echo(f"arena at {server.url}")
            for account in accounts:
                click.echo(f"  {account.title or 'human':5} {account.name:10} token {account.token}")
            click.echo("  a new token lip_NAME makes a bot account, lip_human_NAME a human one")
            playing = asyncio.create_task(server.replay(recordings, speed=speed, wait_for_viewer=wait))
            for recording in recordings:
                players = " - ".join(f"{seat.name} ({seat_token(seat)})" for seat in (recording.white, recording.black))
                click.echo(f"  replay {server.url}/{recording.game_id} {players}")
            await _until(stop, playing)
            for task in faulting:
                task.cancel()
    except OSError as error:
        raise UsageError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from None


async def _until(stop: asyncio.Event, playing: "asyncio.Task[list[str]]") -> None:
    """Until told to stop; a replay that fails is told at once, one that is done leaves the server up."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({stopping, playing}, return_when=asyncio.FIRST_COMPLETED)
    if playing.done():
        playing.result()
        await stopping
    playing.cancel()
