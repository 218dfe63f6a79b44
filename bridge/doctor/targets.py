"""Checks of what goes on elsewhere: the games that are watched exist, and the programs that hear of them listen."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from urllib.parse import urlsplit

from bridge.doctor.finding import Finding, told, wrong
from bridge.errors import PlatformError, RecordError, Refused
from bridge.interfaces import Disconnected
from bridge.platforms.lichess.platform import Lichess
from bridge.settings.models import Account, Settings
from bridge.settings.notifications import NotificationSettings
from bridge.settings.watch import WatchAccount, WatchEntry, WatchGame, WatchGames, WatchTv, WatchUser
from bridge.settings.webhooks import WebhookSettings

_PATIENCE_S = 10.0
_ONE_BY_ONE = 10
"""Games of a list that are asked for by themselves, at most."""


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
            case WatchGames():
                return await told(f"watch games ({len(entry.games)})", _games(platform, entry.games))
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


async def _games(platform: Lichess, games: Sequence[str]) -> Finding:
    """Asked for together; those that are not among the answers, once more one by one: they may run."""
    subject = f"watch games ({len(games)})"
    ids = [game[:8] for game in games]
    found = await asyncio.gather(*map(platform.finished_among_many, ids), return_exceptions=True)
    doubtful = [game for game, answer in zip(ids, found, strict=True) if isinstance(answer, PlatformError)]
    if len(doubtful) > _ONE_BY_ONE:
        shown = f"{', '.join(doubtful[:_ONE_BY_ONE])}, …"
        return wrong(subject, f"{platform.url} gives {len(doubtful)} of them not, or not yet: {shown}: see watch.games")
    missing = [game for game in doubtful if not (await _game(platform, game)).fine]
    if missing:
        return wrong(subject, f"{platform.url} has no game {', '.join(missing)}: mend watch.games")
    over = len(games) - len(doubtful)
    return Finding(subject, f"they are all there, {over} of them over")


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


def examine_notification(subject: str, told_by: NotificationSettings) -> Finding:
    """Which service tells of what; nothing is sent. Apprise has read the address with the file."""
    service = told_by.url.get_secret_value().partition(":")[0] if told_by.url is not None else ""
    return Finding(subject, f"{service}:// is an address of Apprise's, and tells of {', '.join(told_by.events)}")
