"""Checks of where an account looks moves up: its books, its tables, and the sites, which are asked only on request."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp

from bridge.doctor.finding import Finding, wrong
from bridge.errors import UsageError
from bridge.interfaces import Limit
from bridge.move_sources import online_sources
from bridge.platforms.lichess.answers import no_answer
from bridge.rules.ledger import Ledger
from bridge.rules.pools import DEFAULT_POOL, named
from bridge.rules.snapshot import Setup
from bridge.settings.play import Play
from bridge.settings.sources import LichessBotTbs, Polyglot
from bridge.sources.book import Book, Opening
from bridge.sources.chain import Gated
from bridge.sources.site import Resting
from bridge.sources.tablebase import open_gaviota, open_syzygy

_PATIENCE_S = 5.0
_LIMIT = Limit(60_000, 60_000, 0, 0, 60_000, plain=True)
_ENDING = "8/8/8/8/8/1k6/8/K6Q w - - 0 1"
"""What tables are asked for; the other sites are asked for the first move."""
_SOMEBODY = "lichess"
"""Whose games are looked for at the explorer where it is to be the bot itself: no token is read for it."""
_ENTRY = 16
"""Bytes of a move in a book (http://hgm.nubati.net/book_format.html)."""


async def examine_sources(play: Play, online: bool) -> AsyncIterator[Finding]:
    """Every source that is enabled; `online`: whether sites are asked for an answer."""
    async for finding in _books(play.polyglot):
        yield finding
    for finding in _tables(play.lichess_bot_tbs):
        yield finding
    for gated in online_sources(play.online_moves, _SOMEBODY):
        url = getattr(play.online_moves, gated.name).url
        if online:
            yield await _site(gated, url)
        else:
            yield Finding(gated.name, f"moves are asked of {url}; `doctor --online` tells whether it answers")


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


async def _site(gated: Gated, url: str) -> Finding:
    """Asked as in a game, so that what would fail there fails here; that it knows nothing is an answer too."""
    fen = _ENDING if gated.name == "online_egtb" else None
    ledger = Ledger(Setup("doctor", named(DEFAULT_POOL), source="clocks", precision_ms=0, start_fen=fen))
    try:
        async with asyncio.timeout(_PATIENCE_S):
            found = await gated.source.find(ledger, _LIMIT)
    except Resting:
        return wrong(gated.name, f"{url} wants to be left alone (429): try again in a minute")
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return wrong(gated.name, str(no_answer(f"{url} cannot be reached", error)), f"curl -I {url}")
    except ValueError as error:
        return wrong(gated.name, f"{error}, so games go on without it: look at its `url`, or set `enabled: false`")
    finally:
        await gated.source.close()
    return Finding(gated.name, f"{url} answers" + ("" if found else ", and knows nothing of the position"))
