"""Games over real sockets: challenges, streams, moves, chat, offers, claims and what refuses them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import pytest

from bridge.arena import Fate

if TYPE_CHECKING:
    from tests.arena.conftest import Connect, Open

FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")


async def test_challenge_accept_play_to_mate(open_arena: Open, connect: Connect) -> None:
    log: list[object] = []
    arena = await open_arena(request_log=log)
    alpha, beta = connect(arena, "tokA"), connect(arena, "tokB")
    alpha_events, beta_events = await alpha.stream("/api/stream/event"), await beta.stream("/api/stream/event")
    form = {"clock.limit": "180", "clock.increment": "2", "color": "white", "rated": "false"}
    status, asked = await alpha.post("/api/challenge/beta", form)
    assert (status, asked["status"], asked["direction"]) == (200, "created", "out")
    assert asked["timeControl"] == {"type": "clock", "limit": 180, "increment": 2, "show": "3+2"}
    assert (asked["finalColor"], asked["speed"], asked["perf"]["name"]) == ("white", "blitz", "Blitz")
    echo, incoming = await alpha_events.next(), await beta_events.next()
    assert echo and incoming and echo["challenge"] == incoming["challenge"]
    assert incoming["challenge"]["challenger"]["title"] == "BOT"
    game_id = asked["id"]
    assert await beta.post(f"/api/challenge/{game_id}/accept") == (200, {"ok": True})
    started = await beta_events.until("gameStart")
    assert started["game"]["id"] == started["game"]["gameId"] == game_id
    assert started["game"]["compat"] == {"bot": True, "board": True}
    streams = {bot: await bot.stream(f"/api/bot/game/stream/{game_id}") for bot in (alpha, beta)}
    full = await streams[alpha].next()
    assert full is not None
    assert (full["type"], full["initialFen"], full["clock"]) == (
        "gameFull",
        "startpos",
        {"initial": 180_000, "increment": 2000},
    )
    assert full["state"]["moves"] == "" and "winner" not in full["state"] and "wdraw" not in full["state"]
    for ply, uci in enumerate(FOOLS_MATE):
        mover = (alpha, beta)[ply % 2]
        assert await mover.post(f"/api/bot/game/{game_id}/move/{uci}") == (200, {"ok": True})
    lines = await streams[alpha].rest()
    assert [line["moves"].count(" ") for line in lines] == [0, 1, 2, 3]
    assert [line["status"] for line in lines] == ["started"] * 3 + ["mate"]
    assert lines[-1]["winner"] == "black"
    assert (await streams[beta].rest())[1:] == lines
    finished = await alpha_events.until("gameFinish")
    assert finished["game"]["status"] == {"id": 30, "name": "mate"}
    again = await (await alpha.stream(f"/api/bot/game/stream/{game_id}")).rest()
    assert [line["type"] for line in again] == ["gameFull"]
    assert "tokA" not in repr(log) and len(log) > 8


async def test_refusals_of_moves(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Wanda", 300, 0)
    alpha, wanda, stranger = connect(arena, "tokA"), connect(arena, "tokW"), connect(arena)
    move = f"/api/bot/game/{game_id}/move"
    assert await alpha.post(f"{move}/xyz") == (400, {"error": "Invalid UCI: xyz"})
    assert await alpha.post(f"{move}/e2e5") == (400, {"error": "Piece on e2 cannot move to e5"})
    assert (await wanda.post(f"{move}/e7e5"))[0] == 400
    refused = await wanda.post(f"/api/board/game/{game_id}/move/e7e5")
    assert refused == (400, {"error": "Not your turn, or game already over"})
    assert (await alpha.post(f"/api/board/game/{game_id}/move/e2e4"))[0] == 403
    assert await stranger.post(f"{move}/e2e4") == (401, {"error": "Missing authorization header"})
    assert await connect(arena, "nope").post(f"{move}/e2e4") == (401, {"error": "No such token"})
    assert await alpha.post("/api/bot/game/nothere1/move/e2e4") == (404, {"error": "No such game"})
    assert await connect(arena, "tokB").post(f"{move}/e2e4") == (404, {"error": "Not your game"})
    assert (await connect(arena, "tokA", agent="x user:Beta").get("/api/account"))[0] == 401


async def test_draw_offer_stands_until_the_opponent_moves(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Beta")
    alpha, beta = connect(arena, "tokA"), connect(arena, "tokB")
    stream = await beta.stream(f"/api/bot/game/stream/{game_id}")
    base = f"/api/bot/game/{game_id}"
    await alpha.post(f"{base}/move/e2e4")
    await beta.post(f"{base}/move/e7e5")
    await alpha.post(f"{base}/move/g1f3?offeringDraw=true")
    assert (await stream.until("gameState", wdraw=True))["moves"] == "e2e4 e7e5"
    await beta.post(f"{base}/move/b8c6")
    assert "wdraw" not in (await stream.until("gameState", moves="e2e4 e7e5 g1f3 b8c6"))
    too_soon = await alpha.post(f"{base}/draw/yes")
    assert too_soon == (200, {"ok": True})
    await beta.post(f"{base}/draw/yes")
    assert (await stream.until("gameState", bdraw=True)).get("wdraw") is None
    await alpha.post(f"{base}/draw/yes")
    assert (await stream.rest())[-1]["status"] == "draw"


async def test_abort_before_two_plies_resign_after(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena(repeat_abort_line=True)
    alpha, wanda = connect(arena, "tokA"), connect(arena, "tokW")
    first, second = arena.pair("Alpha", "Wanda"), arena.pair("Alpha", "Wanda", 600)
    stream = await alpha.stream(f"/api/bot/game/stream/{first}")
    await alpha.post(f"/api/bot/game/{first}/move/e2e4")
    assert (await wanda.post(f"/api/board/game/{first}/resign"))[0] == 200
    assert [line.get("status") for line in (await stream.rest())[-2:]] == ["aborted", "aborted"]
    for client, family, uci in ((alpha, "bot", "e2e4"), (wanda, "board", "e7e5")):
        await client.post(f"/api/{family}/game/{second}/move/{uci}")
    refused = await alpha.post(f"/api/bot/game/{second}/abort")
    assert refused == (400, {"error": "This game can no longer be aborted"})
    await alpha.post(f"/api/bot/game/{second}/resign")
    assert (arena.games[second].status.key, arena.games[second].winner) == ("resign", False)
    assert (await alpha.post(f"/api/bot/game/{second}/resign"))[0] == 400


async def test_threefold_with_a_bot_takes_two_lines(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Beta")
    alpha, beta = connect(arena, "tokA"), connect(arena, "tokB")
    stream = await alpha.stream(f"/api/bot/game/stream/{game_id}")
    for ply, uci in enumerate(("g1f3", "g8f6", "f3g1", "f6g8") * 2):
        await (alpha, beta)[ply % 2].post(f"/api/bot/game/{game_id}/move/{uci}")
    last_two = (await stream.rest())[-2:]
    assert [line["status"] for line in last_two] == ["started", "draw"]
    assert last_two[0]["moves"] == last_two[1]["moves"]


async def test_takeback_added_time_and_chat(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Wanda", 300, 0)
    alpha, wanda = connect(arena, "tokA"), connect(arena, "tokW")
    stream = await alpha.stream(f"/api/bot/game/stream/{game_id}")
    await alpha.post(f"/api/bot/game/{game_id}/move/e2e4")
    await wanda.post(f"/api/board/game/{game_id}/move/e7e5")
    await wanda.post(f"/api/board/game/{game_id}/takeback/yes")
    assert (await stream.until("gameState", btakeback=True))["moves"] == "e2e4 e7e5"
    await alpha.post(f"/api/bot/game/{game_id}/takeback/yes")
    assert (await stream.until("gameState", moves="e2e4"))["status"] == "started"
    assert (await wanda.post(f"/api/round/{game_id}/add-time/15"))[0] == 200
    said = await stream.until("chatLine", text="White + 15 seconds")
    assert (said["username"], said["room"]) == ("lichess", "player")
    assert (await stream.until("gameState"))["wtime"] == 315_000
    await wanda.post(f"/api/board/game/{game_id}/chat", {"room": "player", "text": "hello"})
    assert await stream.until("chatLine", username="Wanda", text="hello")
    status, chat = await alpha.get(f"/api/bot/game/{game_id}/chat")
    assert status == 200 and chat[-1] == {"text": "hello", "user": "Wanda"}
    assert (await alpha.post(f"/api/bot/game/{game_id}/chat", {"room": "player", "text": "x" * 141}))[0] == 400


async def test_late_move_flags_and_answers_200(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena(flag_check_s=60.0)
    game_id = arena.pair("Alpha", "Beta", 60, 0)
    alpha, beta = connect(arena, "tokA"), connect(arena, "tokB")
    await alpha.post(f"/api/bot/game/{game_id}/move/e2e4")
    await beta.post(f"/api/bot/game/{game_id}/move/e7e5")
    clock = arena.games[game_id].clock
    assert clock is not None
    arena.games[game_id].clock = clock.read(True, 1)
    await asyncio.sleep(0.05)
    assert await alpha.post(f"/api/bot/game/{game_id}/move/g1f3") == (200, {"ok": True})
    game = arena.games[game_id]
    assert (game.status.key, game.winner, game.plies) == ("outoftime", False, 2)


async def test_fallen_flag_is_noticed_by_the_check_only_while_a_stream_is_open(
    open_arena: Open, connect: Connect
) -> None:
    arena = await open_arena(flag_check_s=0.1)
    game_id = arena.pair("Alpha", "Beta", 60, 0)
    alpha, beta = connect(arena, "tokA"), connect(arena, "tokB")
    await alpha.post(f"/api/bot/game/{game_id}/move/e2e4")
    await beta.post(f"/api/bot/game/{game_id}/move/e7e5")
    clock = arena.games[game_id].clock
    assert clock is not None
    arena.games[game_id].clock = clock.read(True, -200)
    await asyncio.sleep(0.3)
    assert not arena.games[game_id].over
    stream = await beta.stream(f"/api/bot/game/stream/{game_id}")
    last = (await stream.rest())[-1]
    assert (last["status"], last["winner"], last["wtime"]) == ("outoftime", "black", 0)


async def test_opponent_who_leaves_is_announced_and_can_be_claimed(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena(gone_after_s=0.1, gone_timeout_s=0.5, gone_repeat_s=0.2, claim_wait_s=0.05)
    game_id = arena.pair("Alpha", "Wanda", 300, 0)
    alpha, wanda = connect(arena, "tokA"), connect(arena, "tokW")
    stream = await alpha.stream(f"/api/bot/game/stream/{game_id}")
    hers = await wanda.stream(f"/api/board/game/stream/{game_id}")
    await alpha.post(f"/api/bot/game/{game_id}/move/e2e4")
    claim = f"/api/bot/game/{game_id}/claim-victory"
    assert await alpha.post(claim) == (400, {"error": "You cannot claim the win on this game"})
    hers.close()
    assert await stream.until("opponentGone", gone=True)
    hers = await wanda.stream(f"/api/board/game/stream/{game_id}")
    assert await stream.until("opponentGone", gone=False)
    hers.close()
    assert await stream.until("opponentGone", claimWinInSeconds=0)
    assert await alpha.post(f"{claim}/") == (200, {"ok": True})
    last = (await stream.rest())[-1]
    assert (last["status"], last["winner"]) == ("timeout", "white")


async def test_same_program_opening_its_stream_again_ends_the_older(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Beta")
    one, other = connect(arena, "tokA", agent="one"), connect(arena, "tokA", agent="other")
    streams = [await client.stream(f"/api/bot/game/stream/{game_id}") for client in (one, other, one)]
    assert [line["type"] for line in await streams[0].rest()] == ["gameFull"]
    await one.post(f"/api/bot/game/{game_id}/move/e2e4")
    for stream in streams[1:]:
        assert await stream.until("gameState", moves="e2e4")


@pytest.mark.parametrize("spelling", ["e1g1", "e1h1"])
async def test_chess960_castling_is_written_king_takes_rook(open_arena: Open, connect: Connect, spelling: str) -> None:
    arena = await open_arena()
    fen = "rnbqkbnr/pppppppp/8/8/8/5NPB/PPPPPP1P/RNBQK2R w KQkq - 0 1"
    game_id = arena.pair("Alpha", "Beta", variant="chess960", fen=fen)
    await connect(arena, "tokA").post(f"/api/bot/game/{game_id}/move/{spelling}")
    assert arena.games[game_id].moves == ["e1h1"]
    plain = arena.pair("Alpha", "Beta", fen=fen)
    await connect(arena, "tokA").post(f"/api/bot/game/{plain}/move/{spelling}")
    assert arena.games[plain].moves == ["e1g1"]


async def test_keep_alives_and_a_slow_reader_loses_the_oldest_lines(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena(keep_alive_s=0.05)
    alpha = connect(arena, "tokA")
    events = await alpha.stream("/api/stream/event")
    for _ in range(100):
        if events.blanks >= 3:
            break
        with pytest.raises(TimeoutError):
            await events.next(0.1)
    assert events.blanks >= 3
    arena.pair("Alpha", "Wanda")
    assert await events.next()
    stream = next(iter(arena.hall.audience.open))
    for number in range(40):
        stream.send({"type": "filler", "number": number})
    assert [line["number"] for line in [await events.next() for _ in range(2)] if line] == [8, 9]


async def test_faults_answer_and_break_streams(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena(keep_alive_s=0.1)
    game_id = arena.pair("Alpha", "Beta")
    alpha = connect(arena, "tokA")
    arena.faults.next("move", status=429, body={"error": "slow down", "ratelimit": {"key": "x", "seconds": 7}}, times=2)
    for _ in range(2):
        assert (await alpha.post(f"/api/bot/game/{game_id}/move/e2e4"))[0] == 429
    assert arena.games[game_id].plies == 0
    arena.faults.next("move", status=0, account="Beta")
    arena.faults.next("move", status=0, account="Alpha", delay_s=0.05)
    with pytest.raises(aiohttp.ClientError):
        await alpha.post(f"/api/bot/game/{game_id}/move/e2e4")
    arena.faults.next("move", status=500, account="Beta")
    arena.faults.next("move", status=502, body="<html>bad gateway</html>", after=True)
    async with alpha.session.post(f"/api/bot/game/{game_id}/move/e2e4") as response:
        assert (response.status, response.content_type) == (502, "text/html")
    assert arena.games[game_id].plies == 1
    stream = await alpha.stream(f"/api/bot/game/stream/{game_id}")
    arena.faults.end("game", game_id)
    assert [line["type"] for line in await stream.rest()] == ["gameFull"]
    stream = await alpha.stream(f"/api/bot/game/stream/{game_id}")
    await stream.next()
    arena.faults.drop("game", game_id)
    with pytest.raises(aiohttp.ClientError):
        await stream.next()
    stream = await alpha.stream(f"/api/bot/game/stream/{game_id}")
    await stream.next()
    arena.faults.silence("game", game_id)
    with pytest.raises(TimeoutError):
        await stream.next(0.4)
    assert stream.blanks <= 1
    stream = await connect(arena, "tokB").stream(f"/api/bot/game/stream/{game_id}")
    await stream.next()
    arena.faults.at_next_line(Fate.END, "game", game_id)
    with pytest.raises(aiohttp.ClientError):
        await connect(arena, "tokB").post(f"/api/bot/game/{game_id}/move/e7e5")
    assert (await connect(arena, "tokB").post(f"/api/bot/game/{game_id}/move/e7e5"))[0] == 500
    await connect(arena, "tokB").post(f"/api/bot/game/{game_id}/move/e7e5")
    assert await stream.next() is None
