"""Watching: the spectators' window, lists of games, TV, exports and pages, over real sockets."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.arena import Arena
    from tests.arena.conftest import Client, Connect, Open

MOVES = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "d2d3", "d7d6")


async def play(game_id: str, alpha: Client, beta: Client, moves: tuple[str, ...], first: int = 0) -> None:
    for ply, uci in enumerate(moves, first):
        status, _ = await (alpha, beta)[ply % 2].post(f"/api/bot/game/{game_id}/move/{uci}")
        assert status == 200


def two(arena: Arena, connect: Connect) -> tuple[Client, Client]:
    return connect(arena, "tokA"), connect(arena, "tokB")


async def test_spectators_are_three_plies_late_in_whole_seconds(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Beta", 180, 2)
    alpha, beta = two(arena, connect)
    stream = await connect(arena).stream(f"/api/stream/game/{game_id}")
    opening = await stream.next()
    assert opening and opening["id"] == game_id and "status" not in opening
    await play(game_id, alpha, beta, MOVES[:2])
    try:
        early = await stream.next(0.2)
    except TimeoutError:
        early = None
    assert early is None
    await play(game_id, alpha, beta, MOVES[2:5], 2)
    lines = [await stream.next() for _ in range(3)]
    assert [line.get("lm") for line in lines if line] == [None, "e2e4", "e7e5"]
    assert lines[0] and (lines[0]["wc"], lines[0]["bc"]) == (180, 180)
    await alpha.post(f"/api/bot/game/{game_id}/resign")
    rest = await stream.rest()
    assert [line.get("lm") for line in rest[:3]] == ["g1f3", "b8c6", "f1c4"]
    assert (rest[0]["wc"], rest[1]["bc"]) == (182, 182)
    assert (rest[3]["status"], rest[3]["winner"]) == ({"id": 31, "name": "resign"}, "black")
    again = await (await connect(arena).stream(f"/api/stream/game/{game_id}")).rest()
    assert [line.get("lm") for line in again[1:-1]] == [None, *MOVES[:5]]


async def test_a_late_spectator_gets_all_but_the_last_three_at_once(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Beta")
    alpha, beta = two(arena, connect)
    await play(game_id, alpha, beta, MOVES[:6])
    stream = await connect(arena).stream(f"/api/stream/game/{game_id}")
    await stream.next()
    assert [line.get("lm") for line in [await stream.next() for _ in range(4)] if line] == [None, *MOVES[:3]]


async def test_eight_spectator_streams_an_address_then_429(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Beta")
    stranger = connect(arena)
    streams = [await stranger.stream(f"/api/stream/game/{game_id}") for _ in range(8)]
    refused = await stranger.get(f"/api/stream/game/{game_id}")
    assert refused == (429, {"error": "Please only run 8 request(s) at a time"})
    streams[0].close()
    async with asyncio.timeout(30):
        while len(arena.hall.audience.open) == 8:
            await asyncio.sleep(0.01)
    await stranger.stream(f"/api/stream/game/{game_id}")


async def test_games_by_users_and_by_ids(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    stranger = connect(arena)
    first = arena.pair("Alpha", "Beta")
    by_users = await stranger.stream("/api/stream/games-by-users?withCurrentGames=1", "POST", data="alpha,Beta")
    by_ids = await stranger.stream("/api/stream/games/mine", "POST", data=first)
    for stream in (by_users, by_ids):
        line = await stream.next()
        assert line and (line["id"], line["statusName"], line["status"]) == (first, "started", 20)
    arena.pair("Alpha", "Wanda")
    second = arena.pair("Beta", "Alpha")
    line = await by_users.next()
    assert line and line["id"] == second
    assert (await stranger.post("/api/stream/games/mine/add", second))[0] == 200
    line = await by_ids.next()
    assert line and line["id"] == second
    await connect(arena, "tokA").post(f"/api/bot/game/{first}/abort")
    for stream in (by_users, by_ids):
        line = await stream.next()
        assert line and (line["id"], line["statusName"]) == (first, "aborted")


async def test_tv_shows_bots_on_their_own_channel_without_delay(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    stranger = connect(arena)
    game_id = arena.pair("Alpha", "Beta")
    _, channels = await stranger.get("/api/tv/channels")
    assert set(channels) == {"bot"} and channels["bot"]["gameId"] == game_id
    feed = await stranger.stream("/api/tv/bot/feed")
    featured = await feed.next()
    assert featured and featured["t"] == "featured" and featured["d"]["id"] == game_id
    await feed.next()
    alpha, beta = two(arena, connect)
    await play(game_id, alpha, beta, MOVES[:1])
    line = await feed.next()
    assert line and line["t"] == "fen" and line["d"]["lm"] == "e2e4"
    await play(game_id, alpha, beta, MOVES[1:8], 1)
    listed = await (await stranger.stream("/api/tv/bot?clocks=true", headers={"Accept": "application/x-ndjson"})).rest()
    assert [len(game["clocks"]) for game in listed] == [8]
    assert (await stranger.get("/api/tv/nonsense"))[0] == 404


async def test_exports_are_cut_for_strangers_and_whole_for_players(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    stranger = connect(arena)
    game_id = arena.pair("Alpha", "Beta")
    alpha, beta = two(arena, connect)
    await play(game_id, alpha, beta, MOVES)
    for client, plies in ((stranger, 5), (alpha, 8)):
        _, body = await client.get(f"/game/export/{game_id}", Accept="application/json")
        assert (len(body["moves"].split()), len(body["clocks"])) == (plies, plies)
    _, pgn = await stranger.get("/api/user/alpha/current-game")
    assert '[Termination "Unterminated"]' in pgn and "3. Bc4 { [%clk" in pgn and "3... Nf6" not in pgn
    assert (await stranger.get("/api/games/user/alpha"))[1] == ""
    await beta.post(f"/api/bot/game/{game_id}/resign")
    _, body = await stranger.get(f"/game/export/{game_id}", Accept="application/json")
    assert (len(body["moves"].split()), len(body["clocks"]), body["winner"]) == (8, 9, "white")
    _, pgn = await stranger.get("/api/games/user/Alpha?clocks=true")
    assert pgn == arena.pgn(game_id)
    async with stranger.session.post("/api/games/export/_ids", data=f"{game_id},unknown1") as response:
        assert (await response.text()).count("[Event ") == 1


async def test_game_addresses_resolve(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    stranger = connect(arena)
    game_id = arena.pair("Alpha", "Beta")
    for address in (game_id, f"{game_id}wwww"):
        status, text = await stranger.get(f"/{address}")
        assert status == 200 and "Alpha - Beta" in text
    assert await stranger.get("/nothere1") == (404, {"error": "No such game"})
    assert (await stranger.get("/__ping"))[0] == 200
    for path in ("/api/nothing", "/api/bot/game/abcdefgh/dance", "/"):
        assert await stranger.get(path) == (404, {"error": "Not found"})


async def test_lists_and_downloads_take_their_time_and_have_their_limits(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena(listed_per_s=40, exported_per_s=40, list_ids_a_call=10, list_ids_a_stream=15)
    games = [arena.pair("Wanda", "Bruno") for _ in range(10)]
    stranger, ids = connect(arena), ",".join(games)
    began = time.monotonic()
    listed = await stranger.stream("/api/stream/games/mine", "POST", data=ids)
    assert [line and line["id"] for line in [await listed.next() for _ in games]] == games
    assert time.monotonic() - began > 0.2
    status, refusal = await stranger.post("/api/stream/games/mine/add", ",".join(f"other{n:03}" for n in range(6)))
    assert (status, refusal["error"]) == (400, "Too many ids: 6 more than 10")
    began = time.monotonic()
    ndjson = {"Accept": "application/x-ndjson"}
    exported = await stranger.stream("/api/games/export/_ids", "POST", data=ids, headers=ndjson)
    assert [line["id"] for line in await exported.rest()] == games
    assert time.monotonic() - began > 0.2
    assert (await stranger.post("/api/games/export/_ids", ",".join(["abcdefgh"] * 301)))[0] == 400
