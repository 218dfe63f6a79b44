"""`account upgrade`: make an account a BOT, for good."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.errors import BridgeError, Unreachable, UsageError

if TYPE_CHECKING:
    from bridge.settings import Settings
    from bridge.settings.models import Account

_WARNING = """\
This turns {name} on {url} into a BOT account. IT CANNOT BE UNDONE.
From then on only a program can play with it: no games by hand, no tournaments for people, no way back.
The server refuses it for an account that has played a game: take a new one."""


@click.group(name="account")
def command() -> None:
    """Change an account on its platform."""


@command.command()
@click.option("-c", "--config", type=click.Path(path_type=Path), required=True, help="The configuration file.")
@click.option("--account", "name", help="Which account, by its name in the file; needed where several play.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def upgrade(config: Path, name: str | None, yes: bool) -> None:
    """Make an account a BOT. This cannot be undone."""
    from bridge.settings import load

    account = _choose(load(config), name, config)
    asyncio.run(_upgrade(account, yes, config))


def _choose(settings: "Settings", name: str | None, config: Path) -> "Account":
    found = [account for account in settings.accounts if name is None or account.name == name]
    playing = [account for account in found if account.play is not None]
    candidates = found if len(found) == 1 else playing
    names = ", ".join(account.name for account in settings.accounts if account.name)
    if len(candidates) > 1:
        raise UsageError(f"several accounts play in {config}: say which with --account (known: {names or 'no names'})")
    if not candidates:
        raise UsageError(f"{config} has no such account (known: {names or 'no names'})")
    return candidates[0]


async def _upgrade(account: "Account", yes: bool, config: Path) -> None:
    from bridge.platforms.lichess.platform import Lichess

    if account.token is None:
        raise UsageError(f"the account has no token in {config}")
    platform = Lichess(account.url, account.token.get_secret_value())
    try:
        try:
            owner = await platform.account()
        except Unreachable as error:
            raise Unreachable(f"{account.url} does not answer; is the address right? ({error})") from None
        if owner.is_bot:
            click.echo(f"{owner.name} is a BOT account already")
            return
        if "bot:play" not in await platform.token_scopes():
            raise UsageError(f"the token lacks the scope bot:play; kirichess-bridge doctor -c {config} says more")
        click.echo(_WARNING.format(name=owner.name, url=account.url), err=True)
        _confirm(owner.name, yes)
        await platform.upgrade()
        if not (await platform.account()).is_bot:
            raise BridgeError(f"{account.url} agreed, but {owner.name} is no BOT account; try once more")
    finally:
        await platform.close()
    click.echo(f"{owner.name} is a BOT account now. Next: kirichess-bridge run -c {config}")


def _confirm(name: str, yes: bool) -> None:
    if yes:
        return
    if not _is_terminal():
        raise UsageError("nobody is there to confirm it; add --yes if you are sure")
    if click.prompt(f"Type {name} to go on", err=True) != name:
        raise UsageError("not confirmed; nothing was changed")


def _is_terminal() -> bool:
    return sys.stdin.isatty()
