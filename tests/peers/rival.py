"""The peers' opponent: a bot that challenges, plays random moves and brings each game to the end its plan asks for."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import chess

from bridge.arena import Arena


@dataclass(frozen=True, slots=True)
class Plan:
    """One game: how it is offered, and what the rival does at `ply`: `resign`, `sleep` (until it flags) or nothing."""

    color: str
    limit_s: int
    increment_s: int
    variant: str = "standard"
    fen: str | None = None
    ending: str = ""
    ply: int = 0


PLANS = (
    Plan("white", 180, 2),
    Plan("black", 60, 1, ending="resign", ply=25),
    Plan("white", 180, 1, variant="chess960"),
    Plan("black", 30, 0, ending="sleep", ply=13),
    Plan("black", 120, 1, fen="4k3/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQ - 0 1"),
)


class Rival:
    """Plays one plan after the other against the account `peer`."""

    def __init__(self, arena: Arena, token: str, peer: str, seed: int = 1) -> None:
        self._arena = arena
        self._peer = peer
        self._random = random.Random(seed)
        self._session = aiohttp.ClientSession(
            arena.url, headers={"Authorization": f"Bearer {token}"}, timeout=aiohttp.ClientTimeout(total=None)
        )

    async def close(self) -> None:
        await self._session.close()

    async def play(self, plan: Plan) -> str:
        """Challenge, play to the end, answer the game's id; raises when the challenge is not accepted."""
        form = {
            "clock.limit": str(plan.limit_s),
            "clock.increment": str(plan.increment_s),
            "color": plan.color,
            "rated": "false",
            "variant": plan.variant,
            "keepAliveStream": "true",
            **({"fen": plan.fen} if plan.fen else {}),
        }
        async with self._session.post(f"/api/challenge/{self._peer}", data=form) as response:
            response.raise_for_status()
            lines = [line async for line in _objects(response)]
        game_id = str(lines[0]["id"])
        if lines[-1].get("done") != "accepted":
            raise RuntimeError(f"challenge {game_id} was not accepted: {lines[-1]}")
        await self._follow(game_id, plan)
        return game_id

    async def _follow(self, game_id: str, plan: Plan) -> None:
        async with self._session.get(f"/api/bot/game/stream/{game_id}") as response:
            board = chess.Board()
            async for line in _objects(response):
                if line["type"] == "gameFull":
                    fen = str(line["initialFen"])
                    start = chess.STARTING_FEN if fen == "startpos" else fen
                    board = chess.Board(start, chess960=plan.variant == "chess960")
                    line = line["state"]  # type: ignore[assignment]
                if line.get("type") == "gameState" and line["status"] == "started":
                    await self._answer(game_id, plan, board, str(line["moves"]).split())

    async def _answer(self, game_id: str, plan: Plan, board: chess.Board, moves: list[str]) -> None:
        for uci in moves[len(board.move_stack) :]:
            board.push_uci(uci)
        if board.turn != (plan.color == "white") or board.is_game_over():
            return
        over = plan.ending and len(moves) >= plan.ply
        if over and plan.ending == "sleep":
            return
        uci = self._random.choice(list(board.legal_moves)).uci()
        action = "resign" if over else f"move/{uci}"
        async with self._session.post(f"/api/bot/game/{game_id}/{action}") as response:
            response.raise_for_status()


async def _objects(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, object]]:
    async for raw in response.content:
        if raw.strip():
            yield json.loads(raw)


async def until_online(arena: Arena, account_id: str, patience_s: float) -> None:
    """Returns when the account's event stream is open; raises TimeoutError when that takes too long."""
    async with asyncio.timeout(patience_s):
        while account_id not in arena.hall.audience.events:
            await asyncio.sleep(0.1)
