"""`doctor`: what stands between the user and the first game."""

import asyncio
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.errors import SettingsError

if TYPE_CHECKING:
    from bridge.doctor import Finding
    from bridge.settings import Settings

EXIT_WRONG = 1
_TOKEN_PROBLEM = re.compile(r"accounts\[\d+\](\.token|: an account that plays needs token)")


@click.command(name="doctor")
@click.option("-c", "--config", type=click.Path(path_type=Path), required=True, help="The configuration file.")
@click.option("--online", is_flag=True, help="Try the sites too that moves are looked up at.")
@click.pass_context
def command(context: click.Context, config: Path, online: bool) -> None:
    """Check everything that a game needs, and say how to mend what is wrong.

    Nothing is changed: no game is started, no challenge answered.
    """
    from bridge.cli.logs import set_up_logs
    from bridge.settings import load
    from bridge.settings.template import token_link

    set_up_logs(logging.ERROR)  # what is wrong is a finding
    try:
        settings = load(config, forget=True)
    except SettingsError as error:
        if any(_TOKEN_PROBLEM.search(line) for line in error.problems):
            hint = f"a token is made at {token_link(_server(config))}"
            raise SettingsError([*error.problems, hint]) from error
        raise
    click.echo(_line(True, "config", f"{config} is right"))
    if not asyncio.run(_examine(settings, config, online)):
        context.exit(EXIT_WRONG)


def _server(config: Path) -> str:
    """Where the first account's token is made, as far as the file can be read."""
    from bridge.settings import load
    from bridge.settings.base import LICHESS_URL

    try:
        accounts = load(config, mode="check").accounts
    except SettingsError:
        return LICHESS_URL
    return accounts[0].url if accounts else LICHESS_URL


async def _examine(settings: "Settings", config: Path, online: bool) -> bool:
    from bridge.doctor import examine

    fine = True
    async for finding in examine(settings, str(config), online=online):
        fine = fine and finding.fine
        show(finding)
    click.echo("all is well" if fine else "something is wrong; see above", err=True)
    return fine


def show(finding: "Finding") -> None:
    """A line, and one with the command that mends it."""
    click.echo(_line(finding.fine, finding.subject, finding.text))
    if finding.cure:
        click.echo(f"{'':6} → {finding.cure}")


def _line(fine: bool, subject: str, text: str) -> str:
    return f"{'ok' if fine else 'wrong':5}  {subject}: {text}"
