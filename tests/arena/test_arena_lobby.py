"""Accounts, event stream, challenges and the limits on them, over real sockets."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bridge.arena import Account, Arena, ArenaSettings

if TYPE_CHECKING:
    from tests.arena.conftest import Connect, Open

BLITZ = {"clock.limit": 180, "clock.increment": 0}


async def test_account_token_and_scopes(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    status, me = await connect(arena, "tokA").get("/api/account")
    assert (status, me["id"], me["username"], me["title"]) == (200, "alpha", "Alpha", "BOT")
    assert me["perfs"]["blitz"]["rating"] == 1500
    _, tested = await connect(arena).post("/api/token/test", "tokA,nobody")
    assert "bot:play" in tested["tokA"]["scopes"] and tested["nobody"] is None
    narrow = Account("Narrow", "tokN", title="BOT", scopes=frozenset({"challenge:read"}))
    arena.hall.accounts.add(narrow)
    game_id = arena.pair("Narrow", "Alpha")
    refused = await connect(arena, "tokN").post(f"/api/bot/game/{game_id}/resign")
    assert refused == (403, {"error": "Missing scope: bot:play"})
    assert "tokN" not in repr(narrow)


async def test_upgrade_makes_a_bot_of_an_account_without_games(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    wanda, bruno = connect(arena, "tokW"), connect(arena, "tokH")
    assert await wanda.post("/api/bot/account/upgrade") == (200, {"ok": True})
    assert (await wanda.get("/api/account"))[1]["title"] == "BOT"
    arena.pair("Bruno", "Alpha")
    assert (await bruno.post("/api/bot/account/upgrade"))[0] == 400


async def test_open_arena_makes_accounts_on_first_use(connect: Connect) -> None:
    async with Arena(settings=ArenaSettings(open_accounts=True)) as arena:
        assert (await connect(arena, "lip_Robo").get("/api/account"))[1]["title"] == "BOT"
        assert "title" not in (await connect(arena, "lip_human_Hugo").get("/api/account"))[1]
    async with Arena() as arena:
        assert (await connect(arena, "lip_Robo").get("/api/account"))[0] == 401


async def test_event_stream_replays_games_and_challenges_and_a_second_ends_the_first(
    open_arena: Open, connect: Connect
) -> None:
    arena = await open_arena()
    alpha, wanda = connect(arena, "tokA"), connect(arena, "tokW")
    game_id = arena.pair("Alpha", "Beta")
    _, asked = await wanda.post("/api/challenge/alpha", BLITZ)
    first = await alpha.stream("/api/stream/event")
    kinds = [await first.next(), await first.next()]
    assert [kind["type"] for kind in kinds if kind] == ["gameStart", "challenge"]
    assert kinds[0] and kinds[0]["game"]["gameId"] == game_id
    second = await alpha.stream("/api/stream/event")
    assert await first.next() is None
    assert await second.until("challenge")
    _, listing = await alpha.get("/api/challenge")
    assert [incoming["id"] for incoming in listing["in"]] == [asked["id"]]


async def test_thirty_event_streams_in_ten_minutes(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    alpha = connect(arena, "tokA")
    for _ in range(30):
        await alpha.stream("/api/stream/event")
    assert (await alpha.get("/api/stream/event"))[0] == 429


async def test_decline_and_cancel_are_told_to_both(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    alpha, wanda = connect(arena, "tokA"), connect(arena, "tokW")
    his, hers = await alpha.stream("/api/stream/event"), await wanda.stream("/api/stream/event")
    _, asked = await wanda.post("/api/challenge/Alpha", BLITZ)
    await alpha.post(f"/api/challenge/{asked['id']}/decline", {"reason": "timeControl"})
    for stream in (his, hers):
        declined = (await stream.until("challengeDeclined"))["challenge"]
        assert (declined["declineReasonKey"], declined["status"]) == ("timecontrol", "declined")
    _, asked = await wanda.post("/api/challenge/Alpha", as_json={**BLITZ, "rated": False, "color": None})
    assert (await wanda.post(f"/api/challenge/{asked['id']}/cancel"))[0] == 200
    assert (await his.until("challengeCanceled"))["challenge"]["id"] == asked["id"]
    assert (await alpha.post(f"/api/challenge/{asked['id']}/accept"))[0] == 400
    assert (await alpha.post("/api/challenge/nothere1/accept"))[0] == 404


async def test_kept_alive_challenge_ends_with_what_became_of_it(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena(challenge_expiry_s=0.1, watch_keep_alive_s=0.05)
    alpha, beta = connect(arena, "tokA"), connect(arena, "tokB")
    stream = await alpha.stream("/api/challenge/beta", "POST", data={**BLITZ, "keepAliveStream": "true"})
    asked = await stream.next()
    assert asked is not None
    await asyncio.sleep(0.2)
    assert (await alpha.get(f"/api/challenge/{asked['id']}/show"))[1]["status"] == "created"
    await beta.post(f"/api/challenge/{asked['id']}/accept")
    assert await stream.rest() == [{"done": "accepted"}]
    stream = await alpha.stream("/api/challenge/wanda", "POST", data={**BLITZ, "keepAliveStream": "true"})
    left = await stream.next()
    stream.close()
    _, plain = await alpha.post("/api/challenge/beta", BLITZ)
    assert left
    async with asyncio.timeout(30):
        for challenge in (left, plain):
            while (await alpha.get(f"/api/challenge/{challenge['id']}/show"))[1]["status"] != "offline":
                await asyncio.sleep(0.02)
    assert (await alpha.get("/api/challenge"))[1] == {"in": [], "out": []}


async def test_challenges_that_are_refused(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    alpha = connect(arena, "tokA")
    for user, form, text in (
        ("nobody", BLITZ, "No such user"),
        ("alpha", BLITZ, "yourself"),
        ("beta", {"clock.limit": 15, "clock.increment": 0}, "UltraBullet"),
        ("beta", {**BLITZ, "rules": "noAbort"}, "Rules not applicable for bots"),
        ("wanda", {**BLITZ, "fen": "not a fen"}, "Invalid position"),
        ("wanda", {"clock.limit": 7, "clock.increment": 0}, "clock.limit"),
        ("wanda", {**BLITZ, "variant": "atomic"}, "variant"),
    ):
        status, body = await alpha.post(f"/api/challenge/{user}", form)
        assert status == 400 and text in str(body), (user, body)


async def test_daily_limit_of_bot_games(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena(bot_games_per_day=2)
    alpha, beta, wanda = connect(arena, "tokA"), connect(arena, "tokB"), connect(arena, "tokW")
    arena.hall.accounts.add(Account("Gamma", "tokG", title="BOT"))
    for _ in range(2):
        _, asked = await alpha.post("/api/challenge/beta", BLITZ)
        assert (await beta.post(f"/api/challenge/{asked['id']}/accept"))[0] == 200
    status, body = await alpha.post("/api/challenge/gamma", BLITZ)
    assert (status, body["ratelimit"]["key"]) == (429, "bot.vsBot.day")
    assert 86_000 < body["ratelimit"]["seconds"] <= 86_400
    status, body = await connect(arena, "tokG").post("/api/challenge/beta", BLITZ)
    assert (status, body["ratelimit"]["key"]) == (400, "bot.vsBot.day")
    assert (await wanda.post("/api/challenge/alpha", BLITZ))[0] == 200


async def test_who_is_online_and_who_plays(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    stranger, alpha = connect(arena), connect(arena, "tokA")
    assert (await stranger.get("/api/users/status?ids=Alpha"))[1] == [{"id": "alpha", "name": "Alpha", "title": "BOT"}]
    await alpha.stream("/api/stream/event")
    online = await (await stranger.stream("/api/bot/online?nb=5")).rest()
    assert [bot["username"] for bot in online] == ["Alpha"]
    game_id = arena.pair("Alpha", "Wanda", 300, 3)
    _, (his, hers) = await stranger.get("/api/users/status?ids=alpha,wanda&withGameIds=true")
    assert his["online"] and his["playing"] and his["playingId"] == hers["playingId"] == game_id
    _, (his,) = await stranger.get("/api/users/status?ids=alpha&withGameMetas=1")
    assert his["playing"] == {"id": game_id, "clock": "5+3"}
    _, playing = await alpha.get("/api/account/playing")
    assert playing["nbMyTurn"] == 1 and playing["nowPlaying"][0]["gameId"] == game_id
    assert playing["nowPlaying"][0]["secondsLeft"] == 300


async def test_start_clocks_needs_both_tokens(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    game_id = arena.pair("Alpha", "Wanda", 300, 3)
    stranger = connect(arena)
    path = f"/api/challenge/{game_id}/start-clocks"
    assert (await stranger.post(f"{path}?token1=tokA"))[0] == 404
    assert (await stranger.post(f"{path}?token1=tokA&token2=tokW"))[0] == 200
    clock = arena.games[game_id].clock
    assert clock is not None and clock.running
