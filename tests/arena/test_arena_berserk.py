"""berserk, unmodified, plays a whole game on the arena: two clients in threads, nothing but the base URL changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import berserk
import pytest

if TYPE_CHECKING:
    from tests.arena.conftest import Open

GAME = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]


def player(url: str, token: str, rival: str | None) -> list[dict[str, Any]]:
    """One bot's evening: the lines of its game stream."""
    client = berserk.Client(berserk.TokenSession(token), base_url=url)
    me = client.account.get()["id"]
    events = client.bots.stream_incoming_events()
    if rival:
        client.challenges.create(rival, rated=False, clock_limit=180, clock_increment=2, color="white")
    for event in events:
        if event["type"] == "challenge" and event["challenge"]["challenger"]["id"] != me:
            client.bots.accept_challenge(event["challenge"]["id"])
        if event["type"] == "gameStart":
            return follow(client, event["game"]["id"], white=event["game"]["color"] == "white")
    raise AssertionError("the event stream ended before a game started")


def follow(client: berserk.Client, game_id: str, *, white: bool) -> list[dict[str, Any]]:
    lines = []
    for line in client.bots.stream_game_state(game_id):
        lines.append(line)
        state = line.get("state", line)
        played = len(state["moves"].split())
        if state["status"] == "started" and played < len(GAME) and (played % 2 == 0) is white:
            client.bots.make_move(game_id, GAME[played])
    return lines


async def test_a_whole_game(open_arena: Open) -> None:
    arena = await open_arena(keep_alive_s=0.2)
    white, black = await asyncio.gather(
        asyncio.to_thread(player, arena.url, "tokA", "beta"), asyncio.to_thread(player, arena.url, "tokB", None)
    )
    assert [line["status"] for line in white[1:]] == ["started"] * 6 + ["mate"]
    assert white[-1]["winner"] == black[-1]["winner"] == "white"
    client = berserk.Client(berserk.TokenSession("tokA"), base_url=arena.url)
    (game_id,) = arena.games
    exported: Any = await asyncio.to_thread(client.games.export, game_id)
    assert exported["moves"] == "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#"
    online = await asyncio.to_thread(lambda: list(client.bots.get_online_bots()))
    assert [bot["id"] for bot in online] == ["alpha", "beta"]
    assert (await asyncio.to_thread(client.users.get_realtime_statuses, "alpha"))[0]["online"]


def board_evening(url: str, game_id: str) -> None:
    """What a human's berserk client may call around a game; the bot has been paired with her."""
    bot = berserk.Client(berserk.TokenSession("tokA"), base_url=url)
    human = berserk.Client(berserk.TokenSession("tokW"), base_url=url)
    assert next(iter(human.board.stream_incoming_events()))["game"]["id"] == game_id
    human.board.make_move(game_id, "e2e4")
    bot.bots.make_move(game_id, "e7e5")
    bot.bots.post_message(game_id, "good luck")
    assert human.board.get_game_chat(game_id)[0]["text"] == "good luck"
    human.board.offer_takeback(game_id)
    human.board.decline_takeback(game_id)
    human.challenges.add_time_to_opponent_clock(game_id, 15)
    state = next(iter(human.board.stream_game_state(game_id)))["state"]
    assert state["btime"] == 315_000
    assert human.games.get_ongoing()[0]["gameId"] == game_id
    watched: Any = next(iter(human.games.stream_game_moves(game_id)))
    assert watched["id"] == game_id
    between: Any = next(iter(human.games.get_among_players("Alpha", "Wanda", with_current_games=True)))
    assert between["id"] == game_id
    shown: Any = next(iter(human.tv.stream_current_game_of_channel("bot")))
    assert shown["d"]["id"] == game_id
    human.board.make_move(game_id, "g1f3")
    with pytest.raises(berserk.exceptions.ResponseError, match="cannot claim"):
        human.board.claim_victory(game_id)
    human.board.resign_game(game_id)
    ours: Any = list(human.games.export_by_player("wanda"))
    assert [game["winner"] for game in ours] == ["black"]
    by_id: Any = next(iter(human.games.export_multi(game_id)))
    assert by_id["id"] == game_id
    assert human.challenges.get_mine() == {"in": [], "out": []}


async def test_a_humans_client(open_arena: Open) -> None:
    arena = await open_arena(claim_wait_s=0.05)
    game_id = arena.pair("Wanda", "Alpha", 300, 0)
    await asyncio.to_thread(board_evening, arena.url, game_id)
    assert arena.games[game_id].status.key == "resign"
