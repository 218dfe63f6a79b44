"""The least a client can do: read a line, post the answer it has ready. A process of its own, beside the daemon's."""

import asyncio
import json
from contextlib import suppress

import aiohttp

from tests.bench.line_to_move import script


def run_echo(url: str, token: str) -> None:
    """Answer in every game of the account until the server goes away."""
    with suppress(aiohttp.ClientError, KeyboardInterrupt):
        asyncio.run(_follow(url, token))


async def _follow(url: str, token: str) -> None:
    moves = script()
    async with aiohttp.ClientSession(
        url,
        headers={"Authorization": f"Bearer {token}"},
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None),
    ) as session:
        games: dict[str, asyncio.Task[None]] = {}
        async with session.get("/api/stream/event") as response:
            async for line in response.content:
                event = json.loads(line) if line.strip() else {}
                if event.get("type") == "gameStart" and event["game"]["gameId"] not in games:
                    game_id = event["game"]["gameId"]
                    games[game_id] = asyncio.create_task(_play(session, game_id, moves))


async def _play(session: aiohttp.ClientSession, game_id: str, moves: list[str]) -> None:
    async with session.get(f"/api/bot/game/stream/{game_id}") as response:
        async for line in response.content:
            message = json.loads(line) if line.strip() else {}
            state = message.get("state", message)
            plies = len(state.get("moves", "").split())
            if state.get("status") == "started" and plies % 2 and plies < len(moves):
                async with session.post(f"/api/bot/game/{game_id}/move/{moves[plies]}") as answer:
                    await answer.read()
