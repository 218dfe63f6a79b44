"""`run`: the daemon."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.errors import BridgeError

if TYPE_CHECKING:
    from bridge.cli.logs import LogFormat


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
@click.option(
    "--log-format",
    type=click.Choice(["auto", "text", "json"]),
    default="auto",
    show_default=True,
    help="Of the log on stderr; auto: readable on a terminal, JSON lines elsewhere.",
)
def command(file: Path, as_json: bool, log_format: "LogFormat") -> None:
    """Play with the accounts of FILE and watch what it names, until a signal.

    The first signal takes no new games and ends when the running ones are over, or after `drain_s` seconds: what still
    runs then goes on with the next start. The second signal stops at once. SIGHUP reads FILE again:
    policy is replaced for the next decision, or nothing is where the file is wrong or needs a restart.
    """
    from bridge.cli.logs import set_up_logs, tell
    from bridge.cli.running import run_daemon
    from bridge.daemon import Daemon
    from bridge.settings.load import load

    set_up_logs(log_format=log_format)
    variables = dict(os.environ)
    settings = load(file, forget=True)

    def announce(daemon: Daemon) -> None:
        if daemon.monitor is not None:
            tell("monitor_listens", f"monitor: {daemon.monitor.url}", url=daemon.monitor.url)

    try:
        asyncio.run(run_daemon(settings, json=as_json, announce=announce, file=file, variables=variables))
    except BrokenPipeError as error:
        # Other commands may end with their reader; a daemon that stops unasked has failed, and is to be started again.
        raise BridgeError("nobody reads what it prints any more, so it has stopped") from error
