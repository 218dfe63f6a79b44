"""The monitor's pages, made on the server by templates that escape whatever a name or a message holds."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from jinja2 import Environment, PackageLoader, StrictUndefined

from bridge.cloudevents import rfc3339
from bridge.event_types import EVENT_TYPES
from bridge.rules.pools import POOLS
from bridge.web.page_words import REFUSALS, REFUSED, Words, choose_language
from bridge.words import words

STATIC = files("bridge.web").joinpath("static")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bridge.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["rfc3339"] = rfc3339
    environment.filters["link"] = web_address
    return environment


def render(template: str, words: Words, root: str, **values: object) -> bytes:
    """A page as UTF-8. `root` is the way from its address to the monitor's first page: `./`, `../`.

    What no encoding can hold (a lone surrogate in a name) is replaced.
    """
    page = _environment().get_template(template)
    text = page.render(w=words, _=words.gettext, root=root, events=" ".join(EVENT_TYPES), pools=list(POOLS), **values)
    return text.encode(errors="replace")


def words_of(request: web.Request, setting: str | None) -> Words:
    """The words for whoever asks; `setting`: the language unless he asks for another."""
    accepted = request.headers.get("Accept-Language", "")
    lang, chosen = choose_language(request.query.get("lang"), setting, accepted)
    return Words(lang, chosen, words(lang), dict(request.query))


def root_of(request: web.Request) -> str:
    """The way from a page's address to the first page."""
    return "../" * (request.path.count("/") - 1) or "./"


def refusals_as_pages(setting: str | None) -> Middleware:
    """People get a page where programs get JSON."""

    @web.middleware
    async def told(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        is_for_people = "text/html" in request.headers.get("Accept", "") and not request.path.startswith("/api/")
        if response.status < 400 or not is_for_people or not isinstance(response, web.Response):
            return response
        if response.content_type != "application/json" or request.method not in ("GET", "HEAD", "POST"):
            return response
        told = json.loads(response.text or "{}")
        if "error" in told:
            text, words = REFUSALS.get(response.status, REFUSED), words_of(request, setting)
            values = {"text": text, "status": response.status, "detail": told["error"]}
            response.body = render("refusal.html", words, root_of(request), **values)
            response.content_type = "text/html"
        return response

    return told


def web_address(address: object) -> str:
    """An address that may be linked; empty for one that a server made up, such as `javascript:`."""
    return address if isinstance(address, str) and address.startswith(("https://", "http://")) else ""


def overlay_sizes(query: Mapping[str, str]) -> dict[str, int | str | bool]:
    """What a streamer asks for in the address; nonsense is the usual.

    `board` and `text`: pixels; `side`: who is at the bottom; `platform=0`, `names=0`: left out.
    """
    return {
        "board": _between(query.get("board", ""), 480, 64, 4096),
        "text": _between(query.get("text", ""), 32, 8, 400),
        "side": "black" if query.get("side") == "black" else "white",
        "platform": query.get("platform") != "0",
        "names": query.get("names") != "0",
    }


def _between(text: str, usual: int, least: int, most: int) -> int:
    return min(max(int(text), least), most) if text.isascii() and text.isdigit() and len(text) < 6 else usual
