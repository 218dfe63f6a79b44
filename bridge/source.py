"""Where games come from: an account's events, a user who is looked for, a TV channel. Whether it is there is told."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from bridge.account_log import AccountLog, Connection
from bridge.errors import PlatformError
from bridge.interfaces import Connected, Disconnected, Journal

T = TypeVar("T")


class Source:
    """One source, named as events and status name it: an account, `user:NAME`, `tv:CHANNEL`.

    `trouble` says why it is not `online`; empty while it is.
    """

    def __init__(self, name: str, journal: Journal) -> None:
        self.name = name
        self._connection = Connection(AccountLog(name, journal))

    @property
    def online(self) -> bool:
        """Whether it is there."""
        return self._connection.online

    @property
    def trouble(self) -> str:
        """Why it is not; empty while it is."""
        return self._connection.trouble

    async def heard(self, messages: AsyncGenerator[T | Connected | Disconnected]) -> AsyncGenerator[T]:
        """What is said of games; what is said of the connection is kept, and stored as an event.

        Raises what `messages` raises.
        """
        try:
            async with aclosing(messages):
                async for message in messages:
                    if isinstance(message, Connected):
                        await self._connection.went(online=True)
                    elif isinstance(message, Disconnected):
                        await self._connection.went(online=False, reason=message.reason)
                    else:
                        yield message
        except PlatformError as error:
            await self._connection.went(online=False, reason=str(error))
            raise
