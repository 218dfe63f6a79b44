"""`run`: the daemon."""

import asyncio
import os
from pathlib import Path

import click

from bridge.errors import BridgeError


@click.command("run")
@click.option(
    "-c",
    "--config",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    help="The configuration file; `config init` writes one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print every event as CloudEvents JSON, one a line.")
def command(file: Path, as_json: bool) -> None:
    """Play with the accounts of FILE and watch what it names, until a signal.

    The first signal takes no new games and ends when the running ones are over, or after `drain_s` seconds: what still
    runs then goes on with the next start. The second signal stops at once. SIGHUP reads FILE again:
    policy is replaced for the next decision, or nothing is where the file is wrong or needs a restart.
    """
    from bridge.cli.running import run_daemon, set_up_logs
    from bridge.daemon import Daemon
    from bridge.settings.load import load

    set_up_logs()
    variables = dict(os.environ)
    settings = load(file, forget=True)

    def announce(daemon: Daemon) -> None:
        if daemon.monitor is not None:
            click.echo(f"monitor: {daemon.monitor.url}", err=True)

    try:
        asyncio.run(run_daemon(settings, json=as_json, announce=announce, file=file, variables=variables))
    except BrokenPipeError as error:
        # Other commands may end with their reader; a daemon that stops unasked has failed, and is to be started again.
        raise BridgeError("nobody reads what it prints any more, so it has stopped") from error
