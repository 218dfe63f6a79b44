"""The search over the whole journal, as the API answers it."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from typing import Any

import aiohttp
import pytest

from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal
from bridge.rules.pools import named
from tests.web.browser import Place, place


@pytest.fixture
async def here() -> AsyncIterator[Place]:
    async with place() as opened:
        for number in range(7):
            white, black = ("Anna", "Bert") if number % 2 else ("Çelik", "Anna")
            table = await opened.table(f"game000{number}", white, black, pool="anchor" if number < 3 else "winder")
            await table.play("e4", "e5")
            if number != 5:
                await table.end("resign", number % 2 == 0)
        yield opened


async def ids(here: Place, query: str) -> list[str]:
    async with aiohttp.ClientSession(here.url) as session, session.get(f"/api/games?{query}") as response:
        assert response.status == 200, await response.text()
        return [game["id"][-1] for game in await response.json()]


async def test_what_is_found_is_told_as_it_stands_now(here: Place) -> None:
    table = await here.table("live0001", "Dora", "Emil", pool="anchor")
    assert table.tracker.agree(named("winder"))
    await table.play("e4", "e5", "Nf3", think_ms=1500)
    async with aiohttp.ClientSession(here.url) as session:
        listed = {game["id"]: game for game in await (await session.get("/api/games")).json()}
        for query in ("player=dora", "state=running&pool=winder", "player=anna&state=finished"):
            found = await (await session.get(f"/api/games?{query}")).json()
            assert found
            assert found == [listed[game["id"]] for game in found]
        assert listed["live0001"]["ply"] == 3
        page = await (await session.get("/?player=dora")).text()
    assert "0:55.5 · 0:59.0" in page


async def test_each_window_is_read_once_and_questions_take_turns(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.web.search.WINDOW", 5)
    await ids(here, "player=nobody")
    looked_at: list[int] = []
    under_way, most, read = 0, 0, SqlJournal.read

    async def counted(journal: SqlJournal, **asked: Any) -> list[Entry]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        page = await read(journal, **asked)
        under_way -= 1
        looked_at.extend(entry.seq for entry in page)
        return page

    monkeypatch.setattr(SqlJournal, "read", counted)
    await ids(here, "player=nobody")
    assert len(looked_at) == len(set(looked_at)) == 7, "the games' starts"
    await asyncio.gather(*(ids(here, "reason=stalemate") for _ in range(5)))
    assert most == 1


async def test_a_game_of_long_ago_has_its_plies_and_its_last_move(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.web.games.RECENT", 1)
    table = await here.table("last0001")
    await table.play("e4")
    await table.end("resign", True)
    async with aiohttp.ClientSession(here.url) as session:
        assert "game0000" not in await (await session.get("/api/games")).text()
        *_, oldest = await (await session.get("/api/games?player=anna")).json()
    assert (oldest["id"], oldest["ply"]) == ("game0000", 2)
    assert (oldest["last_uci"], oldest["last_san"]) == ("e7e5", "e5")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("player=ÇEL", "6420"),
        ("player=anna&result=0-1", "31"),
        ("pool=anchor", "210"),
        ("pool=Winder&result=1-0", "64"),
        ("state=running", "5"),
        ("reason=resignation&player=bert", "31"),
        ("account=anna&limit=2", "65"),
        ("player=nobody", ""),
        ("limit=3&before=1", ""),
    ],
)
async def test_games_are_found_the_newest_first(here: Place, query: str, found: str) -> None:
    assert "".join(await ids(here, query)) == found


async def test_pages_follow_each_other_without_gaps_or_repeats(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.web.search.WINDOW", 5)
    monkeypatch.setattr("bridge.web.search.MOST_WINDOWS", 2)
    seen: list[str] = []
    async with aiohttp.ClientSession(here.url) as session:
        address = "/api/games?limit=2"
        while address:
            async with session.get(address) as response:
                seen += [game["id"][-1] for game in await response.json()]
                following = response.links.get("next")
                address = str(following["url"]) if following else ""
    assert "".join(seen) == "6543210"


@pytest.mark.parametrize("query", ["result=2-0", "state=odd", "limit=x", "before=-1", "limit=²"])
async def test_an_impossible_question_is_refused(here: Place, query: str) -> None:
    async with aiohttp.ClientSession(here.url) as session:
        for path in ("/api/games", "/"):
            async with session.get(f"{path}?{query}") as response:
                assert response.status == 400
                assert query.partition("=")[0] in (await response.json())["error"]


async def test_older_verdicts_follow_the_last_ones_without_gaps_or_repeats(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of their ends, which is not that of their starts; a later change moves none of them."""
    await (await here.table("game0005", pool="winder")).end("resign", True)
    await here.journal.append([Draft("kirichess.verdict.changed", "game0002", {"verdict": {"final": True}})])
    monkeypatch.setattr("bridge.web.pages._RECENT", 3)
    monkeypatch.setattr("bridge.web.pages.PAGE", 2)
    seen: list[str] = []
    async with aiohttp.ClientSession(here.url) as session:
        address = "./?lang=nl"
        for page in range(10):
            async with session.get(address[1:]) as response:
                text = await response.text()
            seen += re.findall(r'<a href="games/game000(\d)\?lang=nl">\n<b', text)
            assert "Recente uitspraken" in text
            assert ("alle partijen" in text) == bool(page)
            if not (older := re.search(r'class="older" href="([^"]*)"', text)):
                break
            address = unescape(older[1])
    assert "".join(seen) == "5643210"


async def test_a_game_whose_rules_were_chosen_in_chat_is_found_and_shown_by_them(here: Place) -> None:
    """`standard`: plain chess, which the pool that it is only noted by does not find."""
    plain, other = await here.table("game0007", pool="winder"), await here.table("game0008", pool="winder")
    plain.tracker.agree(replace(named("winder"), scored=False))
    other.tracker.agree(named("anchor"))
    for table in (plain, other):
        await table.play("e4", "e5")
        await table.end("resign", True)
    assert await ids(here, "pool=standard") == ["7"]
    assert await ids(here, "pool=winder&result=1-0") == ["6", "4"]
    assert (await ids(here, "pool=anchor"))[0] == "8"
    async with aiohttp.ClientSession(here.url) as session:
        async with session.get("/?pool=standard") as response:
            assert '<span class="pool">plain chess</span>' in await response.text()
        async with session.get("/games/game0007?lang=nl") as response:
            assert "volgens de regels van Winder" in await response.text()
        async with session.get("/api/games/game0007") as response:
            assert (await response.json())["scored"] is False
        async with session.get("/api/games?pool=standard") as response:
            assert [(game["pool"], game["scored"]) for game in await response.json()] == [("winder", False)]
