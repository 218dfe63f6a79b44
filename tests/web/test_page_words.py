"""The dashboard's words: which language a reader gets, and that none of them lacks a message."""

import aiohttp
import pytest
from babel.messages.extract import extract_from_dir

from bridge.records.verdict_words import REASONS
from bridge.web import Monitor, StatusReport, create_monitor
from bridge.web.page_words import FOR_SCRIPTS, LANGUAGES, Words, choose_language
from bridge.words import words
from tests.web.browser import place

METHODS = [("web/page_words.py", "python"), ("records/verdict_words.py", "python"), ("web/templates/*.html", "jinja2")]


def messages() -> set[str]:
    found = extract_from_dir("bridge", method_map=METHODS, options_map={"web/templates/*.html": {"trimmed": "true"}})
    return {str(message) for _, _, message, _, _ in found}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_message_is_missing(lang: str) -> None:
    catalog = words(lang)._catalog  # type: ignore[attr-defined]  # gettext has no other way to ask
    found = messages()
    assert len(found) > 100
    assert found >= {*FOR_SCRIPTS, *REASONS.values()}
    assert found - set(catalog) == set()


@pytest.mark.parametrize(
    ("asked", "setting", "accepted", "lang"),
    [
        (None, None, "", ("en", False)),
        (None, None, "de, fr;q=0.5, nl;q=0.8", ("nl", False)),
        (None, None, "pt-BR,pt;q=0.9", ("pt", False)),
        (None, "fr", "nl", ("fr", False)),
        ("pt", "fr", "nl", ("pt", True)),
        ("xx", None, "nl;q=x", ("nl", False)),
    ],
)
def test_the_reader_outranks_the_setting_and_that_the_browser(
    asked: str | None, setting: str | None, accepted: str, lang: tuple[str, bool]
) -> None:
    assert choose_language(asked, setting, accepted) == lang


def test_pieces_and_decimals_are_the_language_s_own() -> None:
    dutch = Words("nl", False, words("nl"))
    assert dutch.move("rnbqkb1r/pppp1ppp/5n2/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3", "Nf6") == "2… Pf6"
    assert dutch.clock(9_400) == "0:09,4"
    forced = {"reason": "flag", "flag": {"side": "black", "cause": "toll", "forced": True}}
    assert dutch.reason(forced).startswith("Zwart")
    assert "(tol)" in dutch.reason(forced) and "gedwongen vlagval" in dutch.reason(forced)
    assert Words().reason({"reason": "threefold"}) == "threefold repetition"


def test_anomalies_are_told_in_the_language_and_unknown_ones_as_they_are_noted() -> None:
    given = {"kind": "time_given", "ply": 12, "note": "white was given 15000 ms on the platform"}
    assert Words("nl", False, words("nl")).anomaly(given) == "een speler kreeg tijd op het platform"
    assert Words().anomaly(given) == given["note"]
    assert Words("nl", False, words("nl")).anomaly({**given, "kind": "new"}) == given["note"]


def test_why_a_verdict_changed_is_told_in_the_language() -> None:
    dutch = Words("nl", False, words("nl"))
    assert dutch.change("judged again from the finer source export") == "opnieuw beoordeeld uit de fijnere bron export"
    assert Words().change("judged again from the finer source export") == "judged again from the finer source export"
    assert dutch.change("something new") == "something new"


async def test_a_page_speaks_the_reader_s_language_and_carries_his_choice_on() -> None:
    async with place() as here, aiohttp.ClientSession(here.url) as session:
        table = await here.table()
        await table.play("e4", "e5")
        async with session.get("/", headers={"Accept-Language": "fr"}) as response:
            text = await response.text()
        assert '<html lang="fr">' in text
        assert "Parties en cours" in text
        assert '?lang=fr"' in text and 'href="games/game0001"' in text
        async with session.get("/?lang=pt") as response:
            text = await response.text()
        assert '<html lang="pt-BR">' in text
        assert 'href="games/game0001?lang=pt"' in text


async def test_a_language_can_be_set() -> None:
    async with place() as here:
        monitor = Monitor("127.0.0.1:0")
        report = StatusReport("0", 0, ready=True)
        await monitor.start(create_monitor(here.journal, lambda: report, language="nl"))
        async with aiohttp.ClientSession(monitor.url) as session, session.get("/") as response:
            assert "Lopende partijen" in await response.text()
        await monitor.stop()


async def test_another_language_shows_the_same_page() -> None:
    async with place() as here, aiohttp.ClientSession(here.url) as session:
        response = await session.get("/?player=%3Cann%26&before=40&lang=fr")
        assert 'href="?lang=nl&amp;player=%3Cann%26&amp;before=40"' in await response.text()


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [("/games/%3Cb%3E?lang=nl", 404, "Hier is niets."), ("/?result=%3Cb%3E&lang=pt", 400, "Isso não pode ser pedido.")],
)
async def test_people_get_a_page_where_programs_get_json(path: str, status: int, text: str) -> None:
    async with place() as here, aiohttp.ClientSession(here.url) as session:
        async with session.get(path, headers={"Accept": "text/html,*/*"}) as response:
            page = await response.text()
            assert (response.status, response.content_type) == (status, "text/html")
            assert text in page and "&lt;b&gt;" in page and "<b>" not in page
        async with session.get(path) as response:
            assert (response.status, response.content_type) == (status, "application/json")
