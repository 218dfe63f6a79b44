"""Draws and takebacks that were offered while nobody listened, that fail, or that are answered by nothing."""

import asyncio
from typing import Any

import chess
import pytest

from bridge.arena import offers
from bridge.interfaces import Choice

ROOK_AGAINST_KNIGHT = "1n5k/8/8/8/8/8/R6P/K7 w - - 0 1"


@pytest.fixture(autouse=True)
def quick_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.offers._DRAW_AGAIN_S", 0.1)
    monkeypatch.setattr("bridge.offers._TAKEBACK_AGAIN_S", 0.1)


def propose_draw(table: Any, game: Any) -> None:
    hall = table.arena.hall
    hall.happen(game, offers.draw_yes(game, chess.WHITE, hall.game_now_ms(game)))


async def drawn_here(table: Any) -> Any:
    """White's flag falls against a knight: a draw that Lichess knows nothing of."""
    await table.run(pool="winder")
    game = table.pair(limit_s=300, fen=ROOK_AGAINST_KNIGHT)
    for uci in ("a2b2", "b2c2"):
        at = game.plies
        table.move(game, uci)
        await table.until(lambda at=at: game.plies == at + 2)
    table.spend(game, 70_000)
    table.move(game, "c2d2")
    await table.until(lambda: game.plies == 6 and table.asked("/draw/yes"))
    return game


async def test_a_takeback_that_was_asked_for_while_the_stream_was_gone_is_answered(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 6)
    table.faults.next("game_stream", status=503, times=3)
    table.faults.drop("game", game.id)
    await table.until(lambda: table.requests[-1].status == 503)
    table.propose_takeback(game)
    await table.until(lambda: game.sides[chess.WHITE].takebacks_declined == 1)


@pytest.mark.parametrize(
    "answer",
    [{"status": 500}, {"status": 400, "body": {"error": "no"}}, {"status": 200, "body": {"ok": True}}],
    ids=["500", "400", "silent-200"],
)
async def test_a_takeback_is_declined_in_the_middle_of_a_search_and_until_it_is(table: Any, answer: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 6)
    goes_on = asyncio.Event()

    async def thinks(ledger: Any, limit: Any) -> Choice:
        await goes_on.wait()
        return Choice(table.engine.choice(ledger))

    table.engine.next = [thinks]
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    table.faults.next("takeback", times=2, **answer)
    table.propose_takeback(game)
    await table.until(lambda: game.sides[chess.WHITE].takebacks_declined == 1)
    assert table.engine.thinking == 1
    goes_on.set()
    await table.until(lambda: game.plies == 8)
    assert len(table.engine.asked) == 4
    assert len(table.asked("/takeback/no")) == 3


@pytest.mark.parametrize(
    "answer",
    [{"status": 503}, {"status": 400, "body": {"error": "no"}}, {"status": 200, "body": {"ok": True}}],
    ids=["503", "400", "silent-200"],
)
async def test_our_draw_offer_is_made_until_it_stands_and_then_never_again(table: Any, answer: Any) -> None:
    table.faults.next("draw", times=2, **answer)
    game = await drawn_here(table)
    await table.until(lambda: game.sides[chess.BLACK].offers_draw)
    assert len(table.asked("/draw/yes")) == 3
    table.move(game, "d2e2")  # which declines it
    await table.until(lambda: game.plies == 8)
    await table.until(lambda: not game.sides[chess.BLACK].offers_draw)
    table.move(game, "e2f2")
    await table.until(lambda: game.plies == 10)
    assert len(table.asked("/draw/yes")) == 3


@pytest.mark.parametrize("stood", [False, True], ids=["lost", "made"])
async def test_our_draw_offer_survives_a_restart(table: Any, stood: bool) -> None:
    if not stood:
        table.faults.next("draw", times=1000, status=503)
    game = await drawn_here(table)
    if stood:
        await table.until(lambda: game.sides[chess.BLACK].offers_draw)
        table.move(game, "d2e2")  # which declines it
        await table.until(lambda: game.plies == 8)
    await table.settled(game)
    await table.kill()
    table.faults._answers.clear()
    asked = len(table.asked("/draw/yes"))
    await table.run(pool="winder")
    if stood:
        table.move(game, "e2f2")
        await table.until(lambda: game.plies == 10)
    else:
        await table.until(lambda: game.sides[chess.BLACK].offers_draw)
    assert len(table.asked("/draw/yes")) == asked + (not stood)


