"""Engines that die, hang, lie or never start: the same game goes on, within its clock, and no process is left."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bridge import event_types
from bridge.arena import offers
from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec

UCI = r"""
import os, sys, time
state = open(os.path.join(os.path.dirname(__file__), "count"), "a+")
state.seek(0); starts = len(state.read()); state.write("x"); state.flush()
fault = sys.argv[1]
if fault == "slow" : time.sleep(0.6)
import chess
board, plies, asked = chess.Board(), 0, 0
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        print("id name fake\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        board = chess.Board()
        for uci in words[3:]:
            board.push_uci(uci)
    elif words[:1] == ["go"]:
        asked += 1
        first = starts == 1 and asked == 2   # the daemon's own try is the first start
        if first and fault == "crash": sys.exit(3)
        if first and fault == "hang":
            while True: time.sleep(1)
        if first and fault == "illegal": print("bestmove a1a8", flush=True)
        elif first and fault == "malformed": print("bestmove xyzzy", flush=True)
        elif first and fault == "none": print("bestmove (none)", flush=True)
        else:
            if fault == "flood": sys.stderr.write("noise\n" * 20000); sys.stderr.flush()
            print("bestmove", sorted(move.uci() for move in board.legal_moves)[0], flush=True)
    elif words[:1] == ["quit"]:
        break
"""


RESTARTED_S = 2.0


def running(marker: str) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
            dead = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (OSError, IndexError):
            continue
        if marker in line and not dead:
            found.append(folder.name)
    return found


@pytest.fixture
def uci(tmp_path: Path) -> Path:
    file = tmp_path / "fake_engine.py"
    file.write_text(UCI)
    return file


@pytest.mark.parametrize("fault", ["crash", "hang", "illegal", "malformed", "none", "slow", "flood"])
async def test_a_program_that_fails_is_started_again_in_the_same_game(
    table: Any, uci: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.thinker._SHARE", 5)
    await table.run(program={"path": sys.executable, "args": [str(uci), fault]})
    game = table.pair()
    if fault == "hang":  # it may use its share of the clock
        await table.until(lambda: table.recorder.of(event_types.GAME_STARTED))
        table.set_clock(game, 20_000)
        await table.until(lambda: table.recorder.of(event_types.ANOMALY))
    await table.until(lambda: len(running(str(uci))) == 1, what="one engine for one game")
    for uci_move in ("e2e4", "d2d4", "c2c3", "g2g3"):
        at = game.plies
        table.move(game, uci_move)
        if uci_move == "d2d4" and fault not in ("slow", "flood"):
            await table.until(lambda: table.recorder.of(event_types.ENGINE_FAILED), what="the failure")
            failed_s = time.monotonic()
        await table.until(lambda at=at: game.plies == at + 2, what=f"an answer to {uci_move}")
        if uci_move == "d2d4" and fault not in ("slow", "flood"):
            assert time.monotonic() - failed_s < RESTARTED_S, "a fresh program has answered"
    failed = table.recorder.of(event_types.ENGINE_FAILED, game.id)
    assert len(failed) == (0 if fault in ("slow", "flood") else 1)
    assert len(running(str(uci))) == 1
    await table.resign(game)
    await table.until(lambda: not running(str(uci)), what="no engine is left")


STARVED = """#!/bin/sh
starts=$(cat {count} 2>/dev/null)
echo "x$starts" > {count}
# The first start is the daemon's own try, the second one the game's.
[ "$starts" = x ] && ulimit -v 200000
exec /usr/games/stockfish
"""


async def test_a_program_without_the_memory_it_asks_for_is_started_again(table: Any, tmp_path: Path) -> None:
    """Its address space is bounded (RLIMIT_AS), and its hash table does not fit into it."""
    program = tmp_path / "starved-engine"
    program.write_text(STARVED.format(count=tmp_path / "starts"))
    program.chmod(0o755)
    await table.run(program={"path": str(program), "options": {"Hash": 512}, "nodes": 1000})
    game = table.pair()
    table.move(game, "e2e4")
    await table.until(lambda: game.plies == 2, what="an answer")
    assert len(table.recorder.of(event_types.ENGINE_FAILED, game.id)) <= 1
    assert (tmp_path / "starts").read_text().strip() == "xxx"
    await table.resign(game)


async def test_a_program_that_the_kernel_kills_for_its_memory_is_replaced_within_two_seconds(
    table: Any, uci: Path
) -> None:
    """As the OOM killer does: SIGKILL, in the middle of a search."""
    await table.run(program={"path": sys.executable, "args": [str(uci), "hang"]})
    game = table.pair()
    table.move(game, "e2e4")
    await table.until(lambda: game.plies == 2)
    table.move(game, "d2d4")  # it hangs now
    await table.until(lambda: table.plies(game)[-1:] == ["d2d4"])
    (killed,) = running(str(uci))
    os.kill(int(killed), signal.SIGKILL)
    began_s = time.monotonic()
    await table.until(lambda: game.plies == 4, what="an answer by a fresh program")
    assert time.monotonic() - began_s < RESTARTED_S
    (failed,) = table.recorder.of(event_types.ENGINE_FAILED, game.id)
    assert "terminated" in str(failed.data["cause"]) or "died" in str(failed.data["cause"])
    (fresh,) = running(str(uci))
    assert fresh != killed
    await table.resign(game)
    await table.until(lambda: not running(str(uci)), what="no engine is left")


async def test_no_draw_is_agreed_to_and_no_illegal_move_sent_when_an_engine_fails(table: Any, uci: Path) -> None:
    """The opponent's offer stands meanwhile."""
    await table.run(program={"path": sys.executable, "args": [str(uci), "illegal"]})
    game = table.pair()
    table.move(game, "e2e4")
    await table.until(lambda: game.plies == 2, 5.0)
    hall = table.arena.hall
    hall.happen(game, offers.draw_yes(game, True, hall.game_now_ms(game)))
    table.move(game, "d2d4")
    hall.happen(game, offers.draw_yes(game, True, hall.game_now_ms(game)))
    await table.until(lambda: game.plies == 4, 5.0)
    assert table.recorder.of(event_types.ENGINE_FAILED, game.id)
    assert not [line for line in table.requests if "offeringDraw" in line.path or "/draw/" in line.path]
    assert not table.asked("/move/a1a8")
    assert not table.asked("/resign")


async def test_no_program_outlives_a_daemon_that_is_stopped(table: Any, uci: Path) -> None:
    await table.run(program={"path": sys.executable, "args": [str(uci), "hang"]})
    games = [table.pair() for _ in range(3)]
    for game in games:
        table.move(game, "e2e4")
    await table.until(lambda: all(game.plies == 2 for game in games))
    for game in games:
        table.move(game, "d2d4")  # one of them hangs now
    await table.until(lambda: len(running(str(uci))) == 3)
    await table.kill()
    assert not running(str(uci))


@pytest.mark.parametrize("plies", [0, 2, 6])
@pytest.mark.parametrize("fault", ["dies", "breaks"])
async def test_an_engine_that_fails_once_is_asked_again(table: Any, fault: str, plies: int) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, plies)
    table.engine.next = [getattr(table, fault)]
    await table.play(game, plies + 2)
    await table.play(game, 10)
    assert game.moves == list(table.LINE[:10])
    (failed,) = table.recorder.of(event_types.ENGINE_FAILED, game.id)
    assert failed.data["cause"]


