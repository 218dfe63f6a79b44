"""The monitor's connections: so many and no more, none for nothing."""

import asyncio
import json
import resource
from collections.abc import AsyncIterator

import aiohttp
import pytest

from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, create_monitor
from bridge.web.connections import room_for_connections

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
ROOM = 20


@pytest.fixture
async def monitor(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Monitor]:
    monkeypatch.setattr("bridge.web.connections.MOST_CONNECTIONS", ROOM)
    async with SqlJournal("sqlite://") as journal:
        monitor = Monitor("127.0.0.1:0", "token-of-the-test")
        await monitor.start(create_monitor(journal, lambda: StatusReport("0", 0, ready=True)))
        yield monitor
        await monitor.stop()


async def connect(monitor: Monitor) -> Connection:
    return await asyncio.open_connection("127.0.0.1", monitor.port)


async def is_closed(connection: Connection, within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            return await connection[0].read(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


async def healthy(monitor: Monitor) -> bool:
    async with aiohttp.ClientSession() as session:
        try:
            async with session.get(f"{monitor.url}healthz") as response:
                return response.status == 200
        except aiohttp.ClientError:
            return False


async def test_the_connections_too_many_are_closed_and_the_others_served_again_when_there_is_room(
    monitor: Monitor,
) -> None:
    held = [await connect(monitor) for _ in range(ROOM)]
    too_many = [await connect(monitor) for _ in range(40)]
    assert all(await asyncio.gather(*(is_closed(connection, 30) for connection in too_many)))
    assert not await healthy(monitor)
    for _, writer in (*held, *too_many):
        writer.close()
    async with asyncio.timeout(30):
        while not await healthy(monitor):
            await asyncio.sleep(0.05)


async def test_a_connection_that_asks_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.web.monitor.IDLE_S", 0.1)
    async with SqlJournal("sqlite://") as journal:
        monitor = Monitor("127.0.0.1:0")
        await monitor.start(create_monitor(journal, lambda: StatusReport("0", 0, ready=True)))
        silent, halting = await connect(monitor), await connect(monitor)
        halting[1].write(b"GET / HTTP/1.1\r\nHost: loc")
        assert await is_closed(silent, 30)
        assert await is_closed(halting, 30)
        for _, writer in (silent, halting):
            writer.close()
        await monitor.stop()


async def test_a_form_that_does_not_come_is_waited_for_in_vain_only_so_long(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.web.login.FORM_S", 0.1)
    reader, writer = await connect(monitor)
    writer.write(
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntoken="
    )
    async with asyncio.timeout(30):
        assert b" 408 " in await reader.readline()
    writer.close()


def test_half_of_the_files_that_may_be_open_are_left_to_the_program() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
        assert room_for_connections() == 512
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /" + b"s3cret" * 1000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"s3cret" * 1000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: s3cret\r\n" * 100 + b"\r\n",
        b"s3cret\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: s3cret\r\n\r\n",
    ],
    ids=["line", "header", "headers", "nonsense", "hosts"],
)
async def test_what_cannot_be_read_is_refused_like_everything_else(monitor: Monitor, request_: bytes) -> None:
    reader, writer = await connect(monitor)
    writer.write(request_)
    async with asyncio.timeout(30):
        answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b" 400 " in head.splitlines()[0]
    assert b"Content-Security-Policy: default-src 'self'" in head
    assert list(json.loads(body)) == ["error"]
    assert b"s3cret" not in answer
    assert await healthy(monitor)
