"""What our engine thinks of a game: told in its PGN once the game is over, over a restart; before that to nobody."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import aiohttp
import chess.pgn
import pytest

from bridge.event_types import VERDICT_FINAL
from bridge.interfaces import Choice, Limit
from bridge.journal.reader import JournalReader
from bridge.proof import prove
from bridge.rules.ledger import Ledger

SCORE_CP, DEPTH = 4321, 17


async def thinks(ledger: Ledger, limit: Limit) -> Choice:
    line = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6"]
    return Choice(line[len(ledger.moves)], SCORE_CP + len(ledger.moves), DEPTH, "a secret plan")


def shown(table: Any) -> str:
    """All that followers of the journal have been given."""
    return json.dumps([entry.data for entry in table.recorder.entries], default=str)


async def test_evaluations_wait_for_the_end_and_outlive_a_restart(table: Any, tmp_path: Path) -> None:
    more = {"pgn": {"folder": str(tmp_path / "games")}, "monitor": {"listen": "127.0.0.1:0"}}
    table.engine.next = [thinks] * 4
    await table.run(more=more)
    game = table.pair()
    await table.play(game, 4)
    await table.settled(game)
    await table.kill()
    await table.run(more=more)
    await table.play(game, 8)
    await table.settled(game)
    with JournalReader(table.journal) as reader:
        raw = " ".join(line.text.decode() for block in reader.raw(game.id) for line in block.lines)
    assert "gameState" in raw
    for told in (shown(table), raw, *await asked_of_the_monitor(table, game.id)):
        assert not [secret for secret in ("secret", "score_cp", "[%eval", "43.2") if secret in told]
    assert table.said(game) == []
    await table.resign(game)
    (final,) = table.recorder.of(VERDICT_FINAL, game.id)
    read = chess.pgn.read_game(io.StringIO(str(final.data["pgn"])))
    assert read is not None
    scores = [(str(score.white()), node.eval_depth()) if (score := node.eval()) else None for node in read.mainline()]
    assert scores == [None if ply % 2 == 0 else (str(-SCORE_CP - ply), DEPTH) for ply in range(8)]
    with JournalReader(table.journal) as reader:
        assert "score_cp" not in json.dumps([entry.data for entry in reader.entries()], default=str)
        proof = prove(game.id, list(reader.entries(game.id)), reader.raw(game.id))
    assert (proof.differences, proof.missing) == ([], "")


async def test_eval_is_answered_by_what_was_thought_before_a_restart(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 20)
    table.engine.next = [thinks]
    await table.run()
    game = table.pair()
    await table.play(game, 2)
    await table.settled(game)
    await asyncio.sleep(0.3)  # until what was thought is stored too
    await table.kill()
    await table.run()
    await table.settled(game)
    table.arena.hall.say(game, "player", "Human", "!eval")
    await table.until(lambda: table.said(game))
    await table.resign(game)
    await table.until(lambda: any("-43.22" in line for line in table.said(game)), what="the evaluation")


async def asked_of_the_monitor(table: Any, game_id: str) -> list[str]:
    url, texts = table.daemon.monitor.url.rstrip("/"), []
    async with aiohttp.ClientSession() as session:
        for path in (f"/games/{game_id}", f"/api/games/{game_id}", f"/games/{game_id}/pgn", "/api/games", "/status"):
            async with session.get(f"{url}{path}") as response:
                texts.append(await response.text())
        async with session.get(f"{url}/events", headers={"Last-Event-ID": "0"}) as response:
            stream = b""
            try:
                async with asyncio.timeout(1):
                    async for chunk in response.content.iter_any():
                        stream += chunk
            except TimeoutError:
                texts.append(stream.decode())
    assert "kirichess.game.ply" in texts[-1]
    return texts
