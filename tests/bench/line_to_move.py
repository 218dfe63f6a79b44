"""From a stream's line to our move: the whole path against a bare aiohttp echo, in one run.

Usage: python tests/bench/line_to_move.py [ROUNDS]

A scripted server sends the opponent's move and measures until our answer is posted. "bare" reads the line and posts
the scripted answer; "bridge" is platform, tracker, journal on disk, session and an engine that answers at once. The two
take turns; the ratio is taken round by round.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
import chess
from aiohttp import web

from bridge.conversation import Speech
from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec
from bridge.interfaces import Choice, Limit
from bridge.journal import SqlJournal
from bridge.platforms.lichess.platform import Lichess
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.session import BotAccount, PlayStyle, Session
from bridge.tracker import Tracker

PLIES = 120
GAME = "benchgam"


def script() -> list[str]:
    """A quiet game long enough to be measured: knights and rooks wander, nothing repeats three times."""
    import random

    dice = random.Random(5)
    while True:
        board = chess.Board()
        moves = []
        for _ in range(PLIES):
            legal = [move for move in board.legal_moves if not board.is_capture(move)] or list(board.legal_moves)
            if not legal:
                break
            move = dice.choice(legal)
            moves.append(move.uci())
            board.push(move)
            if board.is_game_over(claim_draw=True):
                break
        else:
            return moves


class Server:
    """Streams one scripted game; `latencies_us` holds the time from each line of White to Black's posted answer."""

    def __init__(self, moves: list[str]) -> None:
        self._moves = moves
        self.latencies_us: list[float] = []
        self._sent_at = 0.0
        self._answered = asyncio.Event()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/api/account", self.account)
        app.router.add_get("/api/bot/game/stream/{id}", self.stream)
        app.router.add_post("/api/bot/game/{id}/move/{uci}", self.move)
        app.router.add_post("/api/bot/game/{id}/chat", self.chat)
        return app

    async def account(self, _request: web.Request) -> web.Response:
        return web.json_response({"id": "kiri", "username": "Kiri", "title": "BOT"})

    async def chat(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def move(self, request: web.Request) -> web.Response:
        self.latencies_us.append((time.perf_counter() - self._sent_at) * 1e6)
        self._answered.set()
        return web.json_response({"ok": True})

    def _state(self, plies: int, status: str = "started") -> dict[str, object]:
        clock = {"wtime": 3_600_000 - 100 * plies, "btime": 3_600_000 - 100 * plies, "winc": 0, "binc": 0}
        return {"type": "gameState", "moves": " ".join(self._moves[:plies]), "status": status, **clock}

    async def stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        full = {
            "type": "gameFull",
            "id": GAME,
            "variant": {"key": "standard"},
            "rated": False,
            "speed": "classical",
            "white": {"id": "rival", "name": "Rival", "title": "BOT"},
            "black": {"id": "kiri", "name": "Kiri", "title": "BOT"},
            "initialFen": "startpos",
            "clock": {"initial": 3_600_000, "increment": 0},
            "state": self._state(0),
        }
        await response.write(json.dumps(full).encode() + b"\n")
        await asyncio.sleep(0.2)
        for plies in range(1, len(self._moves), 2):
            self._answered.clear()
            line = json.dumps(self._state(plies)).encode() + b"\n"
            self._sent_at = time.perf_counter()
            await response.write(line)
            await self._answered.wait()
            await response.write(json.dumps(self._state(plies + 1)).encode() + b"\n")
            await asyncio.sleep(0.002)
        end = self._state(len(self._moves) // 2 * 2, "aborted")
        await response.write(json.dumps(end).encode() + b"\n")
        return response


class Scripted:
    """An engine that has the answer ready."""

    def __init__(self, moves: list[str]) -> None:
        self._moves = moves

    async def start(self) -> None:
        pass

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        return Choice(self._moves[len(ledger.moves)])

    async def close(self) -> None:
        pass


@asynccontextmanager
async def serving(moves: list[str]) -> AsyncIterator[tuple[Server, str]]:
    server = Server(moves)
    runner = web.AppRunner(server.app(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield server, f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def bare(moves: list[str]) -> float:
    """Median microseconds of a client that only reads and posts."""
    async with serving(moves) as (server, url), aiohttp.ClientSession() as session:
        async with session.get(f"{url}/api/bot/game/stream/{GAME}") as response:
            async for line in response.content:
                state = json.loads(line)
                plies = len(state.get("moves", "").split())
                if plies % 2 and state["status"] == "started":
                    async with session.post(f"{url}/api/bot/game/{GAME}/move/{moves[plies]}"):
                        pass
        return statistics.median(server.latencies_us)


async def bridge(moves: list[str]) -> float:
    """Median microseconds of the whole path."""
    with tempfile.TemporaryDirectory() as folder:
        async with serving(moves) as (server, url), SqlJournal(f"sqlite:///{Path(folder) / 'j.db'}") as journal:
            platform = Lichess(url, "token", keep=journal.keep)
            await platform.account()
            style = PlayStyle(lambda control: named("eclipse"), speech=Speech(pool_told=False))
            spare = EngineSpec("random")
            bot = BotAccount(
                "Kiri",
                platform,
                journal,
                style,
                lambda name, game_id, opponent: Scripted(moves),
                partial(build_engine, spare),
                int,
            )
            tracker = Tracker(GAME, "Kiri", journal, lambda: time.monotonic_ns() // 1_000_000)
            await Session(GAME, bot, tracker).run()
            await platform.close()
            return statistics.median(server.latencies_us)


async def main(rounds: int) -> None:
    moves = script()
    rows = [(await bridge(moves), await bare(moves)) for _ in range(rounds)]
    ratios = sorted(ours / theirs for ours, theirs in rows)
    ours, theirs = (statistics.median(column) for column in zip(*rows, strict=True))
    print(f"rounds {rounds}, plies {len(moves)}")
    print(f"bridge {ours:.0f} us, bare {theirs:.0f} us (medians)")
    print(f"ratio bridge/bare: min {ratios[0]:.2f} median {statistics.median(ratios):.2f} max {ratios[-1]:.2f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
