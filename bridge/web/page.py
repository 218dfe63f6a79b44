"""The monitor's pages, made on the server by templates that escape whatever a name or a message holds."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from bridge.cloudevents import rfc3339
from bridge.event_types import EVENT_TYPES
from bridge.rules.pools import POOLS
from bridge.web.page_words import Words

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
