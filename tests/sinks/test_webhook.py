"""A webhook over a real connection: signed, filtered, tried again, and quiet about its secret."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from bridge.errors import SinkError, UsageError
from bridge.feed import Feed, Patience
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal
from bridge.sinks.webhook import Webhook

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
ENTRY = Entry(7, "abc-7", 1_796_003_077_569, "kirichess.verdict.final", "Qy5iNRCi", "anna", {"text": "1–0"})
QUICK = Patience(first_s=0.01, longest_s=0.02)


class Receiver:
    """Somebody's web hook: keeps what it is sent, answers what `answers` says, then 204."""

    def __init__(self) -> None:
        self.posts: list[tuple[dict[str, str], bytes]] = []
        self.answers: Iterator[int] = iter(())
        self.pause_s = 0.0
        self.arrived = asyncio.Event()
        self.server: TestServer

    async def start(self, port: int | None = None) -> str:
        app = web.Application()
        app.router.add_post("/hook", self._take)
        self.server = TestServer(app, port=port)
        await self.server.start_server()
        return str(self.server.make_url("/hook"))

    async def _take(self, request: web.Request) -> web.Response:
        self.posts.append(({name.lower(): value for name, value in request.headers.items()}, await request.read()))
        self.arrived.set()
        await asyncio.sleep(self.pause_s)
        status = next(self.answers, 204)
        return web.Response(status=status, headers={"Location": "/elsewhere"} if status == 307 else {})

    async def posted(self, count: int) -> None:
        async with asyncio.timeout(30):
            while len(self.posts) < count:
                self.arrived.clear()
                await self.arrived.wait()

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.posts]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    await receiver.start()
    yield receiver
    await receiver.server.close()


def url_of(receiver: Receiver) -> str:
    return str(receiver.server.make_url("/hook"))


async def post_one(hook: Webhook, entry: Entry = ENTRY) -> None:
    try:
        await hook.write(entry)
    finally:
        await hook.close()


@pytest.mark.parametrize("secret", [SECRET, SECRET.removeprefix("whsec_"), "hush-hush, my dear"])
async def test_the_receivers_library_accepts_the_signature(receiver: Receiver, secret: str) -> None:
    await post_one(Webhook(url_of(receiver), secret))
    [(headers, body)] = receiver.posts
    assert Verifier(secret).verify(body, headers)["id"] == "abc-7"
    assert headers["webhook-id"] == "abc-7"
    assert headers["content-type"] == "application/cloudevents+json"
    assert json.loads(body)["data"] == {"text": "1–0"}


async def test_a_receiver_may_take_a_plain_secret_as_it_stands(receiver: Receiver) -> None:
    await post_one(Webhook(url_of(receiver), "hush-hush, my dear"))
    [(headers, body)] = receiver.posts
    Verifier(b"hush-hush, my dear").verify(body, headers)


async def test_another_secret_or_another_body_is_not_accepted(receiver: Receiver) -> None:
    await post_one(Webhook(url_of(receiver), SECRET))
    [(headers, body)] = receiver.posts
    with pytest.raises(WebhookVerificationError):
        Verifier(b"another secret").verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(SECRET).verify(body + b" ", headers)


async def test_without_a_secret_nothing_is_signed(receiver: Receiver) -> None:
    await post_one(Webhook(url_of(receiver), None))
    [(headers, _)] = receiver.posts
    assert "webhook-signature" not in headers


@pytest.mark.parametrize("secret", ["whsec_a", "whsec_", ""])
def test_a_secret_that_is_none_is_wrong_usage(secret: str) -> None:
    with pytest.raises(UsageError, match="openssl rand"):
        Webhook("http://127.0.0.1/", secret)


async def test_only_wanted_events_are_posted(receiver: Receiver) -> None:
    hook = Webhook(url_of(receiver), SECRET, ["kirichess.verdict.*", "kirichess.anomaly"])
    for kind in ("kirichess.game.ply", "kirichess.verdict.final", "kirichess.anomaly", "kirichess.account.online"):
        await hook.write(Entry(1, kind, 0, kind, "g", "", {}))
    await hook.close()
    assert receiver.ids == ["kirichess.verdict.final", "kirichess.anomaly"]


