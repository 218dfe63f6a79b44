"""What the bot says of itself: its engine by name, and what that thought, from White's side as the PGN has it."""

import re
from typing import Any

import pytest

from bridge import event_types
from bridge.engines.locate import installed
from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger

STOCKFISH = installed("stockfish")


@pytest.fixture(autouse=True)
def quick_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 20)


@pytest.mark.skipif(not STOCKFISH, reason="Stockfish is not installed: apt install stockfish")
async def test_the_engine_is_named_by_its_program(table: Any) -> None:
    await table.run(program={"path": STOCKFISH}, greeting={"pool": False, "hello": "You play {engine}"})
    game = table.pair()
    table.move(game, "e2e4")
    await table.until(lambda: game.plies == 2)
    table.arena.hall.say(game, "player", "Human", "!engine")
    await table.until(lambda: len(table.said(game)) == 2)
    hello, answer = table.said(game)
    assert re.fullmatch(r"You play (stockfish|Stockfish \d.*) \(UCI\)", hello)
    assert re.fullmatch(r"My engine: Stockfish \d.* \(UCI\)", answer)


@pytest.mark.parametrize(
    ("bot_is_white", "score_cp", "told"),
    [(True, 31, "+0.31"), (False, 31, "-0.31"), (True, 99_996, "#3"), (False, 99_996, "#-3")],
)
async def test_an_evaluation_is_told_from_whites_side_as_the_pgn_has_it(
    table: Any, bot_is_white: bool, score_cp: int, told: str
) -> None:
    async def likes_it(ledger: Ledger, limit: Limit) -> Choice:
        return Choice(table.engine.choice(ledger), score_cp, 12)

    table.engine.next = [likes_it] * 10
    await table.run()
    game = table.pair(bot_is_white=bot_is_white)
    await table.play(game, 4)
    table.arena.hall.say(game, "player", "Human", "!eval")
    await table.until(lambda: table.said(game))
    await table.resign(game)
    await table.until(lambda: any("last evaluation" in line for line in table.said(game)))
    (line,) = [line for line in table.said(game) if "last evaluation" in line]
    (final,) = table.recorder.of(event_types.VERDICT_FINAL, game.id)
    in_pgn = re.findall(r"%eval ([^,\]]*)", str(final.data["pgn"]))[-1]
    assert line == f"My last evaluation, from White’s side: {told}"
    assert in_pgn == told.removeprefix("+")


async def test_a_link_in_an_engines_name_is_not_said(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.conversation.chat_commands.engine_text", lambda facts, words: "Fish of https://a.org")
    await table.run(greeting={"pool": False, "hello": "You play {engine}"})
    game = table.pair()
    await table.until(lambda: table.said(game) == ["You play Fish of"])
