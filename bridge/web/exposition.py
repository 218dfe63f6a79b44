"""/metrics: what Prometheus reads."""

from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(metrics: Callable[[], bytes]) -> Handler:
    """The handler of GET /metrics; `metrics` makes the text."""

    async def get(_request: web.Request) -> web.Response:
        return web.Response(body=metrics(), headers={"Content-Type": CONTENT_TYPE})

    return get
