"""The monitor over real sockets: what it answers, to whom, and what it refuses."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import aiohttp
import pytest
from aiohttp.test_utils import unused_port

from bridge.cli.logs import set_up_logs
from bridge.errors import UsageError
from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, Stream, create_monitor

VERDICT = {"schema": "kirichess.verdict/1", "id": "g1", "result": "1-0", "reason": "flag", "final": True, "ledger": []}


@dataclass
class Program:
    """A running monitor over a journal in memory, and what a reader gets of it."""

    journal: SqlJournal
    report: StatusReport
    token: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    monitor: Monitor = field(init=False)
    session: aiohttp.ClientSession = field(init=False)

    async def start(self) -> None:
        self.monitor = Monitor("127.0.0.1:0", self.token)
        await self.monitor.start(create_monitor(self.journal, lambda: self.report))
        self.session = aiohttp.ClientSession(self.monitor.url)

    async def stop(self) -> None:
        await self.session.close()
        await self.monitor.stop()

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        async with self.session.get(path, headers=headers) as response:
            return response.status, await response.text()

    async def json(self, path: str, **headers: str) -> tuple[int, object]:
        status, text = await self.get(path, **headers)
        return status, json.loads(text)


@pytest.fixture(params=[None])
async def program(request: pytest.FixtureRequest) -> AsyncIterator[Program]:
    report = StatusReport("0.1.0", 5000, ready=True, streams=(Stream("account anna", True),))
    async with SqlJournal("sqlite://") as journal:
        program = Program(journal, report, request.param)
        await program.start()
        yield program
        await program.stop()


with_token = pytest.mark.parametrize("program", ["s3cr3t-tökén"], indirect=True)


def started(game_id: str, white: str = "anna", black: str = "bert", url: str = "https://lichess.org/x") -> Draft:
    data = {"white": white, "black": black, "pool": "anchor", "url": url, "seat": "white"}
    return Draft("kirichess.game.started", game_id, data, "anna")


def judged(game_id: str, kind: str = "final", **verdict: object) -> Draft:
    data = {"verdict": {**VERDICT, "id": game_id, **verdict}, "text": "anna wins: bert’s flag fell", "pgn": "*"}
    return Draft(f"kirichess.verdict.{kind}", game_id, data, "anna")


async def test_health_is_that_of_the_streams(program: Program) -> None:
    assert await program.json("/healthz") == (
        200,
        {"healthy": True, "streams": [{"name": "account anna", "alive": True, "detail": "", "vital": True}]},
    )
    program.report = replace(program.report, streams=(Stream("webhook x:80", False, "answered 500", vital=False),))
    status, body = await program.json("/healthz")
    assert status == 200, "another program that is down is no reason to restart this one"
    assert "answered 500" in json.dumps(body)
    program.report = replace(program.report, streams=(Stream("account anna", False, "no answer for 16 s"),))
    status, body = await program.json("/healthz")
    assert status == 503
    assert "no answer for 16 s" in json.dumps(body)


async def test_ready_means_ready_healthy_and_not_draining(program: Program) -> None:
    good = program.report
    assert (await program.get("/readyz"))[0] == 200
    for report in (
        replace(good, ready=False),
        replace(good, draining=True),
        replace(good, streams=(Stream("a", False),)),
    ):
        program.report = report
        assert (await program.get("/readyz"))[0] == 503


async def test_the_status_says_what_runs(program: Program) -> None:
    await program.journal.append([started("g1"), started("g2"), judged("g2")])
    status, body = await program.json("/status")
    assert status == 200
    assert isinstance(body, dict)
    assert (body["version"], body["up_ms"], body["seq"]) == ("0.1.0", 5000, 3)
    assert [game["id"] for game in body["games"]] == ["g1"]


async def test_the_games_are_listed_the_moment_they_are_in_the_journal(program: Program) -> None:
    assert await program.json("/api/games") == (200, [])
    await program.journal.append([started("g1"), judged("g1"), started("g2")])
    _, games = await program.json("/api/games")
    assert isinstance(games, list)
    assert [(game["id"], game["running"], game["result"]) for game in games] == [("g2", True, ""), ("g1", False, "1-0")]


async def test_a_game_answers_with_its_latest_verdict(program: Program) -> None:
    await program.journal.append([started("g1"), judged("g1", "provisional", final=False), judged("g2", result="0-1")])
    assert await program.json("/api/games/g1") == (200, {**VERDICT, "final": False})
    await program.journal.append([judged("g1", "changed", result="1/2-1/2")])
    assert await program.json("/api/games/g1") == (200, {**VERDICT, "result": "1/2-1/2"})


async def test_a_game_without_a_verdict_is_not_found(program: Program) -> None:
    await program.journal.append([started("g1")])
    assert await program.json("/api/games/g1") == (404, {"error": "no verdict yet for g1"})
    assert await program.json("/api/games/g9") == (404, {"error": "no game g9 in the journal"})


async def test_other_paths_and_methods_are_refused_as_json(program: Program) -> None:
    assert await program.json("/nothing") == (404, {"error": "Not Found"})
    assert (await program.json("/static/../app.py"))[0] == 404
    async with program.session.post("/api/games") as response:
        assert response.status == 405
        assert "GET" in response.headers["Allow"]


async def test_the_page_shows_games_and_escapes_whatever_a_name_holds(program: Program) -> None:
    evil = '<script>alert(1)</script>"&'
    ply = {"ply": 1, "san": "<i>e4", "white_ms": 359_000, "black_ms": 9_900, "platform_white_ms": 360_000}
    await program.journal.append([started("g1", white=evil, url="javascript:alert(1)"), started("g2", black="")])
    await program.journal.append([Draft("kirichess.game.ply", "g1", ply), judged("g2")])
    status, text = await program.get("/")
    assert status == 200
    assert "<script>alert" not in text
    assert '="javascript:' not in text
    assert "<i>e4" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&amp;" in text
    assert "5:59" in text
    assert "0:09.9" in text
    assert "anna – Anonymous" in text
    assert "flagfall" in text


async def test_the_page_needs_nothing_from_elsewhere(program: Program) -> None:
    async with program.session.get("/") as response:
        policy = response.headers["Content-Security-Policy"]
        text = await response.text()
    assert policy.startswith("default-src 'self';")
    assert " style=" not in text
    assert "<style" not in text
    for path in ("static/home.js", "static/style.css", "static/icon.svg"):
        assert path in text
        assert (await program.get(f"/{path}"))[0] == 200


async def test_the_page_says_what_is_lost(program: Program) -> None:
    program.report = replace(program.report, streams=(Stream("account <b>", False, "refused"),))
    text = (await program.get("/"))[1]
    assert "account &lt;b&gt;" in text
    assert "refused" in text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1", "LOCALHOST", "[::1]", "[::1]:80", "127.9.9.9:80"])
async def test_loopback_names_are_served(program: Program, host: str) -> None:
    assert (await program.get("/", Host=host))[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""])
async def test_a_foreign_name_that_points_here_is_refused(program: Program, host: str) -> None:
    for path in ("/", "/events", "/api/games", "/healthz"):
        assert (await program.get(path, Host=host))[0] == 403


@with_token
async def test_with_a_token_everything_but_the_health_needs_it(program: Program) -> None:
    good = {"Authorization": f"Bearer {program.token}"}
    for path in ("/", "/events", "/api/games", "/api/games/g1", "/status", "/readyz", "/nothing"):
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": str(program.token)}):
            async with program.session.get(path, headers=wrong) as response:
                assert response.status == 401
                assert response.headers["WWW-Authenticate"] == "Bearer"
    assert (await program.get("/healthz"))[0] == 200
    assert (await program.get("/status", **good))[0] == 200
    assert (await program.get("/", **good))[0] == 200


async def test_off_loopback_it_does_not_start_without_a_token() -> None:
    for listen in ("0.0.0.0:0", "192.168.1.5:8080", "[::]:0", "example.org:80"):
        with pytest.raises(UsageError, match=r"monitor\.token or monitor\.token_file"):
            Monitor(listen)
        with pytest.raises(UsageError):
            Monitor(listen, "")
    assert "hush" not in repr(Monitor("0.0.0.0:0", "hush"))


@pytest.mark.parametrize("listen", ["8080", "127.0.0.1", "", "127.0.0.1:", "a:b:c"])
def test_an_address_that_is_none(listen: str) -> None:
    with pytest.raises(UsageError, match="host:port"):
        Monitor(listen)


async def test_a_taken_port_and_other_impossible_places(program: Program) -> None:
    taken = f"127.0.0.1:{program.monitor.port}"
    for listen, cure in (
        (taken, f"{taken} is taken by another program; stop that one, or choose another port"),
        ("127.0.0.1:70000", "choose one from 0 to 65535"),
    ):
        with pytest.raises(UsageError, match=cure):
            await Monitor(listen).start(create_monitor(program.journal, lambda: program.report))
    with pytest.raises(UsageError, match="no address of this machine"):
        await Monitor("192.0.2.1:0", "token").start(create_monitor(program.journal, lambda: program.report))


async def test_the_port_is_known_and_given_back(program: Program) -> None:
    port = unused_port()
    for _ in range(2):
        monitor = Monitor(f"localhost:{port}")
        await monitor.start(create_monitor(program.journal, lambda: program.report))
        assert (monitor.port, monitor.url) == (port, f"http://localhost:{port}/")
        await monitor.stop()
    assert program.monitor.port > 0


async def test_it_stops_at_once_though_readers_are_there(program: Program) -> None:
    async with program.session.get("/events") as response:
        assert response.status == 200
        await asyncio.wait_for(program.monitor.stop(), 20)


async def test_a_fault_of_ours_is_told_by_the_log_and_not_by_the_answer(
    program: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fails() -> int:
        raise ValueError("what went wrong")

    set_up_logs(log_format="json")
    monkeypatch.setattr(program.journal, "last_seq", fails)
    status, text = await program.get("/status?token=s3cr3t")
    assert (status, json.loads(text)) == (500, {"error": "that failed here; the program's log tells why"})
    (line,) = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["event"], said["path"]) == ("request_failed", "/status")
    assert "what went wrong" in said["exception"]
    assert "s3cr3t" not in line
