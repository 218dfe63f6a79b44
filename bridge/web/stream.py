"""/events: the journal as Server-Sent Events, resumed where the reader says it stopped."""

import asyncio
import time
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog
from aiohttp import web
from aiohttp_sse import sse_response

from bridge.cloudevents import to_json
from bridge.errors import JournalError
from bridge.event_filter import EventFilter
from bridge.interfaces import Entry, Journal
from bridge.web.guard import problem

log = structlog.get_logger("kirichess_events")

KEEP_ALIVE_S = 15.0
SEND_TIMEOUT_S = 10.0
MOST_BUFFERED = 65_536
"""Bytes that may wait for a reader; with more he reads the journal by himself, at his own pace."""

AT_ONCE = 100
"""Entries that a reader who lacks some is given at a time."""

MOST_READERS = 1000
"""At a time; the ones too many are told to come again."""
_RETRY_S = 30


def framed(entry: Entry) -> tuple[bytes, bytes]:
    """An entry as readers are sent it: plain, and as one chunk of a chunked body (RFC 9112, 7.1)."""
    plain = f"id: {entry.seq}\r\nevent: {entry.type}\r\ndata: {to_json(entry)}\r\n\r\n".encode()
    return plain, b"%x\r\n%b\r\n" % (len(plain), plain)


@dataclass(eq=False)
class _Reader:
    """One connection. `seq`: what it has been sent; `behind`: it must read the journal by itself."""

    transport: asyncio.Transport
    chunked: bool
    wants: "Wanted"
    seq: int
    behind: asyncio.Event = field(default_factory=asyncio.Event)