async def test_the_opponents_offer_is_accepted_where_kirichess_says_draw(table: Any) -> None:
    game = await drawn_here(table)
    table.move(game, "d2e2")
    await table.until(lambda: game.plies == 8)
    table.faults.next("draw", times=2, status=503)
    propose_draw(table, game)
    verdict = await table.final(game)
    assert (verdict["result"], verdict["reason"]) == ("1/2-1/2", "flag_insufficient_material")
    assert verdict["platform"] == {"result": "1/2-1/2", "status": "draw"}


async def test_an_offer_that_stands_when_the_stream_begins_is_accepted_too(table: Any) -> None:
    game = await drawn_here(table)
    table.move(game, "d2e2")
    await table.until(lambda: game.plies == 8)
    await table.kill()
    propose_draw(table, game)
    await table.run(pool="winder")
    verdict = await table.final(game)
    assert verdict["platform"] == {"result": "1/2-1/2", "status": "draw"}


async def test_a_draw_is_never_accepted_elsewhere(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 6)
    propose_draw(table, game)
    await table.play(game, 12)
    assert not table.asked("/draw/")
    assert not any("offeringDraw" in line.path for line in table.requests)


async def test_a_hopeless_game_is_resigned_by_the_scores(table: Any) -> None:
    async def lost(ledger: Any, limit: Any) -> Choice:
        return Choice(table.engine.choice(ledger), score_cp=-1500)

    await table.run(draw_or_resign={"resign_enabled": True, "resign_moves": 2})
    table.engine.next = [lost, lost]
    game = table.pair()
    await table.play(game, 3)
    verdict = await table.final(game)
    assert (verdict["result"], verdict["reason"]) == ("1-0", "resignation")


async def test_the_score_of_a_move_that_was_taken_back_does_not_count(table: Any) -> None:
    """Two hopeless scores in a row are needed, of two moves that stand."""

    async def lost(ledger: Any, limit: Any) -> Choice:
        return Choice(table.engine.choice(ledger), score_cp=-1500)

    table.engine.next = [lost] * 5
    await table.run(draw_or_resign={"resign_enabled": True, "resign_moves": 2}, max_takebacks_accepted=1)
    game = table.pair()
    await table.play(game, 2)
    table.propose_takeback(game)
    await table.until(lambda: game.plies == 0)
    await table.play(game, 2)
    await table.until(lambda: len(table.plies(game)) == 4)
    assert not game.over and not table.asked("/resign")
    table.move(game, table.LINE[2])
    assert (await table.final(game))["reason"] == "resignation"


@pytest.mark.parametrize("what", ["a draw", "a resignation", "not trusted"])
async def test_the_scores_of_moves_before_a_restart_count(table: Any, what: str) -> None:
    """Three in a row are needed, and two were given before the program was killed."""
    score_cp = 0 if what == "a draw" else -1500
    terms = {"resign_enabled": True, "resign_moves": 3}
    if what == "a draw":
        terms = {"offer_draw_enabled": True, "offer_draw_moves": 3, "offer_draw_pieces": 32}
    trusted = what != "not trusted"

    async def thinks(ledger: Any, limit: Any) -> Choice:
        return Choice(table.engine.choice(ledger), score_cp=score_cp, trusted=trusted)

    table.engine.next = [thinks] * 4
    await table.run(draw_or_resign=terms)
    game = table.pair()
    await table.play(game, 4)
    await table.settled(game)
    await asyncio.sleep(0.3)  # until what was thought of the last move is stored too
    await table.kill()
    trusted = True
    await table.run(draw_or_resign=terms)
    await table.play(game, 5)
    if what == "a resignation":
        verdict = await table.final(game)
        assert (verdict["result"], verdict["reason"], game.plies <= 6) == ("1-0", "resignation", True)
        return
    await table.until(lambda: game.plies == 6)
    if what == "a draw":
        await table.until(lambda: game.sides[chess.BLACK].offers_draw)
    else:
        await table.play(game, 8)
        assert not game.over and not table.asked("/resign")


@pytest.mark.parametrize("base_s", [150, 500])
async def test_a_draw_is_taken_where_our_flag_cannot_be_saved(table: Any, base_s: int) -> None:
    """Every move costs more than the clock has left after the first; with a fuller one the offer is declined."""
    tolls = dict.fromkeys(("pawn", "knight", "bishop", "rook", "queen", "king", "castling"), 100)
    await table.run(rules={"base_s": base_s, "tolls_s": tolls})
    game = table.pair(bot_is_white=True)
    await table.play(game, 1)
    table.engine.delay_s = 0.5
    await table.play(game, 2)
    hall = table.arena.hall
    hall.happen(game, offers.draw_yes(game, chess.BLACK, hall.game_now_ms(game)))
    await table.until(lambda: game.over or game.plies == 3)
    assert (game.status.key, game.plies) == (("draw", 2) if base_s == 150 else ("started", 3))
