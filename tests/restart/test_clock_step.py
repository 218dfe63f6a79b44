"""The program under libfaketime: its wall clock steps by an hour in the middle of a game, the steady one does not."""

import socket
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.arena import Arena, RequestLine

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


@pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed (Debian: apt install libfaketime)")
async def test_a_step_by_an_hour_stops_nothing(
    arena: Arena, requests: list[RequestLine], run_program: Any, wait_until: Any, tmp_path: Path
) -> None:
    step = tmp_path / "step"
    step.write_text("+0")
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"{folder}/notify")
        manager.setblocking(False)
        variables = {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(step),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NOTIFY_SOCKET": f"{folder}/notify",
            "WATCHDOG_USEC": "1000000",
        }
        game = arena.games[arena.pair("Human", "Kiri", 540)]
        async with run_program(variables=variables) as process:
            # A start takes long where each look at the clock reads a file.
            await wait_until(lambda: signs_of_life(manager), "it has started", 60.0)
            for shift in ("+0", "+3600", "-3600", "+7200"):
                step.write_text(shift)
                await played(arena, game, game.plies + 4, wait_until)
                signs_of_life(manager)
                await wait_until(lambda: signs_of_life(manager), f"a sign of life after {shift}")
            assert process.returncode is None
            assert not game.over
            opened = [line for line in requests if line.path.startswith("/api/stream/event")]
            assert len(opened) == 1, "no stream was taken for dead"
            process.kill()
            await process.wait()
    with closing(sqlite3.connect(tmp_path / "journal.db")) as journal:
        dates = [date_ms / 1000 - time.time() for (date_ms,) in journal.execute("SELECT time_ms FROM event")]
    assert max(dates) > 7000 and min(dates) < -3500, "its clock did step"


def signs_of_life(manager: socket.socket) -> int:
    """How many have come since the last look."""
    heard = 0
    try:
        while True:
            heard += b"WATCHDOG=1" in manager.recv(65536)
    except BlockingIOError:
        return heard


async def played(arena: Arena, game: Any, plies: int, until: Any) -> None:
    """The human moves whenever it is on turn."""
    while game.plies < plies:
        if game.seat(game.turn).name == "Human":
            arena.hall.move(game, game.turn, sorted(move.uci() for move in game.board.legal_moves)[0])
        else:
            at = game.plies
            await until(lambda at=at: game.plies > at, "the bot's move")
