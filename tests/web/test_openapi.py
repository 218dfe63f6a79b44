"""The monitor does what its OpenAPI description says, whatever it is asked."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, create_monitor
from bridge.web.openapi import openapi

ASKED = ("/api/games", "/api/games/{id}", "/api/openapi.json", "/api/events/schema", "/status", "/healthz", "/readyz")
"""What ends by itself; /events does not, and has its own tests."""
RIGHT, WRONG = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
"""Wrong values are for what takes any: the first two."""
DESCRIPTION = schemathesis.openapi.from_dict(openapi())


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with SqlJournal("sqlite://") as journal:
        await journal.append([Draft("kirichess.game.started", f"game{n}", {"pool": "anchor"}) for n in range(40)])
        monitor = Monitor("127.0.0.1:0")
        await monitor.start(create_monitor(journal, lambda: StatusReport("0", 0, ready=True)))
        yield monitor.url.rstrip("/")
        await monitor.stop()


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("path", "mode"), [*((path, RIGHT) for path in ASKED), *((path, WRONG) for path in ASKED[:2])])
async def test_every_answer_is_as_described(url: str, path: str, mode: schemathesis.GenerationMode) -> None:
    @settings(max_examples=40, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=DESCRIPTION[path]["GET"].as_strategy(generation_mode=mode))
    def ask(case: "schemathesis.Case[Any]") -> None:
        case.call_and_validate(base_url=url)

    await asyncio.to_thread(ask)
