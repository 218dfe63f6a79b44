"""/events: the journal as Server-Sent Events, resumed where the reader says it stopped."""

import asyncio

from aiohttp import web
from aiohttp_sse import sse_response

from bridge.cloudevents import to_json
from bridge.interfaces import Journal
from bridge.web.guard import problem

KEEP_ALIVE_S = 15.0
SEND_TIMEOUT_S = 10.0


class EventStream:
    """Each entry as `id:` its number, `event:` its type, `data:` its CloudEvent.

    After `Last-Event-ID`, else after `?after=N`, else after the newest. A reader that takes nothing for
    SEND_TIMEOUT_S while there is something to send is dropped, and resumes by itself.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._readers: set[asyncio.Task[object]] = set()

    async def get(self, request: web.Request) -> web.StreamResponse:
        """The handler of GET /events."""
        last = await self._journal.last_seq()
        start = request.headers.get("Last-Event-ID") or request.query.get("after") or str(last)
        if not (start.isascii() and start.isdigit()):
            return problem(400, f"Last-Event-ID and after are numbers of entries (got {start[:40]!r})")
        reader = asyncio.current_task()
        assert reader is not None
        self._readers.add(reader)
        try:
            async with sse_response(request, ping_interval=KEEP_ALIVE_S, send_timeout=SEND_TIMEOUT_S) as response:
                # A number from beyond the end is from another journal: what is new here is all that can be told.
                async for entry in self._journal.follow(min(int(start), last)):
                    await response.send(to_json(entry), id=str(entry.seq), event=entry.type)
                return response
        except (ConnectionResetError, TimeoutError):
            # The reader went away, or is too slow: nothing to be mended here.
            return web.Response(status=499)
        finally:
            self._readers.discard(reader)

    async def close(self, _app: web.Application) -> None:
        """Send every reader away, so that the server can end. For `app.on_shutdown`."""
        for reader in self._readers:
            reader.cancel()
