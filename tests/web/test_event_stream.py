"""/events: resumes without gaps or repeats, keeps quiet lines alive, drops who does not read."""

import asyncio
import json
import socket
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from bridge.cloudevents import to_cloudevent, to_json
from bridge.event_filter import EventFilter
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, create_monitor
from bridge.web.stream import AT_ONCE, MOST_BUFFERED


@dataclass(frozen=True)
class Sent:
    """One event as the line says it."""

    id: int
    event: str
    data: dict[str, object]


class Program:
    def __init__(self, journal: SqlJournal) -> None:
        self.journal = journal
        self.monitor = Monitor("127.0.0.1:0")

    async def start(self) -> None:
        await self.monitor.start(create_monitor(self.journal, lambda: StatusReport("0", 0, ready=True)))

    async def append(self, count: int, text: str = "") -> None:
        await self.journal.append([Draft("kirichess.game.ply", "g", {"n": n, "text": text}) for n in range(count)])

    async def read(self, count: int, query: str = "", last_id: int | None = None) -> list[Sent]:
        """Some events of a fresh connection, which is then cut."""
        headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{self.monitor.url}events{query}", headers=headers) as response,
            asyncio.timeout(30),
        ):
            assert response.headers["Content-Type"].startswith("text/event-stream")
            self.connected.set()
            return [await next_event(response) for _ in range(count)]

    connected = asyncio.Event()


async def next_event(response: aiohttp.ClientResponse) -> Sent:
    fields: dict[str, str] = {}
    while True:
        line = (await response.content.readline()).decode().rstrip("\r\n")
        if not line and fields:
            return Sent(int(fields["id"]), fields["event"], json.loads(fields["data"]))
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value


@pytest.fixture
async def program() -> AsyncIterator[Program]:
    async with SqlJournal("sqlite://") as journal:
        program = Program(journal)
        program.connected = asyncio.Event()
        await program.start()
        yield program
        await program.monitor.stop()


async def test_each_entry_comes_with_number_type_and_cloudevent(program: Program) -> None:
    await program.append(1, "two\nlines \u2028 and \r more")
    [sent] = await program.read(1, "?after=0")
    [entry] = await program.journal.read()
    assert sent == Sent(1, "kirichess.game.ply", to_cloudevent(entry))


async def test_without_a_number_it_begins_with_the_new(program: Program) -> None:
    await program.append(3)
    reading = asyncio.create_task(program.read(2))
    await program.connected.wait()
    await program.append(2)
    assert [sent.id for sent in await reading] == [4, 5]


async def test_it_resumes_behind_the_last_number_without_gaps_or_repeats(program: Program) -> None:
    seen: list[int] = []

    async def reader() -> None:
        while len(seen) < 400:
            seen.extend(sent.id for sent in await program.read(40, "?after=0", seen[-1] if seen else None))

    async def writer() -> None:
        for _ in range(100):
            await program.append(4)
            await asyncio.sleep(0.001)

    await asyncio.gather(reader(), writer())
    assert seen == list(range(1, 401))


async def test_the_header_outranks_the_query(program: Program) -> None:
    await program.append(5)
    assert [sent.id for sent in await program.read(2, "?after=0", 3)] == [4, 5]


async def test_a_number_from_another_journal_begins_with_the_new(program: Program) -> None:
    await program.append(2)
    reading = asyncio.create_task(program.read(1, last_id=5000))
    await program.connected.wait()
    await program.append(1)
    assert [sent.id for sent in await reading] == [3]


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "²", "9" * 400 + "x"])
async def test_what_is_no_number_is_refused(program: Program, after: str) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{program.monitor.url}events", params={"after": after}) as response,
    ):
        assert response.status == 400
        assert "numbers of entries" in await response.text()


async def test_an_event_is_looked_at_and_made_to_bytes_once_for_all_its_readers(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(entry: Entry) -> str:
        made.append(entry.seq)
        return to_json(entry)

    monkeypatch.setattr("bridge.web.stream.to_json", counted)
    asked: list[int] = []
    at_once = EventFilter.at_once

    def looked(self: EventFilter, entry: Entry) -> bool | None:
        asked.append(entry.seq)
        return at_once(self, entry)

    monkeypatch.setattr(EventFilter, "at_once", looked)
    ready = asyncio.Semaphore(0)

    async def view() -> list[int]:
        async with aiohttp.ClientSession() as session, session.get(f"{program.monitor.url}events") as response:
            ready.release()
            return [(await next_event(response)).id for _ in range(10)]

    viewers = [asyncio.create_task(view()) for _ in range(20)]
    for _ in viewers:
        await ready.acquire()
    await program.append(10)
    assert await asyncio.gather(*viewers) == [list(range(1, 11))] * 20
    assert made == list(range(1, 11))
    assert asked == made, "who wants the same is asked once"


async def test_one_game_can_be_followed_alone(program: Program) -> None:
    await program.append(2)
    await program.journal.append([Draft("kirichess.game.ply", "other", {})])
    await program.append(1)
    assert [sent.id for sent in await program.read(3, "?after=0&game=g")] == [1, 2, 4]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("type=kirichess.game.ply", [2, 4, 6]),
        ("type=*.started&type=*.ply&account=BEN", [3, 4]),
        ("pool=Anchor", [1, 2, 6]),
        ("pool=anchor&pool=ratchet&type=*.ply", [2, 4, 6]),
        ("game=b&pool=ratchet", [3, 4]),
    ],
)
async def test_what_is_sent_is_chosen_by_type_account_pool_and_game(
    program: Program, query: str, expected: list[int]
) -> None:
    def game(kind: str, subject: str, account: str, pool: str | None = None) -> Draft:
        return Draft(f"kirichess.{kind}", subject, {} if pool is None else {"pool": pool}, account)

    await program.journal.append(
        [
            game("game.started", "a", "Anna", "anchor"),
            game("game.ply", "a", "Anna"),
            game("game.started", "b", "Ben", "ratchet"),
            game("game.ply", "b", "Ben"),
            game("account.online", "", "Cleo"),
        ]
    )
    before = [number for number in expected if number < 6]
    assert [sent.id for sent in await program.read(len(before), f"?after=0&{query}")] == before
    for number in before[:-1]:
        assert [sent.id for sent in await program.read(1, f"?{query}", number)] == before[before.index(number) + 1 :][
            :1
        ]
    if expected[-1] == 6:
        # A reader who comes later does not know the game's pool from the stream.
        program.connected.clear()
        reading = asyncio.create_task(program.read(1, f"?{query}"))
        await program.connected.wait()
        await program.journal.append([game("game.ply", "a", "Anna")])
        assert [sent.id for sent in await reading] == [6]


