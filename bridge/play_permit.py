"""Whether a token lets its account play, asked before the first game."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

from bridge.errors import PlatformError, UsageError

log = structlog.get_logger("kirichess_daemon")

_PLAYS = "bot:play"
_SOON_MS = 24 * 3_600_000


class TokenFacts(Protocol):
    """What a token may do; `expires_at_ms` of Unix time, None for never."""

    @property
    def scopes(self) -> frozenset[str]: ...

    @property
    def expires_at_ms(self) -> int | None: ...


async def require_permit(
    name: str, ask: Callable[[], Awaitable[TokenFacts | None]], link: str, wall_ms: Callable[[], int]
) -> None:
    """Say what a token lacks, and where one with it is made; one that ends soon is warned of.

    Raises:
        UsageError: the account could hear of games, and not play them.
    """
    try:
        facts = await ask()
    except PlatformError as error:
        # Not every server tells; one that refuses something later says so then.
        log.warning("token_not_tested", account=name, cause=str(error))
        return
    if facts is None:
        return  # it has just told whose token it is
    if _PLAYS not in facts.scopes:
        has = ", ".join(sorted(facts.scopes)) or "none"
        raise UsageError(f"the token of {name} lacks the scope {_PLAYS} (it has: {has}); make one at {link}")
    if facts.expires_at_ms is not None and facts.expires_at_ms - wall_ms() < _SOON_MS:
        left_min = max(0, round((facts.expires_at_ms - wall_ms()) / 60_000))
        log.warning("token_expires_soon", account=name, in_min=left_min, mend=f"make one at {link}")
