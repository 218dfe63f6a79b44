"""Games given up or drawn by endgame tables: real ones (Debian's gaviotatb), and a stand-in for Lichess's server."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import chess
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bridge.arena import offers

FOLDER = Path("/usr/share/gaviotatb/gtb4")
GAVIOTA = {"gaviota": {"enabled": True, "paths": [str(FOLDER)]}}
BOTH = {"resign_enabled": True, "offer_draw_enabled": True}
RATED = {"modes": ["casual", "rated"]}
LOST = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"
DRAWN = "k7/8/8/8/8/8/P7/K7 w - - 0 1"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="no gaviotatb")


@pytest.fixture(autouse=True)
def quick_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.offers._DRAW_AGAIN_S", 0.1)


async def test_what_is_lost_for_certain_is_resigned(table: Any) -> None:
    await table.run(lichess_bot_tbs=GAVIOTA, draw_or_resign=BOTH, challenge=RATED)
    game = table.pair(rated=True, fen=LOST)
    table.move(game, "a1a2")
    verdict = await table.final(game)
    assert (verdict["result"], verdict["reason"]) == ("1-0", "resignation")


@pytest.mark.parametrize(
    "terms",
    [{}, {**BOTH, "resign_for_egtb_minus_two": False, "offer_draw_for_egtb_zero": False}],
    ids=["off", "not so"],
)
@pytest.mark.parametrize("fen", [LOST, DRAWN], ids=["lost", "drawn"])
async def test_nothing_is_given_up_or_offered_unasked(table: Any, fen: str, terms: dict[str, object]) -> None:
    await table.run(lichess_bot_tbs=GAVIOTA, draw_or_resign=terms, challenge=RATED)
    await no_end(table, table.pair(rated=True, fen=fen))


@pytest.mark.parametrize("fen", [LOST, DRAWN], ids=["lost", "drawn"])
async def test_tables_end_no_game_that_clocks_decide(table: Any, fen: str) -> None:
    await table.run(lichess_bot_tbs=GAVIOTA, draw_or_resign=BOTH)
    await no_end(table, table.pair(fen=fen))


async def no_end(table: Any, game: Any) -> None:
    moves = ("a1a2", "a2a1") if game.board.piece_type_at(chess.A1) == chess.ROOK else ("a2a3", "a3a4")
    for uci in moves:
        at = game.plies
        table.move(game, uci)
        await table.until(lambda at=at: game.plies == at + 2)
    await table.settled(game)
    assert not table.asked("/resign")
    assert not table.asked("/draw/")


async def test_what_is_drawn_is_offered_once(table: Any) -> None:
    await table.run(lichess_bot_tbs=GAVIOTA, draw_or_resign=BOTH, challenge=RATED)
    game = table.pair(rated=True, fen=DRAWN)
    table.move(game, "a2a3")
    await table.until(lambda: game.sides[chess.BLACK].offers_draw)
    table.move(game, "a3a4")  # which declines it
    await table.until(lambda: game.plies == 4)
    assert len(table.asked("/draw/yes")) == 1


async def test_the_opponents_offer_is_taken_before_our_move_declines_it(table: Any) -> None:
    await table.run(lichess_bot_tbs=GAVIOTA, draw_or_resign=BOTH, challenge=RATED)
    table.faults.next("draw", times=1000, status=503)  # our own offer never stands
    game = table.pair(rated=True, fen="7k/8/8/8/8/p7/8/K7 w - - 0 1")
    table.move(game, "a1b1")
    await table.until(lambda: game.plies == 2 and table.asked("/draw/yes"))
    table.faults._answers.clear()
    table.move(game, "b1a1")
    hall = table.arena.hall
    hall.happen(game, offers.draw_yes(game, chess.WHITE, hall.game_now_ms(game)))
    verdict = await table.final(game)
    assert verdict["platform"] == {"result": "1/2-1/2", "status": "draw"}
    assert game.plies == 3


@pytest.fixture
async def server() -> AsyncIterator[str]:
    """Speaks as Lichess's tablebase: the side that is to answer wins by every move."""

    async def answer(request: web.Request) -> web.Response:
        board = chess.Board(request.query["fen"])
        moves = [{"uci": move.uci(), "category": "win", "dtz": 9} for move in board.legal_moves]
        return web.json_response({"category": "loss", "dtz": -10, "moves": moves})

    app = web.Application()
    app.router.add_get("/standard", answer)
    async with TestServer(app) as running:
        yield str(running.make_url("")).rstrip("/")


async def test_the_online_tables_count_too(table: Any, server: str) -> None:
    online = {"online_egtb": {"enabled": True, "url": server}}
    await table.run(online_moves=online, draw_or_resign=BOTH, challenge=RATED)
    game = table.pair(rated=True, fen=LOST)
    table.move(game, "a1a2")
    assert (await table.final(game))["reason"] == "resignation"