async def test_a_quiet_line_is_kept_alive(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.web.stream.KEEP_ALIVE_S", 0.02)
    async with aiohttp.ClientSession() as session, session.get(f"{program.monitor.url}events") as response:
        for _ in range(2):
            assert (await asyncio.wait_for(response.content.readuntil(b"\r\n\r\n"), 30)).startswith(b":")


async def lazy_reader(program: Program, query: str = "") -> socket.socket:
    """A connection that asks for the events and reads no more than the answer's beginning."""
    lazy = socket.socket()
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lazy.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(lazy, ("127.0.0.1", program.monitor.port))
    await loop.sock_sendall(lazy, f"GET /events{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert await loop.sock_recv(lazy, 64)
    return lazy


async def rest(lazy: socket.socket) -> int:
    """How many bytes come until the line is cut."""
    received = 0
    with suppress(ConnectionResetError):
        async with asyncio.timeout(60):
            while chunk := await asyncio.get_running_loop().sock_recv(lazy, 1 << 20):
                received += len(chunk)
    lazy.close()
    return received


@pytest.mark.parametrize("query", ["", "?after=0", "?pool=anchor"])
async def test_who_does_not_read_is_dropped_and_delays_nobody(
    program: Program, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """From the journal's end, from its beginning, and by a pool, which the journal is asked for."""
    monkeypatch.setattr("bridge.web.stream.SEND_TIMEOUT_S", 0.2)
    await program.journal.append([Draft("kirichess.game.started", "g", {"pool": "anchor"})])
    tasks = len(asyncio.all_tasks())
    lazy = await lazy_reader(program, query)
    for _ in range(20):
        await program.append(10, "x" * 50_000)
    assert [sent.id for sent in await program.read(201, "?after=0")] == list(range(1, 202))
    async with asyncio.timeout(30):
        while len(asyncio.all_tasks()) > tasks:
            await asyncio.sleep(0.05)
    assert await rest(lazy) < 200 * 50_000, "the line was cut before everything was sent"


async def test_many_who_do_not_read_cost_little_memory_and_delay_nobody(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them is dropped meanwhile, so that whoever had to wait for one would wait for ever."""
    monkeypatch.setattr("bridge.web.stream.SEND_TIMEOUT_S", 3600.0)
    each, count, lazy_ones = 20_000, 400, 25
    async with asyncio.timeout(120):
        idle = [await lazy_reader(program) for _ in range(lazy_ones)]
        async with aiohttp.ClientSession() as session, session.get(f"{program.monitor.url}events") as response:
            tracemalloc.start()
            try:
                for number in range(1, count + 1):
                    await program.append(1, "x" * each)
                    assert (await next_event(response)).id == number
                _now, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
    for lazy in idle:
        lazy.close()
    # What the journal itself keeps in memory, and some 64 KiB and an event for each of them.
    assert peak < 1.5 * count * each + lazy_ones * (MOST_BUFFERED + 4 * each), f"{peak:,} bytes"


async def test_many_who_begin_at_the_start_read_the_journal_in_turn(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what is played waits behind a few entries, not behind everybody's."""
    await program.append(1000)
    assert (await program.read(1000, "?after=0"))[-1].id == 1000
    under_way, most, sizes, read = 0, 0, [0], SqlJournal.read

    async def counted(journal: SqlJournal, **asked: Any) -> list[Entry]:
        nonlocal under_way, most
        if "subject" in asked:
            return await read(journal, **asked)
        under_way += 1
        most = max(most, under_way)
        page = await read(journal, **asked)
        under_way -= 1
        sizes.append(len(page))
        return page

    monkeypatch.setattr(SqlJournal, "read", counted)
    everything = await asyncio.gather(*(program.read(1000, "?after=0") for _ in range(20)))
    assert [[sent.id for sent in each] for each in everything] == [list(range(1, 1001))] * 20
    assert (most, max(sizes)) == (1, AT_ONCE)


async def test_there_are_no_more_readers_than_the_program_can_serve(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.web.stream.MOST_READERS", 2)
    idle = [await lazy_reader(program) for _ in range(2)]
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{program.monitor.url}events") as response:
            assert (response.status, "Retry-After" in response.headers) == (503, True)
        idle.pop().close()
        async with asyncio.timeout(30):
            while (response := await session.get(f"{program.monitor.url}events")).status == 503:
                await asyncio.sleep(0.05)
        response.close()
    idle.pop().close()


async def test_a_reader_that_leaves_is_forgotten_at_once(program: Program) -> None:
    before = len(asyncio.all_tasks())
    await asyncio.gather(*(program.read(0) for _ in range(5)))
    async with asyncio.timeout(30):
        while len(asyncio.all_tasks()) > before:
            await asyncio.sleep(0.01)
