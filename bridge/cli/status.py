"""`status`: what the running daemon does, as its monitor tells."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from bridge.cli.values import server_address
from bridge.errors import BridgeError, UsageError
from bridge.records.pool_told import pool_told

DEFAULT_URL = "http://127.0.0.1:8080"
PATIENCE_S = 5.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@click.command(name="status")
@click.option("-c", "--config", type=click.Path(path_type=Path), help="The running daemon's configuration file.")
@click.option("--url", callback=server_address, help=f"The address of its monitor.  [default: {DEFAULT_URL}]")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def command(ctx: click.Context, config: Path | None, url: str | None, as_json: bool) -> None:
    """Say what the running daemon does: accounts, games, journal. Exit status 1 when it is not healthy."""
    if config is not None and url is not None:
        raise UsageError("give -c or --url, not both: the file has the address in it")
    address, token = (url or DEFAULT_URL, None) if config is None else monitor_of(config)
    found = asyncio.run(_ask(address, token))
    click.echo(json.dumps(found, ensure_ascii=False) if as_json else "\n".join(_lines(address, found)))
    if not found.get("healthy"):
        ctx.exit(1)


def monitor_of(config: Path) -> tuple[str, str | None]:
    """Address and token. Variables that only the daemon needs may be unset here."""
    from bridge.settings import load

    monitor = load(config, mode="check").monitor
    if monitor is None:
        raise UsageError(f"{config} has no `monitor:`, so the daemon cannot be asked")
    if monitor.port == 0:
        raise UsageError(f"{config} leaves the port open (0): give the address that `run` printed with --url")
    host = _EVERYWHERE.get(monitor.host, monitor.host)
    token = None if monitor.token is None else monitor.token.get_secret_value()
    return f"http://{f'[{host}]' if ':' in host else host}:{monitor.port}", token


async def _ask(address: str, token: str | None) -> Mapping[str, object]:
    import aiohttp

    from bridge.platforms.lichess.answers import system_cause

    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.get(f"{address}/status", allow_redirects=False) as response,
        ):
            status, body = response.status, await response.read()
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        cause = system_cause(error) or ("no answer in time" if isinstance(error, TimeoutError) else "no answer")
        raise BridgeError(f"no daemon runs at {address} ({cause}); start it: kirichess-bridge run -c FILE") from error
    if status in (401, 403):
        raise BridgeError(f"{address} wants its token: give the daemon's file with -c")
    try:
        found = json.loads(body) if status == 200 else None
    except ValueError:
        found = None
    if not isinstance(found, dict) or "streams" not in found:
        raise BridgeError(f"what runs at {address} is no kirichess-bridge (status {status}); give --url or -c")
    return found


def _lines(address: str, found: Mapping[str, object]) -> Iterator[str]:
    state = "draining" if found.get("draining") else "ready" if found.get("ready") else "starting"
    health = "" if found.get("healthy") else ", not healthy"
    yield f"kirichess-bridge {found.get('version')} at {address}: {state}{health}, up {_duration(found.get('up_ms'))}"
    for stream in _tables(found, "streams"):
        detail = f" ({stream.get('detail')})" if stream.get("detail") else ""
        yield f"  {'ok' if stream.get('alive') else 'lost':5} {stream.get('name')}{detail}"
    games = _tables(found, "games")
    yield f"games running: {len(games)}"
    for game in games:
        clocks = f"{_clock(game.get('white_ms'))} – {_clock(game.get('black_ms'))}"
        players = f"{game.get('white') or '?'} – {game.get('black') or '?'}"
        yield f"  {game.get('id')}  {players}, {pool_told(game)}, ply {game.get('ply')}, {clocks}"
    yield f"journal: events so far: {found.get('seq')}"


def _tables(found: Mapping[str, object], name: str) -> list[dict[str, object]]:
    listed = found.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _duration(ms: object) -> str:
    seconds = ms // 1000 if isinstance(ms, int) else 0
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _clock(ms: object) -> str:
    from bridge.rules.clock_text import clock_text

    return clock_text(ms) if isinstance(ms, int) else "?"