@pytest.mark.parametrize("status", [307, 400, 404, 429, 500, 503])
async def test_no_other_answer_counts_as_delivered(receiver: Receiver, status: int) -> None:
    receiver.answers = iter([status])
    with pytest.raises(SinkError, match=f"answered {status}"):
        await post_one(Webhook(url_of(receiver), SECRET))
    assert len(receiver.posts) == 1, "a redirect is not followed"


async def test_gone_means_no_more_of_this_one(receiver: Receiver) -> None:
    receiver.answers = iter([410])
    await post_one(Webhook(url_of(receiver), SECRET))
    assert len(receiver.posts) == 1


async def test_silence_and_absence_are_told_with_their_cause(receiver: Receiver) -> None:
    receiver.pause_s = 0.5
    with pytest.raises(SinkError, match=r"did not answer in 0\.05 s"):
        await post_one(Webhook(url_of(receiver), SECRET, timeout_s=0.05))
    with pytest.raises(SinkError, match="cannot be reached"):
        await post_one(Webhook(f"http://127.0.0.1:{unused_port()}/hook", SECRET))


async def test_neither_secret_nor_address_is_ever_shown(receiver: Receiver) -> None:
    receiver.answers = iter([500])
    hook = Webhook(url_of(receiver) + "?key=s3cr3t", "hush-hush")
    with pytest.raises(SinkError) as told:
        await post_one(hook)
    shown = f"{told.value} {hook!r} {hook.name} {hook._signatures!r}"
    assert "s3cr3t" not in shown
    assert "hush" not in shown


async def append(journal: SqlJournal, count: int) -> list[str]:
    return [entry.id for entry in await journal.append([Draft("kirichess.verdict.final", "g") for _ in range(count)])]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.002)


async def test_a_failed_post_is_tried_again_with_the_same_id_and_in_order(receiver: Receiver) -> None:
    receiver.answers = iter([500, 503, 204, 500])
    async with SqlJournal("sqlite://") as journal:
        opened = Feed(journal, Webhook(url_of(receiver), SECRET), patience=QUICK)
        await opened.open()
        feed = asyncio.create_task(opened.run())
        first, second, third = await append(journal, 3)
        await receiver.posted(6)
        feed.cancel()
    assert receiver.ids == [first, first, first, second, second, third]
    for headers, body in receiver.posts:
        Verifier(SECRET).verify(body, headers)


async def test_a_receiver_that_is_down_gets_everything_when_it_is_up(tmp_path: Path) -> None:
    port = unused_port()
    receiver = Receiver()
    async with SqlJournal(f"sqlite:///{tmp_path}/journal.db") as journal:
        feed = Feed(journal, Webhook(f"http://127.0.0.1:{port}/hook", SECRET), patience=QUICK)
        await feed.open()
        running = asyncio.create_task(feed.run())
        ids = await append(journal, 2)
        await until(lambda: "cannot be reached" in feed.cause)
        await receiver.start(port)
        await receiver.posted(2)
        running.cancel()
    await receiver.server.close()
    assert receiver.ids == ids


async def run_for_a_while(url: str, receiver: Receiver, meanwhile: int, afterwards: int) -> list[str]:
    """A life of the program: events while the feed runs, all delivered, and some after it stopped."""
    async with SqlJournal(url) as journal:
        feed = Feed(journal, Webhook(url_of(receiver), SECRET))
        await feed.open()
        task = asyncio.create_task(feed.run())
        ids = await append(journal, meanwhile)
        last = await journal.last_seq()
        await until(lambda: feed.seq == last)
    await task
    async with SqlJournal(url) as journal:
        return ids + await append(journal, afterwards)


async def test_a_restart_goes_on_behind_what_was_delivered(receiver: Receiver, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/journal.db"
    lives = [await run_for_a_while(url, receiver, *events) for events in ((2, 0), (3, 1), (0, 0))]
    assert receiver.ids == [event_id for ids in lives for event_id in ids]


def test_entries_with_one_address_and_other_events_are_two_sinks() -> None:
    url = "http://127.0.0.1:9/hook"
    names = {Webhook(url, None, events).name for events in (["kirichess.verdict.*"], ["kirichess.anomaly"], ["*"])}
    assert len(names) == 3
    assert Webhook(url, None, ["a", "b"]).name == Webhook(url, SECRET, ["b", "a"]).name
