"""The monitor's connections: how many it holds, so that whoever opens them leaves the program files of its own to open;
and what those are told that send no request which can be read."""

import asyncio
import resource
from collections.abc import Callable

from aiohttp import web

from bridge.web.guard import HEADERS, problem
from bridge.web.limits import MOST_BYTES, MOST_HEADERS

MOST_CONNECTIONS = 2000
IDLE_S = 30.0
"""That a connection may ask for nothing."""


def room_for_connections() -> int:
    """Half of the files that the program may have open at a time, and no more than MOST_CONNECTIONS."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if allowed == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, allowed // 2)


class Bounded:
    """For `loop.create_server`: hands connections to what `connect` makes while `server` has fewer than `most`; closes
    the others."""

    def __init__(self, server: web.Server, most: int, connect: Callable[[], asyncio.BaseProtocol]) -> None:
        self._server = server
        self._most = most
        self._connect = connect

    def __call__(self) -> asyncio.BaseProtocol:
        return self._connect() if len(self._server.connections) < self._most else _OneTooMany()


class Connection(web.RequestHandler):
    """aiohttp's, which tells in the monitor's own way what it refuses before the application sees it."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Nothing of what came is quoted. Raises ConnectionError: half an answer is under way."""
        super().handle_error(request, status, exc, message)
        text = f"that is no HTTP request, or has a line of over {MOST_BYTES} bytes or over {MOST_HEADERS} headers"
        response = problem(status, text if status < 500 else "that failed here")
        response.headers.update(HEADERS)
        response.force_close()
        return response


class _OneTooMany(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()
