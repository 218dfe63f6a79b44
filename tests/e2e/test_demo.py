"""The demonstration as a user starts it: no account, no network, games to KiriChess endings."""

import asyncio
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

FIRST_MOVE = re.compile(r"\w{8} 1\. \S+  White")


@asynccontextmanager
async def demo(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bridge.cli.main", "demo", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        # Reads what is left, so that no transport outlives the test.
        await process.communicate()


async def line_with(stream: asyncio.StreamReader | None, pattern: re.Pattern[str] | str, timeout_s: float = 15) -> str:
    assert stream is not None
    async with asyncio.timeout(timeout_s):
        while line := (await stream.readline()).decode():
            if re.search(pattern, line):
                return line
    raise AssertionError(f"the output ended before {pattern}")


async def test_one_game_is_played_to_its_verdict(run_command: Any) -> None:
    began = time.monotonic()
    async with demo("--once") as process:
        await line_with(process.stdout, FIRST_MOVE)
        first_move_s = time.monotonic() - began
        verdict = await line_with(process.stdout, "final verdict", 90)
        assert await asyncio.wait_for(process.wait(), 60) == 0
    assert first_move_s < 30, "3 s on an idle machine"
    assert time.monotonic() - began < 100
    assert re.search(r"(1-0|0-1|1/2-1/2) · .+ at ply \d+ · .+ · Winder", verdict)


@pytest.mark.parametrize("pool", ["Eclipse", "first-edition-eclipse"])
async def test_it_stops_after_some_seconds_in_the_middle_of_a_game(run_command: Any, pool: str) -> None:
    began = time.monotonic()
    status, _, err = await run_command("demo", "--seconds", "2", "--pool", pool)
    assert status == 0, err
    assert 2 <= time.monotonic() - began < 35
    assert "Traceback" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_it_at_once(number: signal.Signals) -> None:
    async with demo("--pool", "ratchet") as process:
        await line_with(process.stdout, "pool Ratchet")
        await line_with(process.stdout, FIRST_MOVE)
        process.send_signal(number)
        _, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0
    assert b"Traceback" not in err and b"Error" not in err


async def test_games_follow_each_other_on_a_page_at_the_wanted_port() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with demo("--port", str(port)) as process, aiohttp.ClientSession() as session:
        page = await line_with(process.stderr, "page: ")
        assert f"page: http://127.0.0.1:{port}/" in page
        async with session.get(f"http://127.0.0.1:{port}/") as response:
            assert response.status == 200
        await line_with(process.stdout, "final verdict", 90)
        assert "KiriTwo (White)" in await line_with(process.stdout, "started"), "colours change"


async def test_a_taken_port_and_an_unknown_pool_are_one_line(run_command: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        status, out, err = await run_command("demo", "--once", "--port", port)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert f"127.0.0.1:{port} is taken" in err
    status, out, err = await run_command("demo", "--pool", "anchr")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "did you mean 'anchor'" in err
