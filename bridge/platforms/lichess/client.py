"""One account's HTTP over aiohttp: streams and short requests, with every failure as a PlatformError."""

import asyncio
import importlib.metadata
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import cache

import aiohttp
import structlog

from bridge.alarm import Alarm
from bridge.errors import ServerError, Unreachable, UsageError
from bridge.platforms.lichess.answers import Answer, no_answer
from bridge.platforms.lichess.lines import LineSplitter
from bridge.platforms.lichess.timings import Timings
from bridge.traffic import Traffic

log = structlog.get_logger("kirichess_lichess")

_MAX_ERROR_BYTES = 64 * 1024
_MAX_ANSWER_BYTES = 16 * 1024 * 1024


class Client:
    """Requests to one server with one token ("" for none). The token is never in a message or a repr."""

    def __init__(self, url: str, token: str, timings: Timings) -> None:
        self.url = _origin(url)
        self.timings = timings
        self.closed = False
        self.traffic = Traffic()
        self._name = ""
        self._token = _printable(token)
        self._session: aiohttp.ClientSession | None = None
        self._streams: dict[str, aiohttp.ClientResponse] = {}

    def __repr__(self) -> str:
        return f"Client({self.url!r}, {'with' if self._token else 'without'} a token)"

    @property
    def has_token(self) -> bool:
        return bool(self._token)

    def is_called(self, name: str) -> None:
        """The token's owner, known from the account: from now on part of the User-Agent, as Lichess asks (§1.1)."""
        self._name = name

    @property
    def user_agent(self) -> str:
        agent = f"kirichess-bridge/{_version()}"
        return f"{agent} user:{self._name}" if self._name else agent

    # -- short requests ----------------------------------------------------------------------------------------------

    async def post(self, path: str, form: Mapping[str, str] | str | None = None, *, timeout_s: float) -> None:
        """`form` may be plain text. Raises PlatformError; Unreachable leaves open whether it took effect."""
        await self._request("POST", path, timeout_s, data=dict(form) if isinstance(form, Mapping) else form)

    async def get(self, path: str, params: Mapping[str, str] | None = None) -> bytes:
        """The answer's body, asked for as JSON. Raises PlatformError."""
        return await self._request("GET", path, self.timings.request_s, params=params)

    async def test_token(self) -> bytes:
        """What the token may do, asked without using it (§1.2).

        Not through berserk, which writes request bodies into its debug log.
        """
        return await self._request("POST", "/api/token/test", self.timings.request_s, data=self._token, stranger=True)

    async def _request(
        self,
        method: str,
        path: str,
        timeout_s: float,
        *,
        data: str | dict[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        stranger: bool = False,
    ) -> bytes:
        what = f"{method} {path}"
        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=self.timings.connect_s)
        try:
            async with self._open().request(
                method,
                self.url + path,
                data=data,
                params=params,
                timeout=timeout,
                headers=self._headers("application/json", stranger=stranger),
                allow_redirects=False,
            ) as response:
                if response.status in (200, 201):
                    return await _body(response, _MAX_ANSWER_BYTES)
                error = (await _answer(response, what)).error()
        except (aiohttp.ClientError, TimeoutError, OSError) as cause:
            raise no_answer(what, cause) from None
        raise error

    # -- streams -----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def lines(
        self, path: str, *, silence_s: float, body: str | None = None
    ) -> AsyncIterator[AsyncGenerator[bytes, None]]:
        """Open a stream; gives its lines, keep-alives included as b"" (so that the caller sees a sign of life).

        With a `body` it is posted for.

        The lines stop at a clean end. Opening and reading raise PlatformError; `silence_s` without a byte is
        Unreachable.
        """
        method = "GET" if body is None else "POST"
        what = f"{method} {path}"
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self.timings.connect_s, sock_read=silence_s)
        try:
            response = await self._open().request(
                method,
                self.url + path,
                data=body,
                timeout=timeout,
                headers=self._headers("application/x-ndjson"),
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as cause:
            raise no_answer(what, cause) from None
        self._streams[path] = response
        try:
            with _woken_when_closed(response):
                await self._must_be_stream(response, what)
                async with aclosing(_read_lines(response, what, silence_s)) as lines:
                    yield lines
        finally:
            if self._streams.get(path) is response:
                del self._streams[path]
            # Not `release`: a stream's connection must not go back to the pool, and leaks count as open (§4).
            response.close()

    def break_off(self, path: str) -> None:
        """Close an open stream, as if its connection had broken."""
        if path in self._streams:
            self._streams[path].close()

    async def _must_be_stream(self, response: aiohttp.ClientResponse, what: str) -> None:
        if response.status == 200 and response.content_type != "text/html":
            return
        if response.status == 200:
            raise ServerError(f"{what}: a web page instead of a stream")
        try:
            answer = await _answer(response, what)
        except (aiohttp.ClientError, TimeoutError, OSError) as cause:
            raise no_answer(what, cause) from None
        raise answer.error()

    def _headers(self, accept: str, *, stranger: bool = False) -> dict[str, str]:
        headers = {"User-Agent": self.user_agent, "Accept": accept, "Accept-Encoding": "identity"}
        if self._token and not stranger:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _open(self) -> aiohttp.ClientSession:
        if self.closed:
            raise Unreachable(f"{self.url}: this account is closed")
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
            )
        return self._session

    async def close(self) -> None:
        """Close every connection; later requests raise Unreachable."""
        self.closed = True
        if self._session is not None:
            await self._session.close()


