"""Lists of names at addresses: fetched beside the challenges, by ETag, and kept."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bridge.arena.challenges import Wish
from bridge.arena.hall import control_of
from bridge.name_lists import NameLists, parse_names
from bridge.settings.models import Settings

WISH = Wish(control_of(540), "standard", None, False, "white", frozenset())


@dataclass
class Host:
    """Serves one list, as it is told."""

    text: str = "Human\n"
    status: int = 200
    asked: list[str] = field(default_factory=list)
    """The ETag of every request."""
    answered: list[int] = field(default_factory=list)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.headers.get("If-None-Match", ""))
        await self.held.wait()
        etag = f'"{abs(hash(self.text))}"'
        status = 304 if self.status == 200 and self.asked[-1] == etag else self.status
        self.answered.append(status)
        headers = {"ETag": etag, "Location": "/elsewhere"}
        return web.Response(status=status, text=self.text if status != 304 else None, headers=headers)


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    one = Host()
    one.held.set()
    app = web.Application()
    app.router.add_get("/list", one.answer)
    async with TestServer(app) as server:
        one.url = str(server.make_url("/list"))
        yield one
        one.held.set()


@dataclass
class Running:
    """A NameLists that fetches."""

    lists: NameLists
    work: "asyncio.Task[None]"

    async def stop(self) -> None:
        self.work.cancel()
        await asyncio.gather(self.work, return_exceptions=True)


def run(folder: Path | None = None, every_s: float = 0.02) -> Running:
    lists = NameLists(folder, every_s)
    return Running(lists, asyncio.create_task(lists.run()))


async def until(so: Any) -> None:
    async with asyncio.timeout(30):
        while not so():
            await asyncio.sleep(0.005)


def test_one_name_a_line() -> None:
    assert parse_names("Ann\r\n\n# a remark\n  bob # why\nnot a name\nANN\n") == {"ann", "bob"}


async def test_a_list_is_fetched_again_only_when_it_has_changed(host: Host) -> None:
    running = run()
    assert running.lists.names([host.url]) == frozenset()
    await until(lambda: running.lists.names([host.url]) == {"human"})
    await until(lambda: host.answered.count(304) >= 2)
    assert host.answered.count(200) == 1
    host.text = "Robot\n"
    await until(lambda: running.lists.names([host.url]) == {"robot"})
    await running.stop()


@pytest.mark.parametrize(
    ("status", "text"),
    [(503, "Oops"), (404, "nothing"), (302, ""), (200, "x" * 1_100_000)],
    ids=["503", "404", "redirect", "too long"],
)
async def test_the_last_good_copy_counts(host: Host, status: int, text: str) -> None:
    running = run()
    running.lists.names([host.url])
    await until(lambda: running.lists.names([host.url]))
    host.status, host.text = status, text
    before = len(host.answered)
    await until(lambda: len(host.answered) > before + 2)
    assert running.lists.names([host.url]) == {"human"}
    await running.stop()


async def test_the_copy_survives_the_program_and_its_list(host: Host, tmp_path: Path) -> None:
    running = run(tmp_path / "lists")
    running.lists.names([host.url])
    await until(lambda: list((tmp_path / "lists").glob("*.json")))
    await running.stop()
    host.held.clear()
    again = run(tmp_path / "lists")
    assert again.lists.names([host.url]) == {"human"}
    before = len(host.asked)
    await until(lambda: len(host.asked) > before)
    assert host.asked[-1].startswith('"'), "it is asked for by the ETag of the copy"
    await again.stop()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"names": 3, "etag": ""}'])
async def test_a_copy_that_cannot_be_read_is_none(host: Host, tmp_path: Path, text: str) -> None:
    first = run(tmp_path)
    first.lists.names([host.url])
    await until(lambda: list(tmp_path.glob("*.json")))
    await first.stop()
    for file in list(tmp_path.glob("*.json")):  # noqa: ASYNC240  nothing else runs here
        file.write_text(text)
    lists = NameLists(tmp_path)
    assert lists.names([host.url]) == frozenset()


async def test_a_list_that_does_not_come_holds_nobody_up(table: Any, host: Host) -> None:
    host.held.clear()
    await table.run(challenge={"online_block_list": [host.url]})
    await until(lambda: host.asked)
    desk, kiri = table.arena.desk, table.arena.account("Kiri")
    asked = desk.create(table.arena.account("Human"), kiri, WISH)
    await table.until(lambda: asked.id in table.arena.games)
    host.held.set()
    (lobby,) = [lobby for _, lobby in table.daemon._lobbies]
    await table.until(lambda: lobby.doorkeeper._lists.names([host.url]))
    blocked = desk.create(table.arena.account("Human"), kiri, WISH)
    await table.until(lambda: blocked.status.value == "declined")
    assert blocked.decline_reason == "generic"
    assert list((table.journal.parent / "lists").glob("names-*.json"))


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://example.org/list.txt", True),
        ("http://127.0.0.1:8000/list", True),
        ("http://localhost/list", True),
        ("http://example.org/list.txt", False),
        ("ftp://example.org/list.txt", False),
    ],
)
def test_a_list_comes_over_tls_or_from_this_machine(url: str, good: bool) -> None:
    play = {"engine": "x", "challenge": {"online_block_list": [url]}}
    settings = {"accounts": [{"platform": "lichess", "play": play}]}
    if good:
        Settings.model_validate(settings)
    else:
        with pytest.raises(ValueError, match=r"https?://"):
            Settings.model_validate(settings)
