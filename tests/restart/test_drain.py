"""A termination signal lets games end, up to a deadline; what still runs then is left to the next start."""

import asyncio
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.arena import Arena, RequestLine
from bridge.journal.store import BUSY_TIMEOUT_S


def listening(arena: Arena) -> bool:
    return any(stream.name.kind == "game" for stream in arena.hall.audience.open)


async def played(arena: Arena, game: Any, plies: int, until: Any) -> None:
    """The human moves whenever it is on turn."""
    while game.plies < plies:
        if game.seat(game.turn).name == "Human":
            arena.hall.move(game, game.turn, sorted(move.uci() for move in game.board.legal_moves)[0])
        else:
            at = game.plies
            await until(lambda at=at: game.plies > at, "the bot's move")


async def test_games_that_outlast_the_deadline_go_on_with_the_next_start(
    arena: Arena, requests: list[RequestLine], run_program: Any, wait_until: Any
) -> None:
    game = arena.games[arena.pair("Human", "Kiri", 540)]
    async with run_program(drain_s=1) as process:
        await wait_until(lambda: listening(arena), "the game is read")
        await played(arena, game, 4, wait_until)
        process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.3)
        await played(arena, game, 8, wait_until)  # played on while it drains
        _, err = await asyncio.wait_for(process.communicate(), 8)
    assert process.returncode == 0
    assert game.id in err.decode()
    assert "games_left_to_the_next_start" in err.decode()
    assert not game.over
    assert not [line for line in requests if "/resign" in line.path or "/abort" in line.path]
    async with run_program(drain_s=1):
        await wait_until(lambda: listening(arena), "the game is read again")
        await played(arena, game, 12, wait_until)


async def test_no_deadline_is_waited_for_without_games(arena: Arena, run_program: Any, wait_until: Any) -> None:
    async with run_program(drain_s=60) as process:
        await wait_until(lambda: arena.hall.audience.events, "the account is read")
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 5) == 0


async def test_a_second_signal_during_the_drain_stops_at_once(arena: Arena, run_program: Any, wait_until: Any) -> None:
    game = arena.games[arena.pair("Human", "Kiri", 540)]
    async with run_program(drain_s=60) as process:
        await wait_until(lambda: listening(arena), "the game is read")
        process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.3)
        assert process.returncode is None
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 5) == 130
    assert not game.over


async def test_a_second_signal_stops_at_once_though_another_program_holds_the_journal(
    arena: Arena, run_program: Any, wait_until: Any, tmp_path: Path
) -> None:
    game = arena.games[arena.pair("Human", "Kiri", 540)]
    async with run_program(drain_s=60) as process:
        await wait_until(lambda: listening(arena), "the game is read")
        await played(arena, game, 2, wait_until)
        with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await played(arena, game, 4, wait_until)
            process.send_signal(signal.SIGTERM)
            await asyncio.sleep(0.3)
            assert process.returncode is None
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), BUSY_TIMEOUT_S - 1) == 130
    assert not game.over


@pytest.mark.parametrize("wrong", ["a folder", "no database"])
async def test_a_journal_that_cannot_be_opened_is_a_failure(
    arena: Arena, run_program: Any, wrong: str, tmp_path: Path
) -> None:
    journal = tmp_path / "bad.db"
    journal.mkdir() if wrong == "a folder" else journal.write_bytes(b"this is no database" * 100)
    async with run_program(journal={"url": f"sqlite:///{journal}"}) as process:
        _, err = await asyncio.wait_for(process.communicate(), 10)
    assert process.returncode in (1, 2)
    assert "Traceback" not in err.decode()
    assert str(journal) in err.decode()
