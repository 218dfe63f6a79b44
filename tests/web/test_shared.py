"""What many ask for at once is made once, and never older than what was there when they asked."""

import asyncio
import re
from typing import Any

import aiohttp
import pytest

from bridge.web.page import render
from bridge.web.shared import Shared
from tests.web.browser import place


@pytest.mark.parametrize("path", ["/", "/games/game0001", "/games/game0001/overlay"])
async def test_a_page_is_made_once_for_all_who_ask_before_anything_happens(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    made: list[str] = []

    def counted(template: str, *given: Any, **values: Any) -> bytes:
        made.append(template)
        return render(template, *given, **values)

    monkeypatch.setattr("bridge.web.pages.render", counted)
    async with place() as here, aiohttp.ClientSession(here.url) as session:

        async def read(query: str = "") -> str:
            async with session.get(path + query) as response:
                assert response.status == 200
                return await response.text()

        table = await here.table()
        await table.play("e4", "e5")
        texts = await asyncio.gather(*(read() for _ in range(20)))
        assert len(made) == 1
        assert all(re.search(r'data-now="\d{13}"', text) for text in texts)
        assert 'lang="nl"' in await read("?lang=nl")
        assert len(made) == 2
        await table.play("Nf3")
        assert "Nf3" in await read()
        assert len(made) == 3


async def test_who_leaves_takes_it_from_nobody_and_a_failure_is_not_kept() -> None:
    shared, go_on, tries = Shared(), asyncio.Event(), 0

    async def make() -> bytes:
        nonlocal tries
        tries += 1
        await go_on.wait()
        if tries == 1:
            raise OSError("no disk")
        return b"page"

    first, second = asyncio.create_task(shared.get("a", make)), asyncio.create_task(shared.get("a", make))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()
    go_on.set()
    with pytest.raises(OSError, match="no disk"):
        await second
    assert await shared.get("a", make) == b"page"
    assert await shared.get("a", make) == b"page"
    assert tries == 2
