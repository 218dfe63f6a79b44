"""NDJSON streams: a bounded line buffer, keep-alives, and the ways a stream can end (Lichess API §1.1, §1.3)."""

import asyncio
import enum
import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web

Json = dict[str, object]


class Fate(enum.Enum):
    """What becomes of a stream's next line."""

    PASS = "pass"
    END = "end"
    """A clean end of the answer."""
    RESET = "reset"
    """The connection is torn down."""
    SILENCE = "silence"
    """Nothing more is written, keep-alives included; the connection stays."""


@dataclass(frozen=True, slots=True)
class StreamName:
    """Which stream: its kind (`event`, `game`, `watch`, `challenge`, `games`, `tv`), its account, its game or topic."""

    kind: str
    account: str = ""
    topic: str = ""


class LineFaults(Protocol):
    def on_line(self, stream: StreamName) -> Fate:
        """Asked before each line; never blocks."""
        ...


class LineStream:
    """Lines on their way to one reader; when it is more than `size` behind, the oldest go."""

    def __init__(self, name: StreamName, size: int) -> None:
        self.name = name
        self.fate = Fate.PASS
        self._size = size
        self._lines: deque[Json] = deque()
        self._ended = False
        self._wake = asyncio.Event()

    def send(self, line: Json) -> None:
        if self._ended:
            return
        self._lines.append(line)
        if len(self._lines) > self._size:
            self._lines.popleft()
        self._wake.set()

    def end(self) -> None:
        """After the lines already sent."""
        self._ended = True
        self._wake.set()

    def break_off(self, fate: Fate) -> None:
        """At once, whatever is still waiting."""
        self.fate = fate
        self._wake.set()

    async def next(self, patience_s: float) -> Json | None:
        """The next line; None when there was none for `patience_s`; StopAsyncIteration at the end."""
        while not self._lines:
            if self._ended or self.fate is not Fate.PASS:
                raise StopAsyncIteration
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), patience_s)
            except TimeoutError:
                return None
        return self._lines.popleft()


async def write_stream(
    request: web.Request, stream: LineStream, first: Iterable[Json], *, keep_alive_s: float, faults: LineFaults
) -> web.StreamResponse:
    """Answer with `first`, then all that is sent to `stream`; every line and keep-alive is one chunk."""
    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson", "Cache-Control": "no-cache"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    try:
        for line in first:
            if not await _write(response, request, stream, line, faults):
                return response
        while True:
            try:
                next_line = await stream.next(keep_alive_s)
            except StopAsyncIteration:
                await _finish(request, stream)
                return response
            if stream.fate is not Fate.PASS:
                await _finish(request, stream)
                return response
            if next_line is None:
                await response.write(b"\n")
            elif not await _write(response, request, stream, next_line, faults):
                return response
    except ConnectionError:
        return response  # the reader has gone: there is nobody left to tell


async def _write(
    response: web.StreamResponse, request: web.Request, stream: LineStream, line: Json, faults: LineFaults
) -> bool:
    """False when the stream is over."""
    stream.fate = faults.on_line(stream.name) if stream.fate is Fate.PASS else stream.fate
    if stream.fate is not Fate.PASS:
        await _finish(request, stream)
        return False
    await response.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    return True


async def _finish(request: web.Request, stream: LineStream) -> None:
    transport = request.transport
    if stream.fate is Fate.RESET and transport is not None:
        transport.abort()
    elif stream.fate is Fate.SILENCE:
        await asyncio.Event().wait()  # until the reader goes, which cancels this handler, or the server does
