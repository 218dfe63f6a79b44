"""What every request to the monitor must be, and what every answer carries: Host, Origin, headers that keep browsers
careful."""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bridge.addresses import is_loopback

log = structlog.get_logger("kirichess_monitor")

# No foreign script, style, frame or form: a player's name can be any text, and the page must stay text. chessground's
# style sheet holds its pieces as data: images, and that is all it needs beyond 'self'.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": browsers would send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def problem(status: int, text: str) -> web.Response:
    """A refusal as JSON: `{"error": text}`."""
    return web.json_response({"error": text}, status=status)


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """For `app.on_response_prepare`."""
    if request.path.startswith("/static/"):
        # Kept, but asked about each time: a newer version of the program has newer files.
        response.headers.setdefault("Cache-Control", "no-cache")
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Unknown paths and methods, told like every other refusal; our own faults too, with a trace in the log."""
    try:
        return await handler(request)
    except ConnectionResetError:
        raise
    except web.HTTPException as error:
        if error.status < 400:
            raise
        response = problem(error.status, error.reason)
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response
    except Exception:
        # Without the query and the headers, which may hold what is nobody else's business.
        log.exception("request_failed", method=request.method, path=request.path)
        return problem(500, "that failed here; the program's log tells why")


def demand_host(names: Collection[str] = (), *, networked: bool = False) -> Middleware:
    """Refuse requests whose Host is neither a loopback address nor one of `names` (in lower case): a page of a foreign
    site that had its name point here.

    `networked`: other machines may ask. What no foreign site can be called is taken too: addresses, names without dots.
    """
    reached = "by its address, by a name without dots and by" if networked else "as 127.0.0.1, [::1], localhost and by"
    refusal = f"this monitor is reached {reached} the names in monitor.hosts only"

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        host = request.headers.get("Host", "").strip()
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host
        name = name.strip("[]").lower()
        if is_loopback(name) or name in names or (networked and _is_nobody_s(name)):
            return await handler(request)
        return problem(403, refusal)

    return check


def _is_nobody_s(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return bool(name) and "." not in name
    return True


@web.middleware
async def demand_own_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what a page of another site asks for in its reader's name. Programs send no Origin, browsers do.

    The scheme is left aside: a proxy before the monitor may speak https. It has to pass the Host on.
    """
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc.lower() != request.headers.get("Host", "").strip().lower():
        return problem(403, "this monitor answers to its own pages only, not to those of another site")
    return await handler(request)
