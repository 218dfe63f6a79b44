"""Checks of one account: the server is there and keeps the same time, the token is good for what is asked of it."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import aiohttp

from bridge.doctor.finding import Finding, told, wrong
from bridge.errors import PlatformError, Refused, UsageError
from bridge.platforms.lichess.answers import no_answer
from bridge.platforms.lichess.platform import Lichess
from bridge.settings.models import Account
from bridge.settings.template import token_link

LARGEST_SKEW_S = 2
_SOON_S = 24 * 60 * 60
"""A token that expires sooner than this is told."""
PATIENCE_S = 10.0
_PROBE = "/api/users/status?ids=lichess"


async def examine_account(
    account: Account, subject: str, config: str, needs: frozenset[str], now: Callable[[], float] = time.time
) -> AsyncGenerator[Finding]:
    """Check one account, as far as it can be checked. `needs`: scopes its token must have.

    `config` is the file's name, for commands; `now` the wall clock, in seconds since 1970.
    """
    try:
        least_s, most_s = await _ahead(account.url, now)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        yield wrong(subject, str(no_answer(f"{account.url} cannot be reached", error)), f"curl -I {account.url}")
        return
    yield _clock(account.url, subject, least_s, most_s)
    if not await _speaks_the_api(account.url):
        where = urlsplit(account.url)
        yield wrong(
            subject,
            f"{account.url} answers, but not as the API does: the address is wrong (accounts.url is a server's, "
            "without a path, such as https://lichess.org)",
            f"curl -i {where.scheme}://{where.netloc}{_PROBE}",
        )
        return
    if account.token is None:
        yield Finding(subject, "no token: it can only watch what everybody sees")
        return
    platform = Lichess(account.url, account.token.get_secret_value())
    try:
        async with aclosing(_examine_token(platform, account, subject, config, needs, now)) as findings:
            async for finding in findings:
                yield finding
    finally:
        await platform.close()


async def _ahead(url: str, now: Callable[[], float]) -> tuple[float, float]:
    """By how many seconds the server's clock is ahead of ours: the least and the most that it can be.

    Any answer will do, its Date header is the clock; (0, 0) without one. The header is cut to whole seconds, and
    after a slow answer it is not known when it was written.
    """
    timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        asked_s = now()
        async with session.head(url, allow_redirects=False) as response:
            answered_s = now()
    try:
        date_s = parsedate_to_datetime(response.headers.get("Date", "")).timestamp()
    except ValueError:
        return 0, 0
    return date_s - answered_s, date_s + 1 - asked_s


async def _speaks_the_api(url: str) -> bool:
    """Whether what everybody may ask is answered as Lichess answers it; a refusal that says so in JSON will do."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url.rstrip("/") + _PROBE, allow_redirects=False) as response,
        ):
            return response.status in (429, 503) or isinstance(await response.json(content_type=None), list)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return False


def _clock(url: str, subject: str, least_s: float, most_s: float) -> Finding:
    """Told only when it is certain, by the figure nearest to 0."""
    skew_s = max(least_s, min(most_s, 0.0))
    if abs(skew_s) <= LARGEST_SKEW_S:
        return Finding(subject, f"{url} answers, and this machine's clock agrees with its")
    where = "behind" if skew_s > 0 else "ahead of"
    text = f"this machine's clock is {abs(skew_s):.0f} s {where} that of {url}: set it"
    return wrong(subject, text, "sudo timedatectl set-ntp true")


async def _examine_token(
    platform: Lichess, account: Account, subject: str, config: str, needs: frozenset[str], now: Callable[[], float]
) -> AsyncGenerator[Finding]:
    link = f"make one at {token_link(account.url)}"
    token = await told(subject, _token(platform, subject, needs, link, now))
    yield token
    try:
        owner = await platform.account()
    except (PlatformError, UsageError) as error:
        if token.fine:
            yield wrong(subject, str(error), link if isinstance(error, UsageError) else "")
        return
    if account.play is not None and not owner.is_bot:
        which = f" --account {account.name}" if account.name else ""
        text = f"{owner.name} has not the title BOT that playing needs (only an account that never played can get it)"
        yield wrong(subject, text, f"kirichess-bridge account upgrade -c {config}{which}")
    else:
        yield Finding(subject, f"it belongs to {owner.title} {owner.name}".replace("  ", " "))
    yield await told(subject, _games(platform, subject))


async def _token(
    platform: Lichess, subject: str, needs: frozenset[str], link: str, now: Callable[[], float]
) -> Finding:
    try:
        facts = await platform.token_facts()
    except Refused as error:
        if error.status != 401:
            raise
        facts = None
    if facts is None:
        return wrong(subject, f"{platform.url} does not know this token: mistyped, revoked or expired", link)
    missing = sorted(needs - facts.scopes)
    if missing:
        has = ", ".join(sorted(facts.scopes)) or "none"
        return wrong(subject, f"the token lacks the scope {', '.join(missing)} (it has: {has})", link)
    if facts.expires_at_ms is not None and (left_s := facts.expires_at_ms / 1000 - now()) < _SOON_S:
        return wrong(subject, f"the token expires in {max(0, round(left_s / 60))} min", link)
    return Finding(subject, f"the token is known, with {', '.join(sorted(needs)) or 'no scope needed'}")


async def _games(platform: Lichess, subject: str) -> Finding:
    running = len(await platform.ongoing())
    return Finding(subject, f"games running: {running}" + (", `run` takes them up" if running else ""))
