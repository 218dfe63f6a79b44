"""The monitor does what its OpenAPI description says, whatever it is asked, and by whomever."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from bridge.errors import UsageError
from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, create_monitor
from bridge.web.control import Done
from bridge.web.openapi import openapi

TOKEN = "the-token-of-the-monitor"
RIGHT, WRONG = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
DESCRIPTION = schemathesis.openapi.from_dict(openapi())
ENDLESS = ("/events",)
"""Does not end by itself, and has its own tests."""
LISTED = [
    (method.upper(), path)
    for path, operations in DESCRIPTION.raw_schema["paths"].items()
    for method in operations
    if path not in ENDLESS
]
PICKY = [("GET", "/api/games"), ("GET", "/api/games/{id}"), ("POST", "/api/control/resign")]
"""What does not take just anything, so that wrong values are refused."""


class Controls:
    """A program that does what it is asked, except with games whose name is short."""

    async def resign(self, game_id: str) -> Done:
        if len(game_id) < 8:
            raise UsageError("no bot of ours is playing that")
        return Done("resigned", "resigned")

    async def adjudicate(self, game_id: str) -> Done:
        return Done("unchanged", f"{game_id}: as it was")

    def drain(self) -> Done:
        return Done("draining", "draining")

    def reload(self) -> Done:
        raise UsageError("there is no file")


@pytest.fixture(params=[None, TOKEN], ids=["open", "guarded"])
async def monitor(request: pytest.FixtureRequest) -> AsyncIterator[Monitor]:
    async with SqlJournal("sqlite://") as journal:
        await journal.append([Draft("kirichess.game.started", f"game{n}", {"pool": "anchor"}) for n in range(40)])
        monitor = Monitor("127.0.0.1:0", request.param)
        report = StatusReport("0", 0, ready=True)
        await monitor.start(create_monitor(journal, lambda: report, metrics=lambda: b"", controls=Controls()))
        yield monitor
        await monitor.stop()


async def ask(
    monitor: Monitor, method: str, path: str, mode: schemathesis.GenerationMode, headers: dict[str, str]
) -> set[int]:
    """Which statuses came, each as it is described."""
    statuses: set[int] = set()

    @settings(max_examples=40, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=DESCRIPTION[path][method].as_strategy(generation_mode=mode))
    def check(case: "schemathesis.Case[Any]") -> None:
        answer = case.call(base_url=monitor.url.rstrip("/"), headers=headers, allow_redirects=False)
        statuses.add(answer.status_code)
        case.validate_response(answer, headers=headers)

    await asyncio.to_thread(check)
    return statuses


async def described(monitor: Monitor) -> Any:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(monitor.url) as session, session.get("/api/openapi.json", headers=headers) as told:
        return await told.json()


async def test_what_is_not_there_is_not_described(monitor: Monitor) -> None:
    paths = (await described(monitor))["paths"]
    async with aiohttp.ClientSession(monitor.url) as session, session.get("/login") as told:
        assert (told.status == 200) == ("/login" in paths) == ("/logout" in paths)
    assert "/api/control/drain" in paths


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("method", "path"), LISTED)
async def test_every_answer_is_as_described(monitor: Monitor, method: str, path: str) -> None:
    if path not in (await described(monitor))["paths"]:
        pytest.skip("only where there is a token")
    statuses = await ask(monitor, method, path, RIGHT, {"Authorization": f"Bearer {TOKEN}"})
    assert not statuses & {401} or path == "/login"


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("method", "path"), PICKY)
@pytest.mark.parametrize("monitor", [None], indirect=True, ids=["open"])
async def test_what_is_wrong_is_refused_as_described(monitor: Monitor, method: str, path: str) -> None:
    await ask(monitor, method, path, WRONG, {})


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("method", "path"), LISTED)
@pytest.mark.parametrize("monitor", [TOKEN], indirect=True, ids=["guarded"])
async def test_who_has_no_token_is_refused_as_described(monitor: Monitor, method: str, path: str) -> None:
    """First by 401, and whoever goes on trying tokens by 429."""
    statuses = await ask(monitor, method, path, RIGHT, {"Authorization": "Bearer wrong"})
    is_open = path in ("/healthz", "/login")
    assert statuses <= ({200, 401, 429} if is_open else {401, 429})
    assert 401 in statuses or is_open


def test_every_address_for_programs_is_described() -> None:
    app = create_monitor(SqlJournal("sqlite://"), lambda: StatusReport("0", 0, ready=True), controls=Controls())
    pages = re.compile(r"/(static.*|games/\{id\}|games/\{id\}/overlay)?")
    served = {route.resource.canonical for route in app.router.routes() if route.resource is not None}
    assert {path for path in served if not pages.fullmatch(path)} <= set(openapi()["paths"])  # type: ignore[call-overload]


@pytest.mark.parametrize("monitor", [None], indirect=True)
@pytest.mark.parametrize("body", [b"", b"{", b"[" * 16_000, b'{"game": "\xff"}', b'{"game": "\\ud800"}'])
async def test_a_body_that_is_no_json_is_refused(monitor: Monitor, body: bytes) -> None:
    async with aiohttp.ClientSession(monitor.url) as session:
        for kind in ("application/json", "text/plain; charset=nonsense", "multipart/form-data"):
            async with session.post("/api/control/resign", data=body, headers={"Content-Type": kind}) as response:
                assert response.status == 400
