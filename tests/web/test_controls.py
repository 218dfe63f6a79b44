"""The page's buttons in a real browser: what they ask for, for whom they are there, and who cannot use them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, expect

from bridge.errors import UsageError
from bridge.event_types import CONTROL_USED
from bridge.web.control import Done
from tests.web.browser import Place, Reader, chromium, needs_chromium, new_reader, place

pytestmark = needs_chromium

TOKEN = "s3cr3t-of-the-monitor"
GAME = "game0001"


@dataclass
class Program:
    """Notes what it is asked for."""

    asked: list[str] = field(default_factory=list)

    async def resign(self, game_id: str) -> Done:
        self.asked.append(f"resign {game_id}")
        return Done("resigned", "x")

    async def adjudicate(self, game_id: str) -> Done:
        self.asked.append(f"adjudicate {game_id}")
        return Done("unchanged", "x")

    def drain(self) -> Done:
        self.asked.append("drain")
        return Done("draining", "x")

    def reload(self) -> Done:
        self.asked.append("reload")
        raise UsageError("there is no <b>file</b>")


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
async def here(program: Program) -> AsyncIterator[Place]:
    async with place(controls=program, token=TOKEN) as opened:
        yield opened


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@pytest.fixture
async def reader(here: Place, browser: Browser) -> AsyncIterator[Reader]:
    """Somebody who has logged in."""
    opened = await new_reader(browser)
    await opened.open(here.url)
    await opened.page.get_by_label("token").fill(TOKEN)
    await opened.page.keyboard.press("Enter")
    # All is loaded by then: aiohttp leaves a file open whose reader goes on to another page before he has it.
    await expect(opened.page.locator("#controls button").first).to_be_enabled()
    opened.complaints.clear()  # the login page's own status, 401
    yield opened
    assert await opened.violations() == []
    assert [each for each in opened.complaints if "409" not in each] == []


async def test_a_game_is_resigned_by_keyboard_and_only_after_a_yes(
    here: Place, program: Program, reader: Reader
) -> None:
    table = await here.table(seat="white")
    await table.play("e4", "e5")
    page = reader.page
    await reader.open(f"{here.url}games/{GAME}?lang=nl")
    resign, dialog = page.get_by_role("button", name="Opgeven"), page.get_by_role("dialog")
    await expect(resign.first).to_be_enabled()
    await resign.first.focus()
    await page.keyboard.press("Enter")
    await expect(dialog).to_contain_text("Dat kan niet worden teruggenomen.")
    await expect(dialog.get_by_role("button", name="Annuleren")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(resign.first).to_be_focused()
    assert program.asked == []
    await page.keyboard.press("Enter")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator("#done")).to_have_text("De bot heeft opgegeven.")
    assert program.asked == [f"resign {GAME}"]
    [used] = await here.journal.read(types=(CONTROL_USED,))
    assert (used.subject, used.data) == (GAME, {"action": "resign", "by": "session", "address": "127.0.0.1"})


async def test_a_game_that_is_over_can_be_judged_again(here: Place, program: Program, reader: Reader) -> None:
    table = await here.table(seat="white")
    await table.play("e4", "e5")
    await reader.open(f"{here.url}games/{GAME}")
    buttons = reader.page.locator("#controls button")
    await expect(buttons).to_have_text("Resign")
    await expect(buttons).to_be_enabled()
    await buttons.focus()
    await table.end("resign", False)
    await expect(buttons).to_have_text("Judge again")
    kept = reader.page.locator("#done:focus, #controls button:focus")
    await expect(kept).to_have_count(1)
    await buttons.focus()
    await reader.page.keyboard.press("Enter")
    await expect(reader.page.locator("#done")).to_have_text("Judged again: the verdict is as it was.")
    assert program.asked == [f"adjudicate {GAME}"]


async def test_the_program_is_drained_and_told_to_read_its_configuration(
    here: Place, program: Program, reader: Reader
) -> None:
    page, done = reader.page, reader.page.locator("#done")
    await page.get_by_role("button", name="Read the configuration again").click()
    await expect(done).to_have_text("It was not done: there is no <b>file</b>")
    await page.get_by_role("button", name="Take no more games").click()
    found = await Axe().run(page)
    assert [each["id"] for each in found.response["violations"] if each["impact"] in ("serious", "critical")] == []
    await page.get_by_role("dialog").get_by_role("button", name="Take no more games").click()
    await expect(done).to_have_text("No more games are taken; the program ends when the running ones are over.")
    assert program.asked == ["reload", "drain"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious_in_what_only_those_with_a_session_see(
    here: Place, reader: Reader, scheme: Literal["light", "dark"]
) -> None:
    await (await here.table(seat="white")).play("e4", "e5")
    await reader.page.emulate_media(color_scheme=scheme)
    for address in ("", f"games/{GAME}"):
        await reader.open(f"{here.url}{address}")
        await expect(reader.page.locator("#controls button").first).to_be_enabled()
        found = await Axe().run(reader.page)
        assert [each["id"] for each in found.response["violations"] if each["impact"] in ("serious", "critical")] == []


async def test_a_session_that_has_ended_leads_to_the_login_page_and_back(here: Place, reader: Reader) -> None:
    table = await here.table()
    await table.play("e4")
    page = reader.page
    await reader.open(f"{here.url}games/{GAME}?lang=nl")
    await reader.await_moves(1)
    await expect(page.locator("#line")).to_have_text("live")
    await page.context.clear_cookies()  # as after a restart of the program, which knows no sessions
    await here.line.cut()
    await here.line.open()
    await page.get_by_label("token").fill(TOKEN)
    await page.keyboard.press("Enter")
    await reader.await_moves(1)
    assert page.url.endswith(f"games/{GAME}?lang=nl")
    reader.complaints.clear()


async def test_games_that_are_only_watched_have_no_button(here: Place, reader: Reader) -> None:
    await (await here.table()).play("e4")
    await reader.open(f"{here.url}games/{GAME}")
    await reader.await_moves(1)
    await expect(reader.page.locator("[data-control]")).to_have_count(0)
    await expect(reader.page.locator("#control")).to_be_hidden()


async def test_without_leave_there_are_no_buttons(browser: Browser) -> None:
    async with place() as here:
        table = await here.table(seat="white")
        await table.play("e4", "e5")
        reader = await new_reader(browser)
        for address in ("", f"games/{GAME}"):
            await reader.open(f"{here.url}{address}")
            await reader.page.locator("piece").first.wait_for(state="attached")
            await expect(reader.page.locator("#controls, dialog")).to_have_count(0)


async def test_a_page_of_another_site_cannot_press_them(here: Place, program: Program, reader: Reader) -> None:
    """Not even with a form, for which browsers ask nobody's leave; the cookie is not sent there anyway."""
    target = f"{here.url}api/control/drain"
    form = f'<form method="post" enctype="text/plain" action="{target}"><button>win a prize</button></form>'

    async def show(_request: web.Request) -> web.Response:
        return web.Response(text=form, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", show)
    async with TestServer(app) as elsewhere:
        evil = await reader.page.context.new_page()
        await evil.goto(str(elsewhere.make_url("/")))
        async with evil.expect_response(target) as answered:
            await evil.get_by_role("button").click()
        assert (await answered.value).status == 403
        await evil.goto(str(elsewhere.make_url("/")))
        send = "(url) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include' }).then((a) => a.type)"
        assert await evil.evaluate(send, target) == "opaque", "it was sent"
    assert program.asked == []
    assert await here.journal.read(types=(CONTROL_USED,)) == []
