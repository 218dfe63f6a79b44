"""A site that knows positions: asked politely, one question at a time, and told nothing but the position.

It has a session of its own: no token, no cookie, no `.netrc`, no redirect to anywhere else.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping

import aiohttp

_MOST_BYTES = 1_000_000
_REMEMBERED = 2_000
"""Answers kept, for takebacks, for games that go the same way, and for what a site does not know."""
_LIMITED_S = 60.0
"""How long a site is left alone that has answered 429 (Lichess API, "Rate limiting") …"""
_BROKEN_S = 10.0
"""… and one that could not be reached."""


class Resting(Exception):
    """The site wants to be left alone, or could not be reached a moment ago: what it knows it has not been asked."""


class Site:
    """Reads JSON from `url`."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        self._turn = asyncio.Lock()
        self._known: OrderedDict[str, object] = OrderedDict()
        self._silent_until_s = 0.0

    async def get(self, path: str, query: Mapping[str, str]) -> object:
        """The answer; None: it knows nothing.

        Raises Resting; aiohttp.ClientError, ValueError: it cannot be reached, or its answer cannot be read.
        """
        key = f"{path}?{sorted(query.items())}"
        if key not in self._known:
            async with self._turn:  # another game may be asking, and even the same
                if key not in self._known:
                    self._known[key] = await self._ask(path, query)
        self._known.move_to_end(key)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return self._known[key]

    async def _ask(self, path: str, query: Mapping[str, str]) -> object:
        loop = asyncio.get_running_loop()
        if loop.time() < self._silent_until_s:
            raise Resting
        # Until it has answered it counts as broken: one that hangs is cut off by whoever asks.
        self._silent_until_s = loop.time() + _BROKEN_S
        status, body = await self._read(path, query)
        if status == 429:
            self._silent_until_s = loop.time() + _LIMITED_S
            raise Resting
        if status not in (200, 404):
            raise ValueError(f"{self._url}{path} answered {status}")
        answer: object = json.loads(body.strip().splitlines()[-1]) if status == 200 and body.strip() else None
        self._silent_until_s = 0.0
        return answer

    async def _read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        if self._session is None:
            headers = {"User-Agent": "kirichess-bridge", "Accept": "application/json"}
            self._session = aiohttp.ClientSession(headers=headers, cookie_jar=aiohttp.DummyCookieJar())
        async with self._session.get(self._url + path, params=query, allow_redirects=False) as response:
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise ValueError(f"the answer of {self._url} is longer than {_MOST_BYTES} bytes")
            return response.status, body.decode("utf-8", "replace").rstrip("\0")

    async def close(self) -> None:
        """Give back the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def table(value: object) -> Mapping[str, object]:
    """A JSON object; an empty one where it is something else."""
    return value if isinstance(value, dict) else {}


def tables(value: object) -> list[Mapping[str, object]]:
    """The objects of a JSON array."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def whole(value: object) -> int | None:
    """A JSON number without a fraction."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
