"""How much one address may ask for: generous for readers, tight for whoever tries tokens."""

import math
import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network

from aiohttp import web
from aiohttp.typedefs import Handler

from bridge.addresses import is_loopback
from bridge.forgetting import forget_oldest
from bridge.web.guard import problem

MOST_BODY_BYTES = 16_384
MOST_BYTES = 4096
"""Of a request's line, and of each of its headers."""
MOST_HEADERS = 64
_MOST_ADDRESSES = 10_000
"""Whose requests are counted; the ones not heard of for longest are forgotten first."""


class Allowance:
    """So many at once for each address, and so many more a second. `now`: seconds that never jump."""

    def __init__(self, at_once: float, a_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._at_once = at_once
        self._a_second = a_second
        self._now = now
        self._left: dict[str, tuple[float, float]] = {}

    def wait_s(self, address: str) -> float:
        """How long until the address may ask; 0: now."""
        return max(0.0, (1 - self._has(address)) / self._a_second)

    def take(self, address: str) -> None:
        """Count one."""
        left = self._has(address) - 1
        self._left.pop(address, None)
        self._left[address] = (left, self._now())
        forget_oldest(self._left, _MOST_ADDRESSES)

    def _has(self, address: str) -> float:
        left, since = self._left.get(address, (self._at_once, 0.0))
        return min(self._at_once, left + (self._now() - since) * self._a_second)


class Limits:
    """The allowances of one monitor.

    `behind_proxy`: what comes from this machine comes from a proxy, which tells last in X-Forwarded-For for whom.
    """

    def __init__(
        self,
        requests: Allowance | None = None,
        wrong_tokens: Allowance | None = None,
        *,
        behind_proxy: bool = False,
    ) -> None:
        self._behind_proxy = behind_proxy
        self._requests = requests or Allowance(at_once=2000, a_second=100)
        self.wrong_tokens = wrong_tokens or Allowance(at_once=20, a_second=1 / 3)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse an address that asks too much."""
        address = self.address_of(request)
        if wait_s := self._requests.wait_s(address):
            return too_many("too many requests", wait_s)
        self._requests.take(address)
        return await handler(request)

    def address_of(self, request: web.Request) -> str:
        """Who asks. Of IPv6 the network: one host has as many addresses as it likes."""
        address = request.remote or ""
        if self._behind_proxy and is_loopback(address):
            address = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip() or address
        return _network(address)


def too_many(what: str, wait_s: float) -> web.Response:
    """429, with when to come again."""
    response = problem(429, f"{what} from your address; try again in {math.ceil(wait_s)} s")
    response.headers["Retry-After"] = str(math.ceil(wait_s))
    return response


def _network(text: str) -> str:
    try:
        address = ip_address(text)
    except ValueError:
        return text
    return str(ip_network((address, 64), strict=False)) if isinstance(address, IPv6Address) else str(address)
