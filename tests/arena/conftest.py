"""A plain client of the arena, over real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from bridge.arena import Account, Arena, ArenaSettings

Json = dict[str, Any]

ACCOUNTS = (
    Account("Alpha", "tokA", title="BOT"),
    Account("Beta", "tokB", title="BOT"),
    Account("Wanda", "tokW"),
    Account("Bruno", "tokH"),
)


class Lines:
    """An open NDJSON stream; blank lines are counted and skipped."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response
        self.blanks = 0

    async def next(self, patience_s: float = 30.0) -> Json | None:
        """The next object; None at the end of the stream."""
        async with asyncio.timeout(patience_s):
            async for raw in self.response.content:
                if raw.strip():
                    line: Json = json.loads(raw)
                    return line
                self.blanks += 1
        return None

    async def until(self, kind: str, **fields: object) -> Json:
        """The next object of this type with these fields."""
        while (line := await self.next()) is not None:
            if line["type"] == kind and fields.items() <= line.items():
                return line
        raise AssertionError(f"the stream ended before {kind} {fields}")

    async def rest(self) -> list[Json]:
        """All objects until the end."""
        found = []
        while (line := await self.next()) is not None:
            found.append(line)
        return found

    def close(self) -> None:
        self.response.close()


class Client:
    """One account (or nobody) on one arena."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session
        self.streams: list[Lines] = []

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self.session.get(path, headers=headers) as response:
            text = await response.text()
            return response.status, json.loads(text) if "json" in response.content_type and text else text

    async def post(self, path: str, body: Json | str | None = None, *, as_json: Json | None = None) -> tuple[int, Any]:
        async with self.session.post(path, data=body, json=as_json) as response:
            return response.status, await response.json(content_type=None)

    async def stream(self, path: str, method: str = "GET", **more: Any) -> Lines:
        response = await self.session.request(method, path, **more)
        assert response.status == 200, await response.text()
        self.streams.append(Lines(response))
        return self.streams[-1]

    async def close(self) -> None:
        for stream in self.streams:
            stream.close()
        await self.session.close()


Connect = Callable[..., Client]
Open = Callable[..., Awaitable[Arena]]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """`connect(arena, token)`; without a token: a stranger."""
    clients: list[Client] = []

    def open_session(arena: Arena, token: str = "", agent: str = "tests") -> Client:
        headers = {"User-Agent": agent, **({"Authorization": f"Bearer {token}"} if token else {})}
        timeout, connector = aiohttp.ClientTimeout(total=None), aiohttp.TCPConnector(limit=0)
        session = aiohttp.ClientSession(arena.url, headers=headers, timeout=timeout, connector=connector)
        clients.append(Client(session))
        return clients[-1]

    yield open_session
    for client in clients:
        await client.close()


@pytest.fixture
async def open_arena() -> AsyncIterator[Open]:
    """`await open_arena(keep_alive_s=0.1, …)`: an arena with two bots (Alpha, Beta) and two humans (Wanda, Bruno)."""
    arenas: list[Arena] = []

    async def start(*, request_log: Any = None, **settings: Any) -> Arena:
        arena = Arena(ACCOUNTS, ArenaSettings(**settings), request_log=request_log)
        arenas.append(await arena.__aenter__())
        return arena

    yield start
    for arena in arenas:
        await arena.__aexit__(None, None, None)
