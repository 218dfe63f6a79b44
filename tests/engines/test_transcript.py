"""What passes between the bridge and an engine, by game: bounded, whole, and never in anybody's way."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from bridge.engines.build import build_engine
from bridge.engines.process import ProcessEngine
from bridge.engines.spec import EngineSpec
from bridge.engines.transcript import FROM, TO, Transcripts
from bridge.engines.warm import WarmEngines
from bridge.errors import EngineError
from bridge.interfaces import Limit
from bridge.rules.ledger import Ledger

Game = Callable[..., Ledger]
Limits = Callable[..., Limit]
needs_stockfish = pytest.mark.skipif(
    shutil.which("stockfish", path="/usr/games:/usr/bin") is None, reason="no stockfish"
)


def opened(folder: Path, most_bytes: int = 100_000) -> Transcripts:
    return Transcripts(folder, most_bytes, lambda: 1_700_000_000_123)


async def test_lines_stand_in_the_games_own_file_with_their_time(tmp_path: Path) -> None:
    logs = opened(tmp_path / "logs")
    logs.of("abcdefgh", "Kiri").add(TO, "go wtime 1000")
    logs.of("ijklmnop", "Kiri").add(FROM, "bestmove e2e4")
    logs.of("../../etc/x", "Kiri").add_stderr(b"one\ntwo \xff\n")
    await logs.close()
    files = {file.name: file.read_text() for file in (tmp_path / "logs").iterdir()}
    assert files == {
        "abcdefgh-Kiri.log": "2023-11-14T22:13:20.123Z > go wtime 1000\n",
        "ijklmnop-Kiri.log": "2023-11-14T22:13:20.123Z < bestmove e2e4\n",
        "..%2F..%2Fetc%2Fx-Kiri.log": "2023-11-14T22:13:20.123Z ! one\n2023-11-14T22:13:20.123Z ! two \ufffd\n",
    }


async def test_a_flood_on_stderr_leaves_room_for_the_rest_and_a_file_has_its_bound(tmp_path: Path) -> None:
    logs = opened(tmp_path, 10_000)
    game = logs.of("abcdefgh", "Kiri")
    for _ in range(1000):
        game.add_stderr(b"noise\n" * 10_000)
    game.add(TO, "go")
    await logs.close()
    file = tmp_path / "abcdefgh-Kiri.log"
    text = file.read_text()
    assert len(text) < 3_000
    assert text.endswith("# no room for more of !\n2023-11-14T22:13:20.123Z > go\n")
    for _ in range(3):  # as after restarts
        logs = opened(tmp_path, 10_000)
        game = logs.of("abcdefgh", "Kiri")
        for _ in range(200):
            game.add(FROM, "info depth 1 pv e2e4 e7e5 g1f3")
        await logs.close()
    assert 9_000 < file.stat().st_size <= 10_000


async def test_a_folder_that_cannot_be_written_is_told_once_for_a_game(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    with structlog.testing.capture_logs() as told:
        logs = opened(taken / "logs")
        game = logs.of("abcdefgh", "Kiri")
        for _ in range(3):
            game.add(TO, "go")
        await logs.close()
    (failure,) = [line for line in told if line["event"] == "engine_log_failed"]
    assert "engine_logs.folder" in failure["cause"]


async def test_a_disk_that_hangs_holds_up_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hung = tmp_path / "abcdefgh-Kiri.log"
    # A pipe that nobody reads: opening it waits for ever.
    os.mkfifo(hung)
    monkeypatch.setattr("bridge.engines.transcript._GOODBYE_S", 0.05)
    monkeypatch.setattr("bridge.engines.transcript._WAITING", 50)
    with structlog.testing.capture_logs() as told:
        logs = opened(tmp_path)
        game = logs.of("abcdefgh", "Kiri")
        for _ in range(1000):
            game.add(TO, "go")
        await logs.close()
    assert [line["event"] for line in told] == ["engine_log_behind"]
    # The thread ends with its disk.
    with hung.open("rb"):
        pass


@needs_stockfish
async def test_a_program_that_serves_two_games_writes_to_each_its_own(
    tmp_path: Path, game: Game, limit: Limits
) -> None:
    logs, warm, spec = opened(tmp_path), WarmEngines(1, build_engine), EngineSpec("uci", "stockfish")
    for game_id in ("firstone", "secondon"):
        engine = warm.lend(spec, logs.of(game_id, "Kiri"))
        await engine.start()
        await engine.think(game(game_id=game_id), limit(nodes=100))
        await engine.close()
    await warm.close()
    await logs.close()
    first, second = ((tmp_path / f"{name}-Kiri.log").read_text() for name in ("firstone", "secondon"))
    assert "> uci\n" in first and "< uciok\n" in first
    assert "> uci\n" not in second
    for text in (first, second):
        assert len(re.findall(r" > go ", text)) == 1 and len(re.findall(r" < bestmove ", text)) == 1


@needs_stockfish
async def test_kiris_program_is_written_too(tmp_path: Path, game: Game, limit: Limits) -> None:
    logs = opened(tmp_path)
    engine = WarmEngines(0, build_engine).lend(EngineSpec("kiri", "stockfish"), logs.of("abcdefgh", "Kiri"))
    await engine.start()
    while "built-in" in (await engine.think(game(), limit(nodes=100))).why:  # while the program starts
        await asyncio.sleep(0.05)
    await engine.close()
    await logs.close()
    assert "> uci\n" in (tmp_path / "abcdefgh-Kiri.log").read_text()


async def test_the_last_words_of_a_program_that_dies_are_there_with_its_status(tmp_path: Path) -> None:
    logs = opened(tmp_path)
    engine = ProcessEngine(sys.executable, args=["-c", "import sys; sys.exit('no network file')"])
    engine.write_to(logs.of("abcdefgh", "Kiri"))
    with pytest.raises(EngineError):
        await engine.start()
    await engine.close()
    await logs.close()
    text = (tmp_path / "abcdefgh-Kiri.log").read_text()
    assert "! no network file\n" in text and "# exited with 1\n" in text


@needs_stockfish
async def test_a_move_with_a_time_of_its_own_is_searched_without_clocks(
    tmp_path: Path, game: Game, limit: Limits
) -> None:
    logs = opened(tmp_path)
    engine = ProcessEngine("stockfish", go_commands={"depth": 30}, ponder=True)
    engine.write_to(logs.of("abcdefgh", "Kiri"))
    await engine.start()
    await engine.think(game(), replace(limit(), plain=True, move_ms=100, ponder=False))
    await engine.close()
    await logs.close()
    (told,) = re.findall(r" > (go .*)\n", (tmp_path / "abcdefgh-Kiri.log").read_text())
    assert told == "go depth 30 movetime 100"
