"""A server that says exactly what a test writes down, byte by byte, and a platform that talks to it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web

from bridge.platforms.lichess.platform import Lichess
from bridge.platforms.lichess.timings import Timings

TOKEN = "lip_secretsecret"

QUICK = Timings(
    connect_s=1.0,
    silence_s=0.3,
    spectator_silence_s=0.3,
    tv_silence_s=0.3,
    reopen_s=0.02,
    release_s=0.003,
    backoff_s=(0.02, 0.1),
    rate_limit_s=0.3,
    move_s=0.3,
    request_s=0.5,
    move_retry_s=(0.02, 0.1),
    move_holds_s=(0.1, 0.2),
    poll_s=0.05,
    call_s=(1.0, 0.4),
)
"""Lichess's own figures, some fifty times faster."""

RESET, SILENCE = "reset", "silence"
Step = bytes | float | str | dict[str, Any]
"""Of a stream: bytes in one chunk, a line as a JSON object, seconds to wait, RESET or SILENCE."""

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def says(status: int = 200, body: object = None, *, delay_s: float = 0.0, **headers: str) -> Answer:
    """One short answer; a `str` body is a page."""

    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(delay_s)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, str):
            return web.Response(status=status, text=body, content_type="text/html", headers=named)
        return web.json_response({"ok": True} if body is None else body, status=status, headers=named)

    return answer


def hangs_up(request: web.Request) -> Awaitable[web.StreamResponse]:
    """The connection is torn down without an answer."""

    async def answer() -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return answer()


def streams(*steps: Step) -> Answer:
    """An NDJSON stream; a clean end after the last step."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for step in steps:
            if step == RESET:
                assert request.transport is not None
                request.transport.abort()
            elif step == SILENCE:
                await asyncio.Event().wait()  # until the reader goes
            elif isinstance(step, float):
                await asyncio.sleep(step)
            else:
                await response.write(step if isinstance(step, bytes) else json.dumps(step).encode() + b"\n")
        return response

    return answer


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    agent: str
    body: str
    at: float


class Script:
    """Answers in order for each method and path; the last one is repeated."""

    RESET, SILENCE, QUICK = RESET, SILENCE, QUICK
    says = staticmethod(says)
    streams = staticmethod(streams)
    hangs_up = staticmethod(hangs_up)

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self._answers: dict[str, list[Answer]] = {}
        self.on("GET /api/account", says(200, {"id": "kiri", "username": "Kiri", "title": "BOT"}))

    def on(self, request: str, *answers: Answer) -> None:
        self._answers[request] = list(answers)

    def count(self, request: str) -> int:
        return sum(f"{asked.method} {asked.path}" == request for asked in self.asked)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        now = asyncio.get_running_loop().time()
        agent = request.headers.get("User-Agent", "")
        self.asked.append(Asked(request.method, request.path_qs, agent, await request.text(), now))
        answers = self._answers.get(f"{request.method} {request.path}", [])
        if not answers:
            return await says(404, {"error": "Not found"})(request)
        return await (answers.pop(0) if len(answers) > 1 else answers[0])(request)


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    script = Script()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", script.answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    script.url = f"http://{host}:{port}"
    yield script
    await runner.cleanup()


Connect = Callable[..., Lichess]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """`connect(url)`: an account there, in a hurry."""
    opened: list[Lichess] = []

    def make(url: str, token: str = TOKEN, timings: Timings = QUICK) -> Lichess:
        opened.append(Lichess(url, token, timings=timings))
        return opened[-1]

    yield make
    for platform in opened:
        await platform.close()


Take = Callable[..., Coroutine[Any, Any, list[Any]]]


@pytest.fixture
def take() -> Take:
    """`await take(messages, 3)`: the first messages of an iterator, fewer when it ends."""

    async def first(messages: AsyncGenerator[Any], most: int = 1000, patience_s: float = 30.0) -> list[Any]:
        found: list[Any] = []
        async with aclosing(messages), asyncio.timeout(patience_s):
            async for message in messages:
                found.append(message)
                if len(found) == most:
                    break
        return found

    return first