async def test_the_built_in_engine_moves_after_set_failures(table: Any) -> None:
    await table.run()
    game = table.pair()
    table.engine.next = [table.dies] * 100
    for wished in ("e2e4", "d2d4", "c2c3", "g2g3", "f2f3"):
        at = game.plies
        legal = [move.uci() for move in game.board.legal_moves]  # the small search answers by the clock: it may check
        table.move(game, wished if wished in legal else legal[0])
        await table.until(lambda at=at: game.plies == at + 2)
    assert len(table.recorder.of(event_types.ENGINE_FAILED, game.id)) == 6
    assert len(table.engine.asked) == 6
    assert not game.over


async def test_any_legal_move_is_better_than_none(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object) -> None:
        raise RuntimeError("the fallback too")

    monkeypatch.setattr(type(build_engine(EngineSpec("kiri"))), "think", fails)
    await table.run()
    game = table.pair()
    table.engine.next = [table.dies] * 100
    table.move(game, "e2e4")
    await table.until(lambda: game.plies == 2)
    assert not game.over


async def test_an_engine_that_is_gone_after_the_start_costs_no_game(table: Any) -> None:
    await table.run()
    table.engine.fails_to_start = True
    game = table.pair()
    table.move(game, "e2e4")
    await table.until(lambda: game.plies == 2)
    assert table.engine.asked == []


async def test_the_time_an_engine_took_to_start_is_gone_when_it_is_asked(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K08: the platform's clock runs meanwhile, so the search is told what is left of it."""
    await table.run()
    game = table.pair(limit_s=60)
    await table.play(game, 6)
    start = table.engine.start

    async def slow() -> None:
        await asyncio.sleep(0.8)
        await start()

    monkeypatch.setattr(table.engine, "start", slow)
    table.engine.next = [table.dies]
    await table.play(game, 8)
    failed, answered = table.engine.limits[-2:]
    assert failed.black_ms - answered.black_ms >= 700


async def test_a_silent_engine_leaves_time_for_the_next_try(table: Any) -> None:
    await table.run(pool="winder")
    game = table.pair(limit_s=60)
    await table.play(game, 4)
    table.set_clock(game, 6000)
    table.engine.next = [table.hangs]
    await table.play(game, 6)
    assert table.engine.limits[-1].deadline_ms <= 2_000
    await table.play(game, 10)
    assert not game.over


async def test_every_search_ends_before_its_clock_does(table: Any) -> None:
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.play(game, 12)
    ledger_ms = 60_000
    assert all(0 < limit.deadline_ms < ledger_ms for limit in table.engine.limits)
    assert all(limit.white_ms > 0 and limit.black_ms > 0 for limit in table.engine.limits)
