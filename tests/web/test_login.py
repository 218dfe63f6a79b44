"""Who gets in: by the token, by the cookie that it is given for, and nobody else, however often they try."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

import aiohttp
import pytest

from bridge.errors import UsageError
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, Stream, create_monitor
from bridge.web.limits import MOST_BODY_BYTES, Allowance, Limits
from bridge.web.login import COOKIE

TOKEN = "s3cr3t-tökén"
PAGE = {"Accept": "text/html"}


@dataclass
class Browser:
    """A browser at a monitor with a token: it keeps cookies, and says where what it posts is from."""

    monitor: Monitor
    session: aiohttp.ClientSession

    @property
    def origin(self) -> str:
        return self.monitor.url.rstrip("/")

    async def status(self, method: str, path: str, **headers: str) -> int:
        async with self.session.request(method, path, headers=headers, allow_redirects=False) as response:
            return response.status

    async def login(self, token: str = TOKEN, wanted: str = "") -> aiohttp.ClientResponse:
        form = {"token": token, "wanted": wanted}
        async with self.session.post(
            "/login", data=form, headers={"Origin": self.origin}, allow_redirects=False
        ) as response:
            await response.read()
            return response


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    report = StatusReport("0.1.0", 5000, ready=True, streams=(Stream("Anna", True),))
    async with SqlJournal("sqlite://") as journal:
        monitor = Monitor("127.0.0.1:0", TOKEN)
        await monitor.start(create_monitor(journal, lambda: report))
        jar = aiohttp.CookieJar(unsafe=True)  # of an address without a name
        async with aiohttp.ClientSession(monitor.url, cookie_jar=jar) as session:
            yield Browser(monitor, session)
        await monitor.stop()


async def test_a_browser_gets_the_login_page_where_a_program_gets_an_error(browser: Browser) -> None:
    async with browser.session.get("/games/g1?lang=nl", headers=PAGE) as response:
        text = await response.text()
        assert response.status == 401
        assert 'action="../login"' in text
        assert 'value="games/g1?lang=nl"' in text
        assert 'lang="nl"' in text
    assert await browser.status("GET", "/static/style.css") == 200
    async with browser.session.get("/games/g1") as response:
        assert response.status == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"


async def test_a_stranger_learns_whether_it_is_healthy_and_no_more(browser: Browser) -> None:
    async with browser.session.get("/healthz") as response:
        assert (response.status, await response.json()) == (200, {"healthy": True})


async def test_the_token_is_given_once_and_the_cookie_shown_from_then_on(browser: Browser) -> None:
    answer = await browser.login(wanted="games/g1?lang=nl")
    assert (answer.status, answer.headers["Location"]) == (303, "./games/g1?lang=nl")
    cookie = answer.headers["Set-Cookie"]
    for word in ("HttpOnly", "SameSite=Strict", "Path=/"):
        assert word in cookie
    assert TOKEN not in cookie
    async with browser.session.get("/", headers=PAGE) as response:
        assert response.status == 200
        assert 'action="./logout"' in await response.text()
    assert await browser.status("GET", "/api/games") == 200


async def test_logging_out_ends_the_session_itself(browser: Browser) -> None:
    await browser.login()
    (cookie,) = [morsel.value for morsel in browser.session.cookie_jar]
    assert await browser.status("POST", "/logout", Origin=browser.origin) == 303
    assert await browser.status("GET", "/status") == 401
    assert await browser.status("GET", "/status", Cookie=f"{COOKIE}={cookie}") == 401


async def test_the_https_of_a_proxy_makes_the_cookie_one_of_https(browser: Browser) -> None:
    headers = {"Origin": browser.origin, "X-Forwarded-Proto": "https"}
    async with browser.session.post("/login", data={"token": TOKEN}, headers=headers, allow_redirects=False) as answer:
        assert "Secure" in answer.headers["Set-Cookie"]


async def test_behind_a_proxy_its_name_counts_and_each_reader_s_own_address() -> None:
    async with SqlJournal("sqlite://") as journal:
        monitor = Monitor("127.0.0.1:0", TOKEN, hosts=["Kiri.example.org"])
        await monitor.start(create_monitor(journal, lambda: StatusReport("0", 1, ready=True)))
        async with aiohttp.ClientSession(monitor.url) as session:

            async def login(token: str, of: str, host: str = "kiri.example.org") -> int:
                headers = {"Host": host, "Origin": f"https://{host}", "X-Forwarded-For": f"203.0.113.9, {of}"}
                headers["X-Forwarded-Proto"] = "https"
                form = {"token": token}
                async with session.post("/login", data=form, headers=headers, allow_redirects=False) as response:
                    return response.status

            assert await login(TOKEN, "192.0.2.1", "evil.example") == 403
            guesses = [await login("wrong", "192.0.2.1") for _ in range(21)]
            assert (guesses[0], guesses[-1]) == (401, 429)
            assert await login(TOKEN, "192.0.2.1") == 429
            assert await login(TOKEN, "192.0.2.2") == 303, "who is not guessing is not kept out"
        await monitor.stop()
    with pytest.raises(UsageError, match=r"monitor\.hosts"):
        Monitor("127.0.0.1:0", hosts=["kiri.example.org"])


async def test_off_loopback_a_name_that_a_foreign_site_can_have_must_be_known() -> None:
    known = ["127.0.0.1", "localhost", "192.0.2.7", "[2001:db8::7]", "bridge", "Kiri.example.org"]
    foreign = ["evil.example", "192.0.2.7.evil.example", "evil.example.", ""]
    async with SqlJournal("sqlite://") as journal:
        monitor = Monitor("0.0.0.0:0", TOKEN, hosts=["kiri.example.org"])
        await monitor.start(create_monitor(journal, lambda: StatusReport("0", 1, ready=True)))
        told = {}
        async with aiohttp.ClientSession(monitor.url) as session:
            for host in (*known, *foreign):
                for port in ("", ":8080"):
                    headers = {"Host": host + port, "Authorization": f"Bearer {TOKEN}"}
                    async with session.get("/status", headers=headers) as response:
                        told[host + port] = (response.status, "monitor.hosts" in await response.text())
        await monitor.stop()
    assert {host for host, answer in told.items() if answer == (200, False)} == {*known, *(f"{n}:8080" for n in known)}
    assert {host for host, answer in told.items() if answer == (403, True)} == {
        *foreign,
        *(f"{n}:8080" for n in foreign),
    }


@pytest.mark.parametrize("wanted", ["//evil.example", "https://evil.example", "\\\\evil", "../x", "login", "a\r\nb: c"])
async def test_a_login_leads_nowhere_else(browser: Browser, wanted: str) -> None:
    assert (await browser.login(wanted=wanted)).headers["Location"] == "./"


async def test_a_wrong_token_is_told_and_soon_refused_unread(browser: Browser) -> None:
    answers = [await browser.login("wrong") for _ in range(21)]
    assert {answer.status for answer in answers[:20]} == {401}
    assert answers[-1].status == 429
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert (await browser.login()).status == 429, "whoever guesses must not learn that one was right"
    assert await browser.status("GET", "/status", Authorization=f"Bearer {TOKEN}") == 429
    assert await browser.status("GET", "/healthz") == 200


async def test_a_made_up_cookie_is_none(browser: Browser) -> None:
    assert await browser.status("GET", "/status", Cookie=f"{COOKIE}=made-up") == 401


async def test_logging_out_ends_what_is_read_with_that_cookie_and_nothing_else(browser: Browser) -> None:
    url, bearer = browser.monitor.url, {"Authorization": f"Bearer {TOKEN}"}
    async with (
        aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as other,
        aiohttp.ClientSession(url, headers=bearer) as without_cookie,
    ):
        await Browser(browser.monitor, other).login()
        await browser.login()
        async with (
            browser.session.get("/events") as mine,
            other.get("/events") as others,
            without_cookie.get("/events") as program,
        ):
            assert await browser.status("POST", "/logout", Origin=browser.origin) == 303
            async with asyncio.timeout(10):
                with suppress(aiohttp.ClientError):
                    await mine.content.read()
            for open_still in (others, program):
                await open_still.content.readline()
                await open_still.content.readline()
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.2):
                        await open_still.content.readline()
        async with other.get("/status") as answer:
            assert answer.status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
async def test_pages_of_other_sites_are_refused(browser: Browser, origin: str) -> None:
    await browser.login()
    for method, path in (("POST", "/logout"), ("POST", "/login"), ("GET", "/events"), ("DELETE", "/api/games")):
        assert await browser.status(method, path, Origin=origin) == 403
    assert await browser.status("GET", "/status") == 200, "the session is still there"


async def test_with_the_cookie_a_post_must_say_where_it_is_from(browser: Browser) -> None:
    await browser.login()
    assert await browser.status("POST", "/logout") == 403
    assert await browser.status("GET", "/status") == 200


async def test_own_pages_may_read_the_events(browser: Browser) -> None:
    await browser.login()
    async with browser.session.get("/events", headers={"Origin": browser.origin}) as response:
        assert response.status == 200


async def test_requests_are_bounded_in_size(browser: Browser) -> None:
    headers = {"Origin": browser.origin}
    async with browser.session.post("/login", data={"token": "x" * MOST_BODY_BYTES}, headers=headers) as response:
        assert response.status == 413
        assert "error" in await response.json()
    assert await browser.status("GET", "/healthz", Cookie="x" * 5000) == 400
    assert await browser.status("GET", f"/healthz?{'x' * 5000}") == 400
    assert await browser.status("GET", "/healthz", **{f"X-{number}": "x" for number in range(100)}) == 400


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Type": "multipart/form-data"}, b"token=x"),
        ({"Content-Type": "application/json"}, b"{"),
        ({"Content-Type": "application/x-www-form-urlencoded; charset=nonsense"}, b"token=x"),
    ],
)
async def test_what_is_no_form_is_refused_in_one_line(browser: Browser, headers: dict[str, str], body: bytes) -> None:
    headers["Origin"] = browser.origin
    async with browser.session.post("/login", data=body, headers=headers) as response:
        assert response.status in (400, 401)


async def test_what_cannot_be_read_is_not_quoted_in_the_log(
    browser: Browser, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", browser.monitor.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cr3t-\x00\r\n\r\n")
    assert b" 400 " in await reader.readline()
    writer.close()
    assert "s3cr3t" not in f"{capfd.readouterr()} {caplog.text}"


async def test_requests_are_bounded_in_rate(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.web.monitor.Limits", lambda **_: Limits(requests=Allowance(3, 0.1)))
    async with SqlJournal("sqlite://") as journal:
        monitor = Monitor("127.0.0.1:0")
        await monitor.start(create_monitor(journal, lambda: StatusReport("0.1.0", 1, ready=True, streams=())))
        async with aiohttp.ClientSession(monitor.url) as session:
            answers = await asyncio.gather(*(session.get("/healthz") for _ in range(5)))
            assert sorted(answer.status for answer in answers) == [200, 200, 200, 429, 429]
            assert all("Retry-After" in answer.headers for answer in answers if answer.status == 429)
            for answer in answers:
                answer.release()
        await monitor.stop()


def test_an_allowance_comes_back_with_time_and_each_address_has_its_own() -> None:
    now = [100.0]
    allowance = Allowance(at_once=2, a_second=0.5, now=lambda: now[0])
    for _ in range(2):
        assert allowance.wait_s("a") == 0
        allowance.take("a")
    assert allowance.wait_s("a") == 2
    assert allowance.wait_s("b") == 0
    now[0] += 2
    assert allowance.wait_s("a") == 0
