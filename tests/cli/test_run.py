"""`run`: what stops it before it starts, what it prints, and how it ends."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from bridge.arena import Account, Arena, RequestLine, referee

Write = Callable[..., Path]

PLAY = "play: {engine: main, greeting: false}"


@pytest.fixture
def log() -> list[RequestLine]:
    return []


@pytest.fixture
async def arena(log: list[RequestLine]) -> AsyncIterator[Arena]:
    accounts = [
        Account("Kiri", "tokKiri", title="BOT"),
        Account("Fish", "tokFish", title="BOT"),
        Account("Ann", "tokAnn"),
    ]
    async with Arena(accounts, request_log=log) as running:
        yield running


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(url, token, …)`: a configuration file."""

    def write_file(url: str, token: str, more: str = PLAY, engine: str = "kind: random") -> Path:
        file = tmp_path / "config.yaml"
        file.write_text(
            f"accounts: [{{platform: lichess, url: '{url}', token: {token}, {more}}}]\n"
            f"engines: {{main: {{{engine}}}}}\njournal: {{url: 'sqlite:///{tmp_path}/journal.db'}}\n"
        )
        return file

    return write_file


@asynccontextmanager
async def run(file: Path, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bridge.cli.main", "run", "-c", str(file), *arguments),
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


async def ended(file: Path, *arguments: str) -> tuple[int | None, str, str]:
    async with run(file, *arguments) as process:
        out, err = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode, out.decode(), err.decode()


async def until_printed(process: asyncio.subprocess.Process, text: str) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while line := (await process.stdout.readline()).decode():
            if text in line:
                return
    raise AssertionError(f"the output ended before {text!r}")


# -- before it starts --------------------------------------------------------------------------------------------


async def test_a_person_s_account_does_not_play_by_engine(arena: Arena, write: Write, log: list[RequestLine]) -> None:
    arena.pair("Ann", "Fish", 600)
    status, out, err = await ended(write(arena.url, "tokAnn"))
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "Ann has no title BOT" in err and "account upgrade" in err
    assert [line.path for line in log] == ["/api/account"], "no game request was made"


async def test_a_token_that_nobody_has(arena: Arena, write: Write) -> None:
    status, out, err = await ended(write(arena.url, "tokNobody"))
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "does not know this token" in err and "tokNobody" not in err


@pytest.mark.parametrize("has", ["challenge:read", ""], ids=["one", "none"])
async def test_a_token_that_may_not_play(has: str, write: Write) -> None:
    """It is one line and exit 2 before any game, with the scope that is missing and where to get it."""
    scopes = frozenset({has} if has else ())
    log: list[RequestLine] = []
    async with Arena([Account("Kiri", "tokKiri", title="BOT", scopes=scopes)], request_log=log) as arena:
        code, out, err = await ended(write(arena.url, "tokKiri"))
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert f"the token of Kiri lacks the scope bot:play (it has: {has or 'none'})" in err
    assert "/account/oauth/token/create?scopes[]=bot:play" in err
    assert not any("stream" in line.path for line in log)


async def test_a_server_that_is_not_there(write: Write) -> None:
    async with Arena() as gone:
        url = gone.url
    status, out, err = await ended(write(url, "tokKiri"))
    assert (status, out, len(err.splitlines())) == (1, "", 1)
    assert f"{url} does not answer" in err and "connection refused" in err


@pytest.mark.parametrize(("status", "headers"), [(502, {}), (429, {"Retry-After": "1"})])
async def test_a_server_that_is_ill_at_the_start_is_waited_for(
    status: int, headers: dict[str, str], arena: Arena, write: Write, log: list[RequestLine]
) -> None:
    arena.faults.next("account", status=status, body="<html>Bad Gateway</html>", times=2, headers=headers)
    async with run(write(arena.url, "tokKiri")) as process:
        async with asyncio.timeout(60):
            while not any(line.path == "/api/stream/event" for line in log):
                await asyncio.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = await process.communicate()
    assert process.returncode == 0
    assert err.decode().count("not_started_yet") == 2
    assert str(status) in err.decode()


async def test_a_signal_ends_a_start_that_waits(arena: Arena, write: Write, log: list[RequestLine]) -> None:
    arena.faults.next("account", status=503, times=1000)
    async with run(write(arena.url, "tokKiri")) as process:
        async with asyncio.timeout(60):
            while not any(line.path == "/api/account" for line in log):
                await asyncio.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("engine", "cause"),
    [("kind: uci, path: /nowhere/engine", "/nowhere/engine"), ("kind: uci, path: /bin/true", "/bin/true")],
)
async def test_an_engine_that_cannot_start(engine: str, cause: str, arena: Arena, write: Write) -> None:
    status, out, err = await ended(write(arena.url, "tokKiri", engine=engine))
    assert (status, out) == (2, "")
    assert cause in err.splitlines()[-1] and "engine main" in err.splitlines()[-1]
    assert "Traceback" not in err


