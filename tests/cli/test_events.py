"""`events`: what a terminal shows of a daemon's events and of a journal's."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, create_monitor

Say = Callable[..., Any]


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqlJournal]:
    async with SqlJournal(f"sqlite:///{tmp_path}/j.db") as opened:
        yield opened


async def lines(count: int, *options: str) -> list[str]:
    """What `events tail` prints until it is stopped."""
    command = ("-m", "bridge.cli.main", "events", "tail", *options)
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            return [(await process.stdout.readline()).decode().rstrip() for _ in range(count)]
    finally:
        process.kill()
        await process.communicate()


@pytest.mark.parametrize("source", ["monitor", "journal"])
async def test_tail_prints_what_is_wanted(journal: SqlJournal, tmp_path: Path, source: str) -> None:
    await journal.append(
        [
            Draft("kirichess.game.started", "a", {"pool": "anchor", "white": "X", "black": "Y"}, "Anna"),
            Draft("kirichess.game.started", "b", {"pool": "ratchet"}, "Anna"),
            Draft("kirichess.anomaly", "b", {"note": "not this"}, "Anna"),
            Draft("kirichess.anomaly", "a", {"note": "this"}, "Anna"),
            Draft("kirichess.chat.sent", "a", {"text": "hi"}, "Anna"),
        ]
    )
    monitor = Monitor("127.0.0.1:0")
    await monitor.start(create_monitor(journal, lambda: StatusReport("0", 0, ready=True)))
    where = ("--url", monitor.url) if source == "monitor" else ("--journal", str(tmp_path / "j.db"))
    try:
        assert await lines(2, *where, "--after", "2", "--pool", "anchor") == [
            "a anomaly: this",
            "a kirichess.chat.sent",
        ]
        [line] = await lines(1, *where, "--after", "0", "--type", "*.anomaly", "--game", "a", "--json")
        assert (json.loads(line)["sequence"], json.loads(line)["data"]) == ("4", {"note": "this"})
    finally:
        await monitor.stop()


def test_an_unknown_type_has_no_schema(say: Say) -> None:
    said = say("events", "schema", "kirichess.nonsense")
    assert said.status == 2
    assert "kirichess.verdict.final" in said.stderr


def test_tail_wants_one_source(say: Say) -> None:
    assert say("events", "tail", "--url", "http://127.0.0.1:1", "--journal", "x").status == 2
    said = say("events", "tail", "--url", "http://127.0.0.1:1")
    assert said.status == 1
    assert "no daemon runs at" in said.stderr
