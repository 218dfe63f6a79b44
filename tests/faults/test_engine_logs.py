"""Games whose engines' words are kept: by game, and without them where the disk fails."""

import sys
from pathlib import Path
from typing import Any

import pytest

from bridge import event_types

UCI = r"""
import sys, chess
board = chess.Board()
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]: print("id name fake\nuciok", flush=True)
    elif words[:1] == ["isready"]: print("readyok", flush=True)
    elif words[:1] == ["position"]:
        board = chess.Board()
        for uci in words[3:]: board.push_uci(uci)
    elif words[:1] == ["go"]:
        sys.stderr.write("noise\n" * 20000); sys.stderr.flush()
        print("bestmove", sorted(move.uci() for move in board.legal_moves)[0], flush=True)
    elif words[:1] == ["quit"]: break
"""


@pytest.fixture
def program(tmp_path: Path) -> dict[str, object]:
    file = tmp_path / "fake_engine.py"
    file.write_text(UCI)
    return {"path": sys.executable, "args": [str(file)]}


async def played(table: Any, limit_s: int = 540) -> Any:
    game = table.pair(limit_s=limit_s)
    for uci_move in ("e2e4", "d2d4", "c2c3"):
        at = game.plies
        table.move(game, uci_move)
        await table.until(lambda at=at: game.plies == at + 2, what=f"an answer to {uci_move}")
    await table.resign(game)
    assert not table.recorder.of(event_types.ENGINE_FAILED, game.id)
    return game


@pytest.mark.parametrize("silent", [False, True])
async def test_each_game_has_its_file(table: Any, program: dict[str, object], tmp_path: Path, silent: bool) -> None:
    logs = tmp_path / "logs"
    await table.run(
        program={**program, "silence_stderr": silent}, more={"engine_logs": {"folder": str(logs), "max_kb": 20}}
    )
    games = [await played(table) for _ in range(2)]
    await table.kill()
    assert {file.name for file in logs.iterdir()} == {f"{game.id}-Kiri.log" for game in games}
    for file in logs.iterdir():
        text = file.read_text()
        assert "# engine fake\n" in text and text.count(" > go ") == text.count(" < bestmove ") == 3
        assert ("! noise" in text) is not silent
        assert len(text) <= 20_000


async def test_a_disk_that_fails_costs_no_move(table: Any, program: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("no folder")
    await table.run(program=program, more={"engine_logs": {"folder": str(tmp_path / "logs")}})
    await played(table)


async def test_engines_of_two_kinds_wait_for_their_next_games(
    table: Any, program: dict[str, object], tmp_path: Path
) -> None:
    """A program that is used again is not asked for its options again."""
    logs = tmp_path / "logs"
    kinds = {"fake": {"kind": "uci", **program}, "quick": {"kind": "uci", **program, "go_commands": {"depth": 1}}}
    more = {"engines": kinds, "engine_limits": {"idle": 2}, "engine_logs": {"folder": str(logs)}}
    await table.run(more=more, engines=[{"engine": "quick", "speed": "bullet"}])
    games = [await played(table, limit_s) for limit_s in (540, 120, 540, 120)]
    await table.kill()
    texts = [(logs / f"{game.id}-Kiri.log").read_text() for game in games]
    assert ["# engine quick\n" in text for text in texts] == [False, True, False, True]
    assert ["> uci\n" in text for text in texts] == [True, True, False, False]
