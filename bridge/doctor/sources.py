"""Checks of where an account looks moves up: its books, its tables, and the sites, which are asked only on request."""

import shlex
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp

from bridge.doctor.finding import Finding, wrong
from bridge.errors import UsageError
from bridge.platforms.lichess.answers import no_answer
from bridge.settings.play import Play
from bridge.settings.sources import LichessBotTbs, OnlineMoves, Polyglot
from bridge.sources.book import Book, Opening
from bridge.sources.tablebase import open_gaviota, open_syzygy

_PATIENCE_S = 5.0
_ENTRY = 16
"""Bytes of a move in a book (http://hgm.nubati.net/book_format.html)."""


async def examine_sources(play: Play, online: bool) -> AsyncIterator[Finding]:
    """Every source that is enabled; `online`: whether sites are asked for an answer."""
    async for finding in _books(play.polyglot):
        yield finding
    for finding in _tables(play.lichess_bot_tbs):
        yield finding
    for name in OnlineMoves.model_fields:
        site = getattr(play.online_moves, name)
        if getattr(site, "enabled", False):
            yield await _site(name, site.url, online)


async def _books(book: Polyglot) -> AsyncIterator[Finding]:
    if not book.enabled:
        return
    files = [(kind, file) for kind, files in book.book.items() for file in files]
    if not files:
        yield wrong("books", "they are enabled, and none is named: add polyglot.book, {standard: [book.bin]}")
    for kind, file in files:
        try:
            await Book({kind: [file]}, Opening()).close()
        except UsageError as error:
            text = f"{error} (it must be in Polyglot's format, *.bin)"
            yield wrong(f"book {kind}", text, f"ls -l {shlex.quote(file)}")
        else:
            yield _size(f"book {kind}", Path(file))


def _size(subject: str, file: Path) -> Finding:
    size = file.stat().st_size
    return Finding(subject, f"{file} has {size // _ENTRY} moves") if size else wrong(subject, f"{file} is empty")


def _tables(tables: LichessBotTbs) -> Iterator[Finding]:
    for name, own, opened in (("syzygy", tables.syzygy, open_syzygy), ("gaviota", tables.gaviota, open_gaviota)):
        if not own.enabled:
            continue
        try:
            opened(own.paths).close()
        except UsageError as error:
            cure = f"ls -l {shlex.join(own.paths)}" if own.paths else f"{name}: {{paths: [/path/to/tables]}}"
            yield wrong(name, str(error) if own.paths else "it is enabled, and names no folder", cure)
        else:
            yield Finding(name, f"there are tables in {', '.join(own.paths)}")


async def _site(name: str, url: str, online: bool) -> Finding:
    """Any answer will do: what it knows is seen in games, and a game goes on without it."""
    if not online:
        return Finding(name, f"moves are asked of {url}; `doctor --online` tells whether it answers")
    timeout = aiohttp.ClientTimeout(total=_PATIENCE_S)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.head(url, allow_redirects=False):
            return Finding(name, f"{url} answers")
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return wrong(name, str(no_answer(f"{url} cannot be reached", error)), f"curl -I {url}")
