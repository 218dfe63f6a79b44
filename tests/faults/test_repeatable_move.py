"""A move that would be legal again at our next turn (chess960: the king stays where it castles) is played once too."""

from typing import Any

import pytest

from bridge.arena import Fate

CASTLING = "g1h1"
KING_STAYS = {"variant": "chess960", "fen": "6kr/pppppppp/8/8/8/8/PPPPPPPP/6KR w Kk - 0 1", "bot_is_white": True}


@pytest.fixture(autouse=True)
def quick_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.turn._ECHO_S", 0.3)


async def start(table: Any) -> Any:
    """The bot is about to castle."""
    await table.run()
    table.engine.moves = (CASTLING,)
    table.engine.delay_s = 0.3
    game = table.pair(**KING_STAYS)
    await table.until(lambda: table.engine.thinking)
    return game


@pytest.mark.parametrize("answer", [{"status": 0}, {"status": 502}, {"status": 400}, {"status": 200}], ids=str)
async def test_it_is_not_sent_into_a_position_that_was_not_shown(table: Any, answer: dict[str, Any]) -> None:
    """It took effect; the answer says little or nothing, the stream is silent, and the opponent has moved."""
    game = await start(table)
    table.faults.next("move", account="kiri", after=True, delay_s=0.2, body={"error": "no"}, **answer)
    table.faults.at_next_line(Fate.SILENCE, "game", game.id)
    await table.until(lambda: game.plies == 1)
    table.move(game, "e7e5")
    await table.until(lambda: game.plies == 3)
    assert game.moves == [CASTLING, "e7e5", "a2a3"]


@pytest.mark.parametrize("answer", [{"status": 0}, {"status": 502, "times": 3}, {"status": 200}], ids=str)
async def test_it_is_sent_again_when_the_stream_gives_a_sign_of_life(table: Any, answer: dict[str, Any]) -> None:
    game = await start(table)
    table.faults.next("move", account="kiri", **answer)
    await table.until(lambda: game.plies == 1, 2.0)
    assert table.engine.asked == [()]


async def test_it_is_sent_again_at_once_when_the_stream_is_back(table: Any) -> None:
    game = await start(table)
    table.faults.next("move", account="kiri", status=0)
    table.faults.silence("game", game.id)
    await table.until(lambda: len(table.asked("/move/")) == 1)
    table.faults.drop("game", game.id)
    await table.until(lambda: game.plies == 1, 1.0)
