"""The dashboard in a real browser, with games on order: steps, lines that break, evil names, what it withholds."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, Route, expect

from bridge.interfaces import Draft
from bridge.rules.pools import named
from bridge.web import Stream
from tests.web.browser import Place, Reader, chromium, needs_chromium, new_reader, place

pytestmark = needs_chromium

OPENING = ("e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6")
QUEEN_ENDING = "8/8/8/4k3/8/8/8/K2Q4 w - - 0 1"
EVIL = "<img src=x onerror=\"document.title='owned'\">"
WORSE = "</script><script>document.title='owned'</script>"


@pytest.fixture
async def here() -> AsyncIterator[Place]:
    async with place() as opened:
        yield opened


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@pytest.fixture
async def reader(browser: Browser) -> AsyncIterator[Reader]:
    opened = await new_reader(browser)
    yield opened
    if not opened.page.is_closed():
        assert await opened.violations() == []
    assert opened.complaints == []


async def test_a_game_is_followed_and_judged_without_a_look_at_the_server(here: Place, reader: Reader) -> None:
    table = await here.table()
    await reader.open(f"{here.url}games/game0001")
    await table.play(*OPENING)
    await reader.await_moves(6)
    assert await reader.moves() == list(OPENING)
    await expect(reader.page.locator("#where")).to_have_text("3… Nf6")
    await expect(reader.page.locator("#board piece")).to_have_count(32)
    await expect(reader.page.locator("#verdict")).to_contain_text("The game is not over.")
    await table.play("Qxf7#")
    await table.end("mate", True)
    await expect(reader.page.locator("#verdict .big")).to_have_text("1–0 checkmate")
    await expect(reader.page.locator("#verdict .history li")).to_have_count(2)
    assert await reader.moves() == [*OPENING, "Qxf7#"]


async def test_a_line_that_breaks_is_taken_up_without_gaps_or_repeats(here: Place, reader: Reader) -> None:
    table = await here.table()
    await reader.open(f"{here.url}games/game0001")
    await table.play(*OPENING[:2])
    await reader.await_moves(2)
    await here.line.cut()
    await expect(reader.page.locator("#line")).to_have_text("connection lost, trying again")
    await table.play(*OPENING[2:4])
    pages = len([request for request in here.line.passed if "/games/" in request])
    await here.line.open()
    await table.play(*OPENING[4:])
    await reader.await_moves(6)
    await expect(reader.page.locator("#line")).to_have_text("live")
    assert await reader.moves() == list(OPENING)
    assert len([request for request in here.line.passed if "/games/" in request]) == pages, "by the events alone"


async def test_a_takeback_is_shown(here: Place, reader: Reader) -> None:
    table = await here.table()
    await table.play(*OPENING)
    await reader.open(f"{here.url}games/game0001")
    await reader.await_moves(6)
    table.moves, table.sans = table.moves[:4], table.sans[:4]
    table.board.pop()
    table.board.pop()
    await table.play("d3")
    await expect(reader.page.locator("#moves button > span")).to_have_text([*OPENING[:4], "d3"])


async def test_keys_and_clicks_step_through_the_game(here: Place, reader: Reader) -> None:
    table = await here.table()
    await table.play(*OPENING)
    await reader.open(f"{here.url}games/game0001")
    where, clock = reader.page.locator("#where"), reader.page.locator(".player.white .kiri")
    await expect(where).to_have_text("3… Nf6")
    for key, place_then in (
        ("ArrowLeft", "3. Qh5"),
        ("Home", "start position"),
        ("ArrowLeft", "start position"),
        ("ArrowRight", "1. e4"),
        ("End", "3… Nf6"),
    ):
        await reader.page.keyboard.press(key)
        await expect(where).to_have_text(place_then)
    await reader.page.get_by_role("button", name="first position").click()
    await expect(clock).to_have_text("4:00")
    await reader.page.locator("#moves button").nth(2).click()
    await expect(where).to_have_text("2. Bc4")
    await table.play("Qxf7#")
    await reader.await_moves(7)
    await expect(where).to_have_text("2. Bc4")


async def test_what_a_move_did_to_each_clock_and_why(here: Place, reader: Reader) -> None:
    table = await here.table(pool="anchor")
    await table.play("e4", "d5", "exd5", "Qxd5", "Nc3", "Qe5+")
    await reader.open(f"{here.url}games/game0001")
    rows = reader.page.locator("#effects tr")
    await expect(rows).to_have_text(["thinking−0.7", "toll−4", "check chip−2+2", "all in all−2−2.7"])
    await reader.page.keyboard.press("ArrowLeft")
    await reader.page.keyboard.press("ArrowLeft")
    await expect(rows).to_have_text(["thinking−0.7", "captures a pawn−5+5", "toll−4", "all in all−5+0.3"])


async def test_a_guarded_move_pays_nothing_and_says_so(here: Place, reader: Reader) -> None:
    table = await here.table()
    await table.play("Nf3", "Nf6", "Ng1", "Ng8")
    await reader.open(f"{here.url}games/game0001")
    await expect(reader.page.locator("#effects tr").nth(1)).to_have_text("repetition guard0")
    await expect(reader.page.locator("#note")).to_have_text("The position has occurred before: nothing is paid.")


async def test_bills_are_shown_after_the_end_and_never_before(here: Place, reader: Reader) -> None:
    table = await here.table(fen=QUEEN_ENDING)
    await table.play("Kb2", "Ke6")
    await reader.open(f"{here.url}games/game0001")
    await reader.await_moves(2)
    text = await reader.page.content()
    assert 'id="bill"' not in text
    assert '"bill"' not in text
    assert "K+Q v K" not in text
    await table.end("resign", True)
    bill = reader.page.locator("#bill")
    await expect(bill).to_contain_text("White: K+Q v K costs about 48 s in 15 moves")
    await expect(bill).to_contain_text("can be paid")


async def test_home_shows_games_as_they_come_and_go(here: Place, reader: Reader) -> None:
    await reader.open(here.url)
    await expect(reader.page.locator("#cards")).to_contain_text("No game is running.")
    table = await here.table()
    card = reader.page.locator("article.card")
    await expect(card).to_have_count(1)
    await table.play(*OPENING[:3])
    await expect(card.locator("[data-move]")).to_have_text("2. Bc4")
    await expect(card.locator("piece")).to_have_count(32)
    await expect(card.locator(".player.white .kiri")).to_have_text("3:56")
    await table.play(*OPENING[3:], "Qxf7#")
    await table.end("mate", True)
    await expect(card).to_have_count(0)
    await expect(reader.page.locator(".verdicts li")).to_have_count(1)
    await expect(reader.page.locator(".verdicts .why")).to_have_text("checkmate")
    await reader.page.locator(".verdicts a").click()
    await expect(reader.page.locator("#verdict .big")).to_have_text("1–0 checkmate")


@pytest.mark.parametrize("address", ["", "games/game0001", "games/game0001/overlay"])
async def test_clocks_tick_and_a_fall_by_estimate_is_shown_as_such(here: Place, reader: Reader, address: str) -> None:
    table = await here.table()
    await table.play("e4", "e5")
    await reader.open(f"{here.url}{address}")
    clock, waiting = reader.page.locator(".player.white .kiri"), reader.page.locator(".player.black .kiri")
    resting = await waiting.inner_text()
    await expect(clock).not_to_have_text(resting)
    assert await waiting.inner_text() == resting
    flag = reader.page.locator("[data-flag]")
    for kind, text in (("provisional", "White’s flag has fallen, to be confirmed"), ("withdrawn", "")):
        await here.journal.append([Draft(f"kirichess.flag.{kind}", "game0001", {"side": "white"})])
        await expect(flag).to_have_text(text)


@pytest.mark.parametrize("address", ["games/game0001", "games/game0001/overlay"])
async def test_a_verdict_that_could_not_be_fetched_is_asked_for_again(
    here: Place, reader: Reader, address: str
) -> None:
    table = await here.table()
    await table.play("e4", "e5")
    await reader.open(here.url + address)
    await reader.page.route(f"**/{address}", lambda route: route.abort())
    async with reader.page.expect_event("requestfailed"):
        await table.end("resign", True)
    await reader.page.wait_for_timeout(500)
    async with reader.page.expect_response(lambda response: response.url.endswith(address), timeout=10_000):
        await reader.page.unroute(f"**/{address}")
    if "overlay" not in address:
        await expect(reader.page.locator("#verdict .big")).to_have_text("1–0 resignation")


async def test_a_game_that_starts_while_the_first_page_is_fetched_is_shown(here: Place, reader: Reader) -> None:
    await reader.open(here.url)
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        answer = await route.fetch()
        asked.set()
        await go_on.wait()
        await route.fulfill(response=answer)

    await reader.page.route(here.url, late, times=1)
    await here.table("game0001")
    await asked.wait()
    table = await here.table("game0002")
    await table.play("e4")
    # The line has told of it before the answer comes.
    await reader.page.wait_for_timeout(500)
    go_on.set()
    await expect(reader.page.locator("#game-game0002 [data-move]")).to_have_text("1. e4")


async def test_another_pool_is_told_at_once(here: Place, reader: Reader) -> None:
    table = await here.table(pool="ratchet")
    await reader.open(here.url)
    card = reader.page.locator("article.card")
    await expect(card.locator(".pool")).to_have_text("Ratchet")
    assert table.tracker.agree(named("winder"))
    await expect(card.locator(".pool")).to_have_text("Winder")
    await expect(card.locator(".player.white .kiri")).to_have_text("1:00")


async def test_a_move_that_comes_while_its_game_is_being_shown_is_not_lost(here: Place, reader: Reader) -> None:
    await reader.open(here.url)
    answered, go_on = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        answer = await route.fetch()
        answered.set()
        await go_on.wait()
        await route.fulfill(response=answer)

    await reader.page.route(here.url, late, times=1)
    table = await here.table()
    await answered.wait()
    await table.play("e4")
    await reader.page.wait_for_timeout(500)
    go_on.set()
    await expect(reader.page.locator("#game-game0001 [data-move]")).to_have_text("1. e4")


async def test_moves_are_numbered_from_where_the_game_began(here: Place, reader: Reader) -> None:
    table = await here.table(fen="4k3/8/8/8/8/8/4P3/4K3 b - - 0 30")
    await table.play("Kd7")
    move = reader.page.locator("[data-move]")
    await reader.open(here.url)
    await expect(move).to_have_text("30… Kd7")
    await table.play("e4")
    await expect(move).to_have_text("31. e4")
    answer = await reader.page.request.get(here.url)
    assert "31. e4" in await answer.text()


async def test_a_move_that_was_taken_back_is_no_longer_told_as_the_last_one(here: Place, reader: Reader) -> None:
    table = await here.table()
    await table.play("e4", "e5", "Bc4")
    await reader.open(here.url)
    move = reader.page.locator("[data-move]")
    await expect(move).to_have_text("2. Bc4")
    await table.take_back(1)
    await expect(move).to_have_text("")
    await table.take_back(2)
    await expect(move).to_have_text("no move yet")


async def test_the_keyboard_keeps_its_place_while_games_come_and_go(here: Place, reader: Reader) -> None:
    for name in ("game0001", "game0002"):
        table = await here.table(name)
        await table.play("e4")
    ended = await here.table("over0001")
    await ended.end("resign", True)
    await reader.open(here.url)
    focused = reader.page.locator(":focus")
    links = ("#found a[href='games/over0001']", "#game-game0001 h3 a", "#game-game0002 h3 a")
    for number, link in enumerate(links):
        await reader.page.locator(link).focus()
        new = await here.table(f"comes00{number}")
        await reader.page.locator(f"#game-comes00{number}").wait_for()
        await new.end("resign", True)
        await reader.page.locator(f"#game-comes00{number}").wait_for(state="detached")
        href = await reader.page.locator(link).get_attribute("href")
        await expect(focused).to_have_attribute("href", str(href))
    # The game that had it is over: its row among the verdicts has it now.
    await table.end("resign", True)
    await reader.page.locator("#game-game0002").wait_for(state="detached")
    await expect(focused).to_have_attribute("href", "games/game0002")


async def test_running_games_keep_their_places_while_they_move(here: Place, reader: Reader) -> None:
    first, second = await here.table("game0001"), await here.table("game0002")
    cards = reader.page.locator("#cards article")
    for table in (first, second):
        await table.play("e4")
        await reader.open(here.url)
        assert [await card.get_attribute("id") for card in await cards.all()] == ["game-game0002", "game-game0001"]


async def test_the_archive_is_searched(here: Place, reader: Reader) -> None:
    for number, (white, black) in enumerate((("Anna", "Bert"), ("Carl", "Dora"), ("Bert", "Anna"))):
        table = await here.table(f"game000{number}", white, black)
        await table.play("e4", "e5")
        await table.end("resign", number == 1)
    await reader.open(here.url)
    await expect(reader.page.locator(".verdicts li")).to_have_count(3)
    await reader.page.get_by_label("Player").fill("ann")
    await reader.page.get_by_label("Result").select_option("0-1")
    await reader.page.get_by_role("button", name="Search").click()
    await expect(reader.page.locator(".verdicts .who")).to_have_text(["Bert – Anna", "Anna – Bert"])


@pytest.mark.parametrize("address", ["", "games/game0001", "games/game0001/overlay"])
async def test_names_are_text_whatever_they_hold(here: Place, reader: Reader, address: str) -> None:
    table = await here.table(white=EVIL, black=WORSE)
    await table.play("e4", "e5")
    await reader.open(f"{here.url}{address}")
    names = reader.page.locator(".player .name")
    await expect(names).to_have_text([WORSE, EVIL])
    await here.table("game0002", EVIL, WORSE)
    await expect(reader.page.locator(".player .name")).to_have_count(2 if address else 4)
    assert await reader.page.locator("img").count() == 0
    assert await reader.page.title() != "owned"


async def test_the_overlay_has_the_size_it_is_asked_for_and_no_ground(here: Place, reader: Reader) -> None:
    table = await here.table()
    await table.play("e4", "e5")
    await reader.open(f"{here.url}games/game0001/overlay?board=320&text=48&side=black&platform=0")
    page = reader.page
    box = await page.locator("#board").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (320, 320)
    clock = page.locator(".player.white .kiri")
    assert await clock.evaluate("(element) => getComputedStyle(element).fontSize") == "48px"
    for part in ("html", "body"):
        ground = await page.locator(part).evaluate("(element) => getComputedStyle(element).backgroundColor")
        assert ground == "rgba(0, 0, 0, 0)"
    await expect(page.locator(".player.white .platform")).to_be_hidden()
    top = await page.locator(".player.white").bounding_box()
    assert top is not None and top["y"] < box["y"], "seen by Black"
    await table.play("Nf3")
    await expect(clock).to_have_text("3:56")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
async def test_axe_finds_nothing_serious(here: Place, browser: Browser, scheme: str, width: int) -> None:
    over = await here.table("game0001", fen=QUEEN_ENDING)
    await over.play("Kb2", "Ke6")
    await over.end("resign", True)
    table = await here.table("game0002")
    await table.play(*OPENING)
    await here.journal.append([Draft("kirichess.flag.provisional", "game0002", {"side": "white"})])
    reader = await new_reader(browser, color_scheme=scheme, viewport={"width": width, "height": 900})
    for address in ("", "games/game0001", "games/game0002", "?player=nobody", "games/game0002/overlay"):
        await reader.open(f"{here.url}{address}")
        await reader.page.locator("piece").first.wait_for(state="attached") if "?" not in address else None
        found = await Axe().run(reader.page)
        serious = [
            (rule["id"], [node["html"][:120] for node in rule["nodes"]])
            for rule in found.response["violations"]
            if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], address
        wide = await reader.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width or "overlay" in address, f"{address} does not fit"


async def test_what_is_lost_is_told(browser: Browser) -> None:
    async with place([Stream("Anna", False, "no answer for 16 s <b>")]) as here:
        reader = await new_reader(browser)
        await reader.open(here.url)
        await expect(reader.page.locator(".accounts .lost")).to_contain_text("no answer for 16 s <b>")
