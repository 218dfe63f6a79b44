"""`status`: what a running daemon says, and one clear line when there is none."""

import json
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bridge.event_types import GAME_STARTED
from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, Stream, create_monitor

Say = Callable[..., Any]

REPORT = StatusReport(
    "1.2.3",
    up_ms=3_723_000,
    ready=True,
    streams=(Stream("account KiriBot", True), Stream("webhook", False, "no answer")),
)
GAME = {
    "white": "KiriBot",
    "black": "Visitor",
    "pool": "anchor",
    "white_ms": 361_000,
    "black_ms": 60_000,
    "time_control": {"initial_ms": 360_000, "increment_ms": 0},
}


@pytest.fixture
async def journal() -> AsyncIterator[SqlJournal]:
    async with SqlJournal("sqlite://") as opened:
        yield opened


@pytest.fixture
async def url(journal: SqlJournal) -> AsyncIterator[str]:
    monitor = Monitor("127.0.0.1:0")
    await monitor.start(create_monitor(journal, lambda: REPORT))
    yield monitor.url.rstrip("/")
    await monitor.stop()


async def test_games_accounts_and_journal_are_shown(url: str, journal: SqlJournal, say_async: Say) -> None:
    await journal.append([Draft(GAME_STARTED, "abcdefgh", GAME, account="KiriBot")])
    said = await say_async("status", "--url", url)
    assert said.status == 1
    assert said.stderr == ""
    assert said.stdout.splitlines() == [
        f"kirichess-bridge 1.2.3 at {url}: ready, not healthy, up 1:02:03",
        "  ok    account KiriBot",
        "  lost  webhook (no answer)",
        "games running: 1",
        "  abcdefgh  KiriBot – Visitor, anchor, ply 0, 6:01 – 1:00",
        "journal: events so far: 1",
    ]


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("lost", [None, "a stream", "a sink"])
async def test_the_exit_status_says_whether_it_is_healthy(
    journal: SqlJournal, say_async: Say, options: list[str], lost: str | None
) -> None:
    streams = (Stream("account KiriBot", lost != "a stream"), Stream("webhook", lost != "a sink", vital=False))
    report = StatusReport("1.2.3", up_ms=1, ready=True, streams=streams)
    monitor = Monitor("127.0.0.1:0")
    await monitor.start(create_monitor(journal, lambda: report))
    try:
        assert (await say_async("status", "--url", monitor.url, *options)).status == (lost == "a stream")
    finally:
        await monitor.stop()


async def test_json_is_the_monitors_own(url: str, say_async: Say) -> None:
    said = await say_async("status", "--url", f"{url}/", "--json")
    assert json.loads(said.stdout)["version"] == "1.2.3"


async def test_the_address_comes_from_the_file(url: str, say_async: Say, tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    file.write_text(f"monitor: {{listen: '{url.removeprefix('http://')}'}}\naccounts: []\n")
    said = await say_async("status", "-c", str(file))
    assert said.stdout.startswith(f"kirichess-bridge 1.2.3 at {url}")


async def test_the_token_comes_from_the_file_and_is_never_shown(
    journal: SqlJournal, say_async: Say, tmp_path: Path
) -> None:
    monitor = Monitor("127.0.0.1:0", "sesame")
    await monitor.start(create_monitor(journal, lambda: REPORT))
    file = tmp_path / "c.yml"
    file.write_text(f"monitor: {{listen: '127.0.0.1:{monitor.port}', token: '${{MONITOR}}'}}\n")
    try:
        assert "up 1:02:03" in (await say_async("status", "-c", str(file), MONITOR="sesame")).stdout
        for args, variables in ((("--url", monitor.url), {}), (("-c", str(file)), {"MONITOR": "wrong-one"})):
            said = await say_async("status", *args, **variables)
            assert said.status == 1
            assert "wants its token" in said.stderr
            assert "wrong-one" not in said.stderr
    finally:
        await monitor.stop()


def test_nothing_runs(say: Say) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    said = say("status", "--url", f"http://127.0.0.1:{port}")
    assert said.status == 1
    assert said.stdout == ""
    assert len(said.stderr.splitlines()) == 1
    assert f"no daemon runs at http://127.0.0.1:{port} (connection refused); start it" in said.stderr
    assert "kirichess-bridge run -c FILE" in said.stderr


async def test_something_else_runs_there(say_async: Say) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="[1, 2")

    app = web.Application()
    app.router.add_get("/status", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        said = await say_async("status", "--url", f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()
    assert said.status == 1
    assert "is no kirichess-bridge" in said.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("accounts: []\n", "no `monitor:`"),
        ("monitor: {listen: '127.0.0.1:0'}\n", "--url"),
        ("monitor: 3\n", "c.yml:1:"),
    ],
)
def test_a_file_that_does_not_say_where(say: Say, tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "c.yml"
    file.write_text(text)
    said = say("status", "-c", str(file))
    assert said.status == 2
    assert told in said.stderr


def test_wrong_usage(say: Say) -> None:
    assert say("status", "--url", "nonsense").status == 2
    assert say("status", "--url", "http://127.0.0.1:1", "-c", "x.yml").status == 2