async def test_nothing_to_do(arena: Arena, write: Write) -> None:
    status, out, err = await ended(write(arena.url, "tokKiri", more="name: idle"))
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "nothing to do" in err and "play:" in err and "watch:" in err


async def test_a_taken_port(arena: Arena, write: Write) -> None:
    file = write(arena.url, "tokKiri")
    address = arena.url.removeprefix("http://")
    file.write_text(file.read_text() + f"monitor: {{listen: '{address}'}}\n")
    status, out, err = await ended(file)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert f"{address} is taken" in err


async def test_an_engine_is_not_handed_the_token(
    arena: Arena, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "tokKiri")
    seen = tmp_path / "seen"
    program = tmp_path / "engine"
    program.write_text(f"#!/bin/sh\nenv > {seen}\n")
    program.chmod(0o755)
    status, _, _ = await ended(write(arena.url, "'${MY_TOKEN}'", engine=f"kind: uci, path: {program}"))
    assert status == 2
    assert "PATH=" in seen.read_text()
    assert "tokKiri" not in seen.read_text()


async def test_elsewhere_than_on_a_terminal_every_line_of_the_log_is_json(
    arena: Arena, write: Write, tmp_path: Path
) -> None:
    file = write(arena.url, "tokKiri")
    file.write_text(
        f"{file.read_text()}monitor: {{listen: '127.0.0.1:0'}}\nengine_logs: {{folder: '{tmp_path}/logs'}}\n"
    )
    async with run(file) as process:
        await until_printed(process, "online")
        process.terminate()
        _, err = await asyncio.wait_for(process.communicate(), 60)
    told = [json.loads(line) for line in err.decode().splitlines()]
    assert next(line["url"] for line in told if line["event"] == "monitor_listens").startswith("http://127.0.0.1:")


# -- how it ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_first_signal_finishes_what_runs_and_takes_nothing_new(
    number: signal.Signals, arena: Arena, write: Write
) -> None:
    game = arena.games[arena.pair("Fish", "Kiri", 600)]
    async with run(write(arena.url, "tokKiri")) as process, aiohttp.ClientSession(arena.url) as session:
        await until_printed(process, "started")
        process.send_signal(number)
        await asyncio.sleep(0.5)
        assert process.returncode is None, "a game still runs"
        form, headers = {"clock.limit": "360", "clock.increment": "0"}, {"Authorization": "Bearer tokFish"}
        async with session.post("/api/challenge/Kiri", data=form, headers=headers) as response:
            assert response.status == 200
        await until_printed(process, "challenge declined")
        arena.hall.happen(game, referee.abort(game, arena.hall.now_ms()))
        assert await asyncio.wait_for(process.wait(), 60) == 0
    assert len(arena.games) == 1


THINKS = """
import sys, time
for line in sys.stdin:
    word = line.split()[0]
    if word == "uci": print("uciok", flush=True)
    elif word == "isready": print("readyok", flush=True)
    elif word == "go":
        time.sleep(1.0)
        print("bestmove e7e5", flush=True)
    elif word == "quit": break
"""


