"""How many connections the monitor holds: whoever opens them must leave the program files of its own to open."""

import asyncio
import resource

from aiohttp import web

MOST_CONNECTIONS = 2000
IDLE_S = 30.0
"""That a connection may ask for nothing."""


def room_for_connections() -> int:
    """Half of the files that the program may have open at a time, and no more than MOST_CONNECTIONS."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if allowed == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, allowed // 2)


class Bounded:
    """For `loop.create_server`: hands connections to `server` while it has fewer than `most`; closes the others."""

    def __init__(self, server: web.Server, most: int) -> None:
        self._server = server
        self._most = most

    def __call__(self) -> asyncio.BaseProtocol:
        return self._server() if len(self._server.connections) < self._most else _OneTooMany()


class _OneTooMany(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()
