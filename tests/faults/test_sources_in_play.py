"""Sources of moves in a running game: used where they know something, harmless where they hang, and told no token."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

CLOUD = {"depth": 40, "knodes": 9, "pvs": [{"moves": "c7c6 d2d4", "cp": 24}]}


@pytest.fixture
async def site() -> AsyncIterator[Any]:
    """A server that answers, and one that never does (`/hung`)."""
    requests: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        requests.append(request)
        if request.path.startswith("/hung"):
            await asyncio.Event().wait()
        return web.json_response(CLOUD)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with TestServer(app) as server:
        server.requests = requests  # type: ignore[attr-defined]
        yield server


@pytest.mark.parametrize("rated", [False, True])
async def test_a_cloud_move_is_played_and_the_token_stays_at_home(table: Any, site: Any, rated: bool) -> None:
    cloud = {"enabled": True, "url": str(site.make_url("")).rstrip("/")}
    await table.run(online_moves={"lichess_cloud_analysis": cloud}, challenge={"modes": ["casual", "rated"]})
    game = table.pair(rated=rated)
    table.move(game, "e2e4")
    await table.until(lambda: game.plies == 2)
    assert game.moves == ["e2e4", "c7c6"]
    assert table.engine.asked == []
    assert [request.headers.get("Authorization") for request in site.requests] == [None]


async def test_sources_that_hang_cost_no_more_than_their_time(table: Any, site: Any) -> None:
    hung = {"enabled": True, "url": f"{site.make_url('/hung')}", "timeout_ms": 100}
    names = ("chessdb_book", "lichess_cloud_analysis", "lichess_opening_explorer")
    await table.run(online_moves=dict.fromkeys(names, hung))
    game = table.pair()
    await table.play(game, 10)
    assert game.moves == list(table.LINE[:10])
    assert 1 <= len(site.requests) <= 15
    assert not game.over
