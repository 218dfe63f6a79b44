"""The whole way in a real browser: arena, daemon, page; a game is watched from its first move to its verdict."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import expect

from bridge.arena import Account, Arena
from bridge.daemon import Daemon
from bridge.settings.models import Settings
from tests.web.browser import Line, chromium, needs_chromium, new_reader

pytestmark = needs_chromium

BOTS = ("Fish", "Kiri")


@asynccontextmanager
async def playing(arena: Arena, folder: Path) -> AsyncIterator[Daemon]:
    play = {"engine": "built-in", "pool": "winder", "move_overhead": 20}
    settings = Settings.model_validate(
        {
            "accounts": [{"platform": "lichess", "url": arena.url, "token": f"token{n}", "play": play} for n in BOTS],
            "engines": {"built-in": {"kind": "kiri", "builtin": True}},
            "journal": {"url": f"sqlite:///{folder / 'journal.db'}"},
            "monitor": {"listen": "127.0.0.1:0"},
        }
    )
    daemon = Daemon(settings, think_cap_ms=150)
    work = asyncio.create_task(daemon.run())
    await daemon.ready.wait()
    try:
        yield daemon
    finally:
        daemon.drain()
        await asyncio.wait({work}, timeout=30)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def test_a_game_is_watched_live_from_its_first_move_to_its_verdict(tmp_path: Path) -> None:
    """The page is loaded again in the middle, and its line cut in the middle."""
    bots = [Account(name, f"token{name}", title="BOT") for name in BOTS]
    async with Arena(bots) as arena, playing(arena, tmp_path) as daemon, chromium() as browser:
        assert daemon.monitor is not None
        line = Line(daemon.monitor.port)
        await line.open()
        reader = await new_reader(browser)
        await reader.open(f"http://127.0.0.1:{line.port}/")
        await expect(reader.page.locator(".accounts .alive")).to_have_count(2)
        arena.pair(*BOTS, 240, 0)
        await reader.page.locator("article.card a.board").click()
        await reader.await_moves(4)
        await reader.page.reload()
        await reader.await_moves(8)
        await line.cut()
        await expect(reader.page.locator("#line")).to_have_text("connection lost, trying again")
        await line.open()
        await expect(reader.page.locator("#verdict .history")).to_contain_text("final", timeout=100_000)
        moves = await reader.moves()
        answer = await reader.page.request.get(f"{daemon.monitor.url}api/games")
        [game] = await answer.json()
        assert len(moves) == game["ply"]
        assert moves[-1] == game["last_san"]
        assert await reader.violations() == []
        assert reader.complaints == []
        await line.cut()