async def test_ctrl_c_reaches_the_whole_group_and_every_move_is_sent(
    arena: Arena, write: Write, tmp_path: Path, log: list[RequestLine]
) -> None:
    """A terminal's Ctrl-C goes to all of its processes: two engines think, a third one's move is on its way."""
    program = tmp_path / "thinks.py"
    program.write_text(THINKS)
    games = [arena.games[arena.pair("Ann", "Kiri", 600)] for _ in range(3)]
    file = write(arena.url, "tokKiri", engine=f"kind: uci, path: {sys.executable}, args: ['{program}']")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bridge.cli.main", "run", "-c", str(file)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        for _ in games:
            await until_printed(process, "started")
        arena.faults.next("move", status=503, account="kiri", after=False, delay_s=0.5)
        arena.hall.move(games[0], True, "e2e4")
        async with asyncio.timeout(60):
            while not any("/move/e7e5" in line.path for line in log) and games[0].plies != 2:
                await asyncio.sleep(0.02)
            for game in games[1:]:
                arena.hall.move(game, True, "e2e4")
            await asyncio.sleep(0.3)
            os.killpg(process.pid, signal.SIGINT)
            while any(game.plies < 2 for game in games):
                await asyncio.sleep(0.02)
        assert process.returncode is None
        for game in games:
            arena.hall.happen(game, referee.resign(game, True, arena.hall.game_now_ms(game)))
        out, err = await asyncio.wait_for(process.communicate(), 60)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert process.returncode == 0
    assert b"engine" not in err, "no engine heard of it"
    assert b"Traceback" not in out + err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_second_signal_stops_at_once(number: signal.Signals, arena: Arena, write: Write) -> None:
    arena.pair("Fish", "Kiri", 600)
    async with run(write(arena.url, "tokKiri")) as process:
        await until_printed(process, "started")
        process.send_signal(number)
        await asyncio.sleep(0.3)
        process.send_signal(number)
        _, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 130
    assert b"Traceback" not in err


async def test_json_is_all_that_stdout_holds(arena: Arena, write: Write) -> None:
    game = arena.games[arena.pair("Fish", "Kiri", 600)]
    async with run(write(arena.url, "tokKiri"), "--json") as process:
        assert process.stdout is not None
        lines = [json.loads(await asyncio.wait_for(process.stdout.readline(), 60)) for _ in range(2)]
        arena.hall.happen(game, referee.abort(game, arena.hall.now_ms()))
        process.send_signal(signal.SIGTERM)
        out, _ = await asyncio.wait_for(process.communicate(), 60)
    lines += [json.loads(line) for line in out.splitlines()]
    assert {line["specversion"] for line in lines} == {"1.0"}
    assert [int(line["sequence"]) for line in lines] == list(range(1, len(lines) + 1))
    assert {"kirichess.account.online", "kirichess.game.started", "kirichess.verdict.final"} <= {
        line["type"] for line in lines
    }


async def test_nobody_reading_ends_it(arena: Arena, write: Write) -> None:
    """`run --json | head -1`"""
    arena.pair("Fish", "Kiri", 600)
    reader, pipe = os.pipe()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bridge.cli.main", "run", "-c", str(write(arena.url, "tokKiri")), "--json"),
        stdout=pipe,
        stderr=asyncio.subprocess.PIPE,
    )
    for end in (reader, pipe):
        os.close(end)
    _, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 1
    assert b"Traceback" not in err


# -- while it runs -----------------------------------------------------------------------------------------------


async def test_sighup_reads_the_file_again_and_refuses_a_wrong_one(
    arena: Arena, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "tokKiri")
    file = write(arena.url, "'${MY_TOKEN}'")
    async with run(file, "--json") as process:
        await until_printed(process, "account.online")

        async def said(cause: str) -> None:
            process.send_signal(signal.SIGHUP)
            assert process.stderr is not None
            async with asyncio.timeout(60):
                while cause not in (await process.stderr.readline()).decode():
                    pass

        write(arena.url, "'${MY_TOKEN}'", more="play: {engine: main, greeting: perhaps}")
        await said("greeting")
        write(arena.url, "'${MY_TOKEN}'", more="play: {engine: main, challenge: {only_bot: true}}", engine="kind: kiri")
        await said("only a restart can change engines")
        write(arena.url, "'${MY_TOKEN}'", more="play: {engine: main, challenge: {only_bot: true}}")
        await said("settings_reloaded")
        async with aiohttp.ClientSession(arena.url) as session:
            form, headers = {"clock.limit": "360", "clock.increment": "0"}, {"Authorization": "Bearer tokAnn"}
            async with session.post("/api/challenge/Kiri", data=form, headers=headers) as response:
                assert response.status == 200
        await until_printed(process, "onlyBot")
        assert process.returncode is None
