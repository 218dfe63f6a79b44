"""A receiver that is away for more than a day: what it missed is kept, listed, and sent again by command."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner
from standardwebhooks.webhooks import Webhook as Verifier

from bridge.cli.main import main
from bridge.errors import SinkError
from bridge.feed import Feed, Patience
from bridge.hooks import receivers, webhook
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal
from bridge.settings import load

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
QUICK = Patience(first_s=0.001, longest_s=0.002)


class Days:
    """A clock that stands until it is told to go on."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Away:
    """A sink that takes nothing; the events named `passed_over` are none of its business."""

    name = "away"

    def __init__(self) -> None:
        self.tries: list[int] = []

    async def write(self, entry: Entry) -> bool | None:
        if entry.type == "passed_over":
            return False
        self.tries.append(entry.seq)
        raise SinkError("down")

    async def close(self) -> None:
        pass


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.002)


async def test_an_outage_is_counted_from_its_start_and_not_by_each_entry() -> None:
    clock, sink = Days(), Away()
    async with SqlJournal("sqlite://") as journal:
        feed = Feed(journal, sink, from_start=True, patience=QUICK, now_s=clock)
        running = asyncio.create_task(feed.run())
        await journal.append([Draft("e", "g"), Draft("passed_over", "g"), Draft("e", "g"), Draft("e", "g")])
        await until(lambda: len(sink.tries) > 5)
        assert set(sink.tries) == {1}
        clock.now_s = 86_399
        tries = len(sink.tries)
        await until(lambda: len(sink.tries) > tries + 3)
        assert feed.given_up == 0
        clock.now_s = 86_401
        await feed.reached(4)
        running.cancel()
        await asyncio.wait([running])
    assert feed.given_up == 3
    assert sink.tries[-3:] == [1, 3, 4]


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[TestServer, list[tuple[dict[str, str], bytes]]]]:
    posts: list[tuple[dict[str, str], bytes]] = []

    async def take(request: web.Request) -> web.Response:
        posts.append(({name.lower(): value for name, value in request.headers.items()}, await request.read()))
        return web.Response(status=204)

    app = web.Application()
    app.router.add_post("/hook", take)
    server = TestServer(app)
    await server.start_server()
    yield server, posts
    await server.close()


async def run(*args: str) -> tuple[int, str, str]:
    result = await asyncio.to_thread(CliRunner().invoke, main, list(args))
    return result.exit_code, result.stdout, result.stderr


async def test_what_was_given_up_is_listed_and_sent_again_signed(
    receiver: tuple[TestServer, list[tuple[dict[str, str], bytes]]], tmp_path: Path
) -> None:
    server, posts = receiver
    file = tmp_path / "c.yml"
    hook = f"{{url: '{server.make_url('/hook')}', secret: {SECRET}}}"
    file.write_text(f"journal: {{url: 'sqlite:///{tmp_path}/j.db'}}\nwebhooks: [{hook}]\n")
    name = webhook(load(file).webhooks[0]).name
    async with SqlJournal(f"sqlite:///{tmp_path}/j.db") as journal:
        stored = await journal.append([Draft("kirichess.anomaly", "g", {"kind": "gap", "note": "x"})] * 3)
        for entry in stored[:2]:
            await journal.bury(name, entry.seq, "down")
        await journal.bury("somebody else", 3, "down")
        status, out, err = await run("events", "dead", "-c", str(file), "--json")
        assert status == 0, err
        listed = [json.loads(line) for line in out.splitlines()]
        assert [(each["id"], each["seq"], each["event"]["id"]) for each in listed] == [
            (number, entry.seq, entry.id) for number, entry in enumerate(stored, 1)
        ]
        assert (await run("events", "resend", "-c", str(file), "9"))[0] == 2
        assert (await run("events", "resend", "-c", str(file)))[0] == 2
        assert await run("events", "resend", "-c", str(file), "2") == (0, "sent: 1 of 1\n", "")
        status, out, err = await run("events", "resend", "-c", str(file), "--all")
        assert (status, out) == (1, "sent: 1 of 2\n")
        assert "somebody else is neither a webhook nor a notification of this configuration" in err
        left = (await run("events", "dead", "-c", str(file)))[1]
    assert len(left.splitlines()) == 1
    assert "somebody else" in left
    assert [Verifier(SECRET).verify(body, headers)["id"] for headers, body in posts] == [stored[1].id, stored[0].id]


async def test_people_are_told_again_too(
    receiver: tuple[TestServer, list[tuple[dict[str, str], bytes]]], tmp_path: Path
) -> None:
    server, posts = receiver
    file = tmp_path / "c.yml"
    told = f"{{url: 'json://user:p4ss@127.0.0.1:{server.port}/hook', events: [kirichess.engine.failed]}}"
    file.write_text(f"journal: {{url: 'sqlite:///{tmp_path}/j.db'}}\nnotifications: [{told}]\n")
    (sink,) = receivers(load(file))
    async with SqlJournal(f"sqlite:///{tmp_path}/j.db") as journal:
        (stored,) = await journal.append([Draft("kirichess.engine.failed", "g", {"cause": "dead"}, "anna")])
        await journal.bury(sink.name, stored.seq, "down")
        status, out, err = await run("events", "dead", "-c", str(file))
        assert (status, "kirichess.engine.failed g" in out, "p4ss" in out + err) == (0, True, False)
        assert await run("events", "resend", "-c", str(file), "--all") == (0, "sent: 1 of 1\n", "")
        assert (await run("events", "dead", "-c", str(file)))[1] == ""
    (post,) = posts
    assert json.loads(post[1])["message"] == "anna, game g: engine failed: dead"


async def test_what_nobody_can_be_sent_any_more_is_taken_off_the_list(tmp_path: Path) -> None:
    """A sink that is gone from the configuration, and an entry that was pruned, one by one or by the sink."""
    place = ("--journal", str(tmp_path / "j.db"))
    async with SqlJournal(f"sqlite:///{tmp_path}/j.db") as journal:
        await journal.append([Draft("kirichess.anomaly", "g", {"kind": "gap", "note": "x"})] * 3)
        for name, seq in (("gone", 1), ("gone", 2), ("other", 3), ("other", 900)):
            await journal.bury(name, seq, "down")
        for wrong in (("--forget", "77"), ("--forget-sink", "nobody"), ("--forget", "1", "--forget-sink", "nobody")):
            status, _out, err = await run("events", "dead", *place, *wrong)
            assert (status, "`events dead` lists them" in err) == (2, True)
        assert len((await run("events", "dead", *place))[1].splitlines()) == 4, "wrong orders take nothing off"
        status, out, err = await run("events", "dead", *place, "--forget-sink", "gone", "--forget", "4")
        assert (status, err, [line.split()[0] for line in out.splitlines()]) == (0, "", ["1", "2", "4"])
        (left,) = (await run("events", "dead", *place))[1].splitlines()
    assert left.startswith("3 ")