class EventStream:
    """Each entry as `id:` its number, `event:` its type, `data:` its CloudEvent; `Wanted` says which.

    After `Last-Event-ID`, else after `?after=N`, else after the newest. Readers at the end of the journal get the same
    bytes, so that many of them cost little more than one. A reader that takes nothing for SEND_TIMEOUT_S while there
    is something to send is dropped, and resumes by itself. Those who lack something read the journal in turn, and leave
    it and the processor alone for as long in between: what is played must not wait for them.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._tasks: set[asyncio.Task[object]] = set()
        self._live: dict[Hashable, dict[_Reader, None]] = {}
        """Those at the journal's end, by what they want."""
        self._turn = asyncio.Lock()
        self._seq = 0

    async def run(self, _app: web.Application) -> AsyncIterator[None]:
        """Follow the journal for those at its end. For `app.cleanup_ctx`."""
        self._seq = await self._journal.last_seq()
        following = asyncio.create_task(self._follow())
        yield
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following

    async def _follow(self) -> None:
        try:
            async for entry in self._journal.follow(self._seq):
                self._send(entry)
        except JournalError as error:
            log.error("events_no_longer_followed", cause=str(error))

    def _send(self, entry: Entry) -> None:
        """Hand it to the connections, without waiting; the kernel's buffers are nearly always empty."""
        before, self._seq = self._seq, entry.seq
        plain = chunk = b""
        for alike in tuple(self._live.values()):
            readers = tuple(alike)
            wants = readers[0].wants.at_once(entry)
            if wants is None:
                # The game's pool must be asked of the journal, which this must not wait for.
                for reader in readers:
                    self._leave_behind(reader, before)
            elif wants:
                if not plain:
                    plain, chunk = framed(entry)
                self._hand_out(readers, entry.seq, plain, chunk)

    def _hand_out(self, readers: Sequence[_Reader], seq: int, plain: bytes, chunk: bytes) -> None:
        """There may be hundreds: each is little more than a call of the kernel."""
        for reader in readers:
            transport = reader.transport
            if seq <= reader.seq:
                continue
            if transport.get_write_buffer_size() > MOST_BUFFERED:
                self._leave_behind(reader, seq - 1)
                continue
            reader.seq = seq
            transport.write(chunk if reader.chunked else plain)

    def _leave_behind(self, reader: _Reader, seq: int) -> None:
        """He has got all that he wants up to `seq`, and reads the journal by himself from there."""
        self._part(reader)
        reader.seq = max(reader.seq, seq)
        reader.behind.set()

    def _part(self, reader: _Reader) -> None:
        alike = self._live.get(reader.wants.question, {})
        alike.pop(reader, None)
        if not alike:
            self._live.pop(reader.wants.question, None)

    async def get(self, request: web.Request) -> web.StreamResponse:
        """The handler of GET /events."""
        last = await self._journal.last_seq()
        start = request.headers.get("Last-Event-ID") or request.query.get("after") or str(last)
        if not (start.isascii() and start.isdigit() and len(start) < 19):
            return problem(400, f"Last-Event-ID and after are numbers of entries (got {start[:40]!r})")
        if len(self._tasks) >= MOST_READERS:
            response = problem(503, f"there are {MOST_READERS} readers already; try again in {_RETRY_S} s")
            response.headers["Retry-After"] = str(_RETRY_S)
            return response
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # A number from beyond the end is from another journal: what is new here is all that can be told.
            return await self._serve(request, min(int(start), last))
        except (ConnectionResetError, TimeoutError, JournalError):
            # The reader went away, is too slow, or has to come again: nothing to be mended here.
            return web.Response(status=499)
        finally:
            self._tasks.discard(task)

    async def _serve(self, request: web.Request, start: int) -> web.StreamResponse:
        async with sse_response(request, ping_interval=KEEP_ALIVE_S, send_timeout=SEND_TIMEOUT_S) as response:
            assert request.transport is not None, "a request that was answered has a connection"
            chunked = "chunked" in response.headers.get("Transfer-Encoding", "")
            reader = _Reader(request.transport, chunked, Wanted(request), start)
            await response.write(b": KiriChess\r\n\r\n")
            try:
                while True:
                    await self._catch_up(reader, response)
                    # Nothing is awaited in between: no entry can slip through.
                    self._live.setdefault(reader.wants.question, {})[reader] = None
                    await reader.behind.wait()
                    reader.behind.clear()
            finally:
                self._part(reader)
        return response

    async def _catch_up(self, reader: _Reader, response: web.StreamResponse) -> None:
        """What the reader has not been sent yet, until it is as far as everybody."""
        while reader.seq < self._seq:
            try:
                missed, seq = await self._missed(reader)
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    await response.write(missed)
            except (TimeoutError, JournalError):
                reader.transport.abort()
                raise
            reader.seq = seq

    async def _missed(self, reader: _Reader) -> tuple[bytes, int]:
        """The next of what he lacks, as far as he wants it, and how far that goes. Raises JournalError."""
        async with self._turn:
            # Where all of that is pruned, it goes as far as everybody was before the look.
            began_s, missed, seq = time.perf_counter(), bytearray(), self._seq
            page = await self._journal.read(after=reader.seq, limit=AT_ONCE)
            for entry in page:
                if await reader.wants(entry, self._journal):
                    missed += framed(entry)[0]
                seq = entry.seq
                if len(missed) >= MOST_BUFFERED:
                    break
            await asyncio.sleep(time.perf_counter() - began_s)
        return bytes(missed), seq

    async def close(self, _app: web.Application) -> None:
        """Send every reader away, so that the server can end. For `app.on_shutdown`."""
        for task in self._tasks:
            task.cancel()


class Wanted:
    """What one reader's query asks for: `type` (`*` for any part), `account`, `pool`, each as often as he likes, and
    `game`.

    `question`: the same for those who want the same. With pools it is each reader's own, who learns games' pools.
    """

    def __init__(self, request: web.Request) -> None:
        query = request.query
        self._game = query.get("game")
        types, accounts, pools = (query.getall(name, []) for name in ("type", "account", "pool"))
        self._filter = EventFilter(types or ("*",), accounts, pools)
        self.question: Hashable = self if pools else (self._game, *types, None, *accounts)

    def at_once(self, entry: Entry) -> bool | None:
        """None: only the journal knows."""
        return False if self._game not in (None, entry.subject) else self._filter.at_once(entry)

    async def __call__(self, entry: Entry, journal: Journal) -> bool:
        """Raises JournalError."""
        return self._game in (None, entry.subject) and await self._filter.wants(entry, journal)