@contextmanager
def _woken_when_closed(response: aiohttp.ClientResponse) -> Iterator[None]:
    """When the session is closed or a chunk is broken, aiohttp lets a reader wait for ever, without its timeout.

    A stream that has ended cleanly leaves its connection open, for months perhaps: nothing of the stream stays with it.
    """
    connection = response.connection
    protocol = connection.protocol if connection is not None else None
    closed = protocol.closed if protocol is not None else None
    content = response.content

    def wake(_: asyncio.Future[None]) -> None:
        if not content.is_eof() and content.exception() is None:
            content.set_exception(aiohttp.ClientConnectionError("the connection broke"))

    if closed is None:
        yield
        return
    closed.add_done_callback(wake)
    try:
        yield
    finally:
        closed.remove_done_callback(wake)


async def _read_lines(response: aiohttp.ClientResponse, what: str, silence_s: float) -> AsyncGenerator[bytes, None]:
    splitter, content, loop = LineSplitter(), response.content, asyncio.get_running_loop()
    silence = Alarm(lambda: content.set_exception(TimeoutError()))
    if response.connection is not None and (protocol := response.connection.protocol) is not None:
        protocol.read_timeout = None  # it would make a timer for every chunk
    try:
        while True:
            silence.set(loop.time() + silence_s)
            chunk = await content.readany()
            silence.off()
            if not chunk:
                break
            for line in splitter.feed(chunk):
                yield line
            if splitter.take_dropped():
                log.warning("line_dropped", stream=what, cause=f"longer than {splitter.limit} bytes")
    except (aiohttp.ClientError, TimeoutError, OSError) as cause:
        raise no_answer(what, cause) from None
    finally:
        silence.close()


async def _body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """What lies beyond `limit` is not read: no answer of Lichess comes near it."""
    body = bytearray()
    while len(body) < limit and (chunk := await response.content.readany()):
        body += chunk
    return bytes(body[:limit])


async def _answer(response: aiohttp.ClientResponse, what: str) -> Answer:
    return Answer(what, response.status, response.headers, await _body(response, _MAX_ERROR_BYTES))


def _origin(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"not the address of a server: {url!r}; write it like https://lichess.org")
    return url.rstrip("/")


def _printable(token: str) -> str:
    if not all("!" <= character <= "~" for character in token):  # anything else would break the header
        raise UsageError("the token holds blanks or characters that no token has: copy it again")
    return token


@cache
def _version() -> str:
    try:
        return importlib.metadata.version("kirichess-bridge")
    except importlib.metadata.PackageNotFoundError:
        return "dev"  # run from a checkout that was never installed
