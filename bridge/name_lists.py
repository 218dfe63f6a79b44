"""Lists of names at addresses, fetched beside everything else: one name a line, `#` for remarks.

Each is asked for again every few minutes, by its ETag (RFC 9110 §8.8.3). The last good copy counts until there is a
newer one, over restarts too; nobody ever waits for a list.
"""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import structlog

log = structlog.get_logger("kirichess_lists")

EVERY_S = 600.0
_TIMEOUT_S = 15.0
_MOST_BYTES = 1_000_000
_USER_AGENT = "kirichess-bridge"


class _Unusable(Exception):
    """An answer that is no list; the message says why."""


@dataclass(frozen=True, slots=True)
class NameList:
    """A copy of a list. `names` are ids: lower case."""

    names: frozenset[str] = frozenset()
    etag: str = ""


class NameLists:
    """Every list that somebody has asked for. `folder` keeps their copies; None: only this process does."""

    def __init__(self, folder: Path | None = None, every_s: float = EVERY_S) -> None:
        self._folder = folder
        self._every_s = every_s
        self._lists: dict[str, NameList] = {}
        self._wanted = asyncio.Event()

    def names(self, urls: Sequence[str]) -> frozenset[str]:
        """The names on these lists, as far as they are known now; a list that is new is fetched at once."""
        for url in urls:
            if url not in self._lists:
                self._lists[url] = self._kept(url)
                self._wanted.set()
        return frozenset().union(*(self._lists[url].names for url in urls))

    async def run(self) -> None:
        """Fetch for ever."""
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
        async with aiohttp.ClientSession(timeout=timeout, headers={"User-Agent": _USER_AGENT}) as session:
            while True:
                self._wanted.clear()
                for url in tuple(self._lists):
                    await self._refresh(session, url)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), self._every_s)

    async def _refresh(self, session: aiohttp.ClientSession, url: str) -> None:
        try:
            fresh = await _fetch(session, url, self._lists[url].etag)
        except (aiohttp.ClientError, OSError, TimeoutError, _Unusable) as error:
            log.warning("list_not_fetched", url=url, cause=str(error) or type(error).__name__)
            return
        if fresh is not None:
            self._lists[url] = fresh
            await asyncio.to_thread(self._keep, url, fresh)

    # -- the copies ----------------------------------------------------------------------------------------------

    def _file(self, url: str) -> Path | None:
        mark = hashlib.sha256(url.encode()).hexdigest()[:16]
        return None if self._folder is None else self._folder / f"names-{mark}.json"

    def _kept(self, url: str) -> NameList:
        file = self._file(url)
        if file is None or not file.exists():
            return NameList()
        try:
            kept = json.loads(file.read_text("utf-8"))
            return NameList(frozenset(map(str, kept["names"])), str(kept["etag"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            # It is only a copy: the list itself is fetched soon.
            log.warning("list_copy_unreadable", file=str(file), cause=str(error))
            return NameList()

    def _keep(self, url: str, fresh: NameList) -> None:
        file = self._file(url)
        if file is None:
            return
        part = file.with_suffix(".part")
        text = json.dumps({"url": url, "etag": fresh.etag, "names": sorted(fresh.names)})
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(text, "utf-8")
            part.replace(file)
        except OSError as error:
            # After a restart the list is empty until it is fetched.
            log.warning("list_copy_not_kept", file=str(file), cause=str(error))


async def _fetch(session: aiohttp.ClientSession, url: str, etag: str) -> NameList | None:
    """A newer copy, None where there is none. A redirect is refused: a list comes from where the configuration says."""
    headers = {"If-None-Match": etag} if etag else {}
    async with session.get(url, headers=headers, allow_redirects=False) as response:
        if response.status == 304:
            return None
        if response.status != 200:
            raise _Unusable(f"it answered {response.status}")
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise _Unusable(f"it is longer than {_MOST_BYTES} bytes")
        return NameList(parse_names(body.decode("utf-8", "replace")), response.headers.get("ETag", ""))


def parse_names(text: str) -> frozenset[str]:
    """One name a line; blank lines and what follows a `#` are passed over."""
    lines = (line.partition("#")[0].strip().lower() for line in text.splitlines())
    return frozenset(line for line in lines if line and " " not in line)
