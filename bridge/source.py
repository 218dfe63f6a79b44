"""Where games come from: an account's events, a user who is looked for, a TV channel. Whether it is there is told."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

import structlog

from bridge import event_types
from bridge.errors import JournalError, PlatformError
from bridge.interfaces import Connected, Disconnected, Draft, Journal

T = TypeVar("T")

log = structlog.get_logger("kirichess_watch")


class Source:
    """One source, named as events and status name it: an account, `user:NAME`, `tv:CHANNEL`.

    `trouble` says why it is not `online`; empty while it is.
    """

    def __init__(self, name: str, journal: Journal) -> None:
        self.name = name
        self.online = False
        self.trouble = "not connected yet"
        self._journal = journal

    async def heard(self, messages: AsyncGenerator[T | Connected | Disconnected]) -> AsyncGenerator[T]:
        """What is said of games; what is said of the connection is kept, and stored as an event.

        Raises what `messages` raises.
        """
        try:
            async with aclosing(messages):
                async for message in messages:
                    if isinstance(message, Connected):
                        await self._went(online=True, reason="")
                    elif isinstance(message, Disconnected):
                        await self._went(online=False, reason=message.reason)
                    else:
                        yield message
        except PlatformError as error:
            await self._went(online=False, reason=str(error))
            raise

    async def _went(self, *, online: bool, reason: str) -> None:
        self.trouble = reason
        if online == self.online:
            return
        self.online = online
        kind = event_types.ACCOUNT_ONLINE if online else event_types.ACCOUNT_OFFLINE
        try:
            await self._journal.append([Draft(kind, "", {"reason": reason} if reason else {}, self.name)])
        except JournalError as error:
            # Games are followed without it.
            log.error("event_not_stored", type=kind, account=self.name, cause=str(error))
