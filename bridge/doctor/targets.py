"""Checks of what goes on elsewhere: the games that are watched exist, and the programs that hear of them listen."""

import asyncio
from contextlib import aclosing
from urllib.parse import urlsplit

from bridge.doctor.finding import Finding, told, wrong
from bridge.errors import PlatformError, RecordError, Refused
from bridge.interfaces import Disconnected
from bridge.platforms.lichess.platform import Lichess
from bridge.settings.models import Account, Settings
from bridge.settings.watch import WatchAccount, WatchEntry, WatchGame, WatchTv, WatchUser
from bridge.settings.webhooks import WebhookSettings

_PATIENCE_S = 10.0


async def examine_watch(entry: WatchEntry, settings: Settings) -> Finding | None:
    """Whether there is such a game, user or channel; None for what the check of its account tells."""
    if isinstance(entry, WatchAccount):
        return None
    account = settings.accounts[0] if settings.accounts else Account(platform="lichess")
    platform = Lichess(account.url, account.token.get_secret_value() if account.token is not None else "")
    try:
        match entry:
            case WatchGame():
                return await told(f"watch game:{entry.game}", _game(platform, entry.game))
            case WatchUser():
                return await told(f"watch user:{entry.user}", _user(platform, entry.user))
            case WatchTv():
                return await told(f"watch tv:{entry.tv}", _channel(platform, entry.tv))
    finally:
        await platform.close()
    return None


async def _game(platform: Lichess, game: str) -> Finding:
    subject = f"watch game:{game}"
    try:
        await platform.finished(game[:8])
    except Refused as error:
        if error.status != 404:
            raise
        return wrong(subject, f"{platform.url} has no game {game[:8]}: mend watch.game")
    except (PlatformError, RecordError):
        # It runs, or cannot be judged: it is there.
        return Finding(subject, "the game is there")
    return Finding(subject, "the game is there, and over")


async def _user(platform: Lichess, name: str) -> Finding:
    subject = f"watch user:{name}"
    try:
        game = await platform.playing(name)
    except Refused as error:
        if error.status != 404:
            raise
        return wrong(subject, f"{platform.url} knows no user {name}: mend watch.user")
    return Finding(subject, f"the user plays game {game}" if game else "the user is known, and plays no game now")


async def _channel(platform: Lichess, channel: str) -> Finding:
    subject = f"watch tv:{channel}"
    try:
        async with asyncio.timeout(_PATIENCE_S), aclosing(platform.tv_games(channel)) as games:
            async for said in games:
                if not isinstance(said, Disconnected):
                    return Finding(subject, "the channel is there")
    except Refused as error:
        return wrong(subject, f"{platform.url} has no TV channel {channel} ({error}): mend watch.tv")
    except TimeoutError:
        pass
    return wrong(subject, f"{platform.url} does not open this channel")


async def examine_webhook(webhook: WebhookSettings) -> Finding:
    """Whether somebody listens there; nothing is sent."""
    url = urlsplit(webhook.url)
    host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
    # An address may hold a password, or a key of the receiver's.
    where = f"{url.scheme}://{url.hostname}{f':{url.port}' if url.port else ''}"
    try:
        async with asyncio.timeout(_PATIENCE_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError) as error:
        cause = (error.strerror if isinstance(error, OSError) else "") or str(error) or "no answer in time"
        text = f"nobody can be reached at {where} ({cause}): start the program that listens there, or mend webhooks.url"
        return wrong("webhook", text)
    writer.close()
    signed = "signed" if webhook.secret is not None else "not signed"
    return Finding("webhook", f"{where} listens, and gets {', '.join(webhook.events)}, {signed}")
