"""SqlJournal: the journal as the program's tasks see it, over a store in a thread of its own."""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, Self, TypeVar

from bridge.errors import JournalError
from bridge.interfaces import Draft, Entry
from bridge.journal.place import parse_url
from bridge.journal.store import Row, Store

T = TypeVar("T")
P = ParamSpec("P")

PAGE = 500  # entries that a follower which lags reads at a time
RECENT = 2000  # entries kept in memory, so that followers at the end never touch the disk


def wall_ms() -> int:
    """The wall clock in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class _Batch:
    """What waits for the next transaction; `committed` ends with the entries of each append, or the error."""

    def __init__(self) -> None:
        self.appends: list[list[Row]] = []
        self.cursors: dict[str, int] = {}
        self.committed: asyncio.Task[list[list[Entry]]]


class SqlJournal:
    """A Journal in SQLite: `sqlite:///FILE`, or `sqlite://` for one that is gone with the program.

    Everything that waits while one transaction runs goes into the next one together (group commit).
    Raises UsageError for an address that is none. `now_ms` is the wall clock that entries are stamped with.
    """

    def __init__(self, url: str, now_ms: Callable[[], int] = wall_ms) -> None:
        parse_url(url)
        self._url = url
        self._now_ms = now_ms
        self._thread: ThreadPoolExecutor | None = None
        self._store: Store | None = None
        self._writing = asyncio.Lock()
        self._waiting: _Batch | None = None
        self._last = 0
        self._recent: deque[Entry] = deque(maxlen=RECENT)
        self._news = asyncio.Event()

    async def open(self) -> Self:
        """Open the file, creating it where there is none. Raises JournalError: what is wrong, and the cure."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kirichess-journal")
        try:
            self._store = await self._run(Store, self._url)
            self._last = await self._run(self._store.last_seq)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        return self

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def append(self, drafts: Sequence[Draft]) -> list[Entry]:
        """Store all or none, in order; returns once committed. Raises JournalError, or TypeError for data not JSON.

        A caller that is cancelled meanwhile cannot know whether its drafts were stored: give them keys.
        """
        rows = [Row.of(draft) for draft in drafts]
        batch = self._next_batch()
        place = len(batch.appends)
        batch.appends.append(rows)
        return (await asyncio.shield(batch.committed))[place]

    async def advance(self, name: str, seq: int) -> None:
        """Store a sink's cursor."""
        batch = self._next_batch()
        batch.cursors[name] = seq
        await asyncio.shield(batch.committed)

    async def follow(self, after: int) -> AsyncIterator[Entry]:
        """Every entry with a greater number, then the new ones as they come; ends when the journal is closed."""
        while self._store is not None:
            news = self._news
            if after >= self._last:
                await news.wait()
                continue
            for entry in await self._page(after):
                yield entry
                after = entry.seq

    async def _page(self, after: int) -> list[Entry]:
        """Some of the entries after `after`, of which there are some."""
        if self._recent and after + 1 >= self._recent[0].seq:
            start = after + 1 - self._recent[0].seq
            return list(itertools.islice(self._recent, start, start + PAGE))
        return await self.read(after=after, limit=PAGE)

    async def read(
        self, *, subject: str | None = None, types: Sequence[str] = (), after: int = 0, limit: int = 1000
    ) -> list[Entry]:
        """Stored entries in order."""
        return await self._run(self._opened().read, subject, tuple(types), after, limit)

    async def last_seq(self) -> int:
        """The greatest number given so far, 0 for an empty journal."""
        return self._last

    async def cursor(self, name: str) -> int:
        """How far a sink has come; 0 at first."""
        return await self._run(self._opened().cursor, name)

    async def close(self) -> None:
        """Write what is waiting, end the followers and let go of the file."""
        store, self._store = self._store, None
        if self._waiting is not None:
            await asyncio.wait([self._waiting.committed])
        async with self._writing:
            if store is not None:
                await self._run(store.close)
        if self._thread is not None:
            self._thread.shutdown(wait=False)
        self._news.set()

    def _opened(self) -> Store:
        if self._store is None:
            raise JournalError(f"journal {self._url}: not open")
        return self._store

    def _next_batch(self) -> _Batch:
        store = self._opened()
        if self._waiting is None:
            self._waiting = _Batch()
            self._waiting.committed = asyncio.create_task(self._commit(store, self._waiting))
        return self._waiting

    async def _commit(self, store: Store, batch: _Batch) -> list[list[Entry]]:
        async with self._writing:
            self._waiting = None
            stored = await self._run(store.write, batch.appends, batch.cursors, self._now_ms())
            entries = [entry for member in stored for entry in member]
            if entries:
                self._recent.extend(entries)
                self._last = entries[-1].seq
                self._news.set()
                self._news = asyncio.Event()
            return stored

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: call(*args, **kwargs))
