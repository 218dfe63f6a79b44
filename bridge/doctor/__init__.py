"""What stands between the user and the first game: an ordered list of checks, each with the command that mends it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from bridge.doctor.accounts import examine_account
from bridge.doctor.engines import examine_engine
from bridge.doctor.finding import Finding, wrong
from bridge.doctor.machine import examine_folder, examine_journal, examine_monitor, examine_secrets
from bridge.doctor.running import running_bridge
from bridge.doctor.sources import examine_sources
from bridge.doctor.targets import examine_notification, examine_watch, examine_webhook
from bridge.settings.models import Account, Settings
from bridge.settings.watch import WatchAccount

__all__ = ["Finding", "examine", "examine_first_account", "wrong"]


async def examine(settings: Settings, config: str, *, online: bool = False) -> AsyncGenerator[Finding]:
    """Every check, in the order in which a game would need what it checks; `config` is the file's name.

    `online`: whether the sites that moves are looked up at are tried too.
    """
    running = running_bridge(settings.journal.url, config)
    if running is not None:
        yield Finding("daemon", f"it runs with this configuration (process {running})")
    for finding in examine_secrets(settings, config):
        yield finding
    for index, account in enumerate(settings.accounts):
        subject = f"account {account.name or index + 1}"
        needs = _scopes(account, settings)
        async with aclosing(examine_account(account, subject, config, needs)) as findings:
            async for finding in findings:
                yield finding
        if account.play is not None:
            async for finding in examine_sources(account.play, online):
                yield replace(finding, subject=f"{subject}, {finding.subject}")
    for name, engine in settings.engines.items():
        yield await examine_engine(name, engine)
    for entry in settings.watch:
        found = await examine_watch(entry, settings)
        if found is not None:
            yield found
    if settings.monitor is not None:
        yield examine_monitor(settings.monitor, config, running)
    yield await examine_journal(settings.journal.url, config, running)
    if settings.pgn is not None:
        yield examine_folder("pgn", Path(settings.pgn.folder), "games")
    if settings.engine_logs is not None:
        yield examine_folder("engine_logs", Path(settings.engine_logs.folder), "engine-logs")
    for webhook in settings.webhooks:
        yield await examine_webhook(webhook)
    for index, notification in enumerate(settings.notifications):
        yield examine_notification(f"notification {index + 1}", notification)


async def examine_first_account(settings: Settings, config: str) -> AsyncGenerator[Finding]:
    """The first account alone: its server and its token."""
    account = settings.accounts[0]
    async with aclosing(examine_account(account, "account", config, _scopes(account, settings))) as findings:
        async for finding in findings:
            yield finding


def _scopes(account: Account, settings: Settings) -> frozenset[str]:
    """bot:play is enough to hear, accept and play; a player's own board streams want board:play (Lichess API §1.3)."""
    if account.play is not None:
        return frozenset({"bot:play"})
    own = [entry.account for entry in settings.watch if isinstance(entry, WatchAccount)]
    return frozenset({"board:play"} if account.name in own or "me" in own else ())
