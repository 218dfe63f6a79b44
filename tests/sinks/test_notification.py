"""People are told through Apprise: what is said, again after a failure, and never the address itself."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bridge.errors import SettingsError, SinkError
from bridge.event_filter import EventFilter
from bridge.feed import Feed, Patience
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal
from bridge.settings.load import load
from bridge.sinks.notification import Notification

SECRET = "p4ss-of-the-service"


class Service:
    """What Apprise writes to; it refuses as often as `refusals` says."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.refusals = 0

    async def take(self, request: web.Request) -> web.Response:
        body = await request.json()
        if self.refusals:
            self.refusals -= 1
            return web.Response(status=500)
        self.said.append(body["message"])
        return web.Response()


@pytest.fixture
async def service() -> AsyncIterator[tuple[Service, str]]:
    service, app = Service(), web.Application()
    app.router.add_post("/{tail:.*}", service.take)
    async with TestServer(app) as server:
        yield service, f"json://user:{SECRET}@127.0.0.1:{server.port}/"


async def test_it_is_said_again_after_a_failure(service: tuple[Service, str]) -> None:
    receiver, url = service
    receiver.refusals = 1
    sink = Notification(url, EventFilter(["kirichess.verdict.final", "kirichess.account.*"]))
    assert SECRET not in f"{sink.name} {sink!r}"
    async with SqlJournal("sqlite://") as journal:
        feed = Feed(journal, sink, patience=Patience(0.01, 0.02))
        await feed.open()
        running = asyncio.create_task(feed.run())
        forced = {"verdict": {"flag": {"forced": True}}, "text": "1-0 · <b>"}
        await journal.append(
            [
                Draft("kirichess.verdict.final", "g1", forced, "anna"),
                Draft("kirichess.game.ply", "g1", {}, "anna"),
                Draft("kirichess.account.offline", "", {"reason": "no answer"}, "anna"),
            ]
        )
        await asyncio.wait_for(feed.reached(3), 60)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert receiver.said == ["Forced flagfall: game g1: 1-0 · <b>", "anna is offline: no answer"]


async def test_a_refusal_does_not_show_the_address(
    service: tuple[Service, str], capfd: pytest.CaptureFixture[str]
) -> None:
    receiver, url = service
    receiver.refusals = 1
    async with SqlJournal("sqlite://") as journal:
        (stored,) = await journal.append([Draft("kirichess.engine.failed", "g1", {"cause": "dead"}, "anna")])
    with pytest.raises(SinkError) as told:
        await Notification(url, EventFilter()).write(stored)
    assert SECRET not in f"{told.value} {capfd.readouterr()}"


def test_what_has_no_template_is_told_as_the_terminal_does() -> None:
    sink = Notification("json://127.0.0.1/", EventFilter())
    used = {"action": "resign", "by": "session", "address": "127.0.0.1", "forwarded_for": "192.0.2.1"}

    def said(kind: str, subject: str, data: Mapping[str, object], account: str = "") -> str:
        return sink.text(Entry(1, "j-1", 0, kind, subject, account, data))

    assert said("kirichess.control.used", "g", used) == "g resign: asked through the monitor by session from 192.0.2.1"
    assert said("kirichess.game.finished", "g", {"status": "mate"}, "anna") == "g over on the platform: mate"
    assert said("kirichess.challenge.received", "c", {}, "anna") == "kirichess.challenge.received, c, anna"


async def test_a_template_of_ones_own_says_it_or_says_nothing(service: tuple[Service, str]) -> None:
    receiver, url = service
    sink = Notification(url, EventFilter(), "{% if data.verdict.flag.forced %}{{ game }}!{% endif %}")
    async with SqlJournal("sqlite://") as journal:
        drafts = [
            Draft("kirichess.verdict.final", "g1", {"verdict": {"flag": None}}),
            Draft("kirichess.verdict.final", "g2", {"verdict": {"flag": {"forced": True}}}),
        ]
        assert [await sink.write(stored) for stored in await journal.append(drafts)] == [False, True]
    assert receiver.said == ["g2!"]


async def test_what_is_not_wanted_does_not_make_a_broken_service_look_whole(service: tuple[Service, str]) -> None:
    receiver, url = service
    receiver.refusals = 1_000_000
    sink, now_s = Notification(url, EventFilter(["kirichess.engine.failed"])), [0.0]
    async with SqlJournal("sqlite://") as journal:
        feed = Feed(journal, sink, from_start=True, patience=Patience(0.01, 0.02), now_s=lambda: now_s[0])
        running = asyncio.create_task(feed.run())
        drafts = [Draft(f"kirichess.{kind}", "g1", {}) for kind in ("engine.failed", "game.ply", "engine.failed")]
        await journal.append(drafts)
        async with asyncio.timeout(60):
            while not feed.cause:
                await asyncio.sleep(0.01)
            now_s[0] = 90_000.0
            await feed.reached(2)
            assert feed.cause, "a passed-over entry says nothing of the service"
            await feed.reached(3)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert feed.given_up == 2


@pytest.mark.parametrize("how", ["url: nosuch://{}", "url_file: address"])
def test_an_address_that_is_none_is_refused_unseen(how: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "address").write_text(f"nosuch://{SECRET}")
    file = tmp_path / "config.yml"
    file.write_text(f"notifications:\n  - {how.format(SECRET)}\n")
    with pytest.raises(SettingsError) as told:
        load(file)
    assert "Apprise" in str(told.value)
    assert SECRET not in f"{told.value} {capfd.readouterr()}"


def test_a_template_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "config.yml"
    file.write_text('notifications:\n  - {url: "json://127.0.0.1", template: "{{ game"}\n')
    with pytest.raises(SettingsError, match="no Jinja template"):
        load(file)
