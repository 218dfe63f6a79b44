"""SqlJournal: the journal as the program's tasks see it, over a store in a thread of its own."""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, Self, TypeVar

import structlog

from bridge.clocks import DAY_MS, wall_ms
from bridge.errors import JournalDamaged, JournalError
from bridge.interfaces import Draft, Entry
from bridge.journal.place import parse_url
from bridge.journal.raw import ENGINE, Gathered, Line
from bridge.journal.recent import Recent
from bridge.journal.rows import Row
from bridge.journal.spacing import Spacing
from bridge.journal.store import Store

log = structlog.get_logger("kirichess_journal")

T = TypeVar("T")
P = ParamSpec("P")

PAGE = 100  # entries that a follower which lags reads at a time; one with its verdict can take 100 kB of memory
TOGETHER_S = 0.1  # what many games write in this time is followed at once: followers wake less often
SOON_S = 0.1  # how long raw lines and sinks' cursors wait for events to be stored with
SWEEP_S = 3600.0
LOOK_S = 30.0  # between looks at whether the whole file is sound
LOOK_SHARE = 100  # and at least so many times as long as a look takes: 1 % of one processor, however large the file
PAUSES_S = (0.5, 30.0)  # a journal that fails is tried again so soon at first, and at least so often


def doubling() -> Iterator[float]:
    """The pauses between tries."""
    pause_s, most_s = PAUSES_S
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, most_s)


class _Batch:
    """What waits for the next transaction; `committed` ends with it. Each append has a waiter for its entries, or for
    the error."""

    def __init__(self) -> None:
        self.appends: list[list[Row]] = []
        self.waiters: list[asyncio.Future[list[Entry]]] = []
        self.cursors: dict[str, int] = {}
        self.committed: asyncio.Task[list[list[Entry]]]

    def tell(self, committed: "asyncio.Task[list[list[Entry]]]") -> None:
        """A transaction of raw lines alone has nobody who waits for it; `trouble` tells of its failure."""
        error = None if committed.cancelled() else committed.exception()
        for place, waiter in enumerate(self.waiters):
            if waiter.done():
                continue  # whoever waited was cancelled
            if committed.cancelled():
                waiter.cancel()
            elif error is not None:
                waiter.set_exception(error)
            else:
                waiter.set_result(committed.result()[place])


class SqlJournal:
    """A Journal in SQLite: `sqlite:///FILE`, or `sqlite://` for one that is gone with the program.

    Everything that waits while one transaction runs goes into the next one together (group commit), and where many
    follow each other they are spaced, so that more goes into each.
    Raises UsageError for an address that is none. `now_ms` is the wall clock that entries are stamped with; `raw_days`
    is how long the platform's lines are kept, 0: not at all.

    When a transaction fails, its appends raise and nothing of it is stored; the next ones are tried like any. Until one
    succeeds `trouble` says what is wrong, and the journal tries by itself whether it is over, less and less often. Once
    anything finds the file damaged, nothing more is written to it until a look at the whole of it finds it sound.
    """

    def __init__(self, url: str, now_ms: Callable[[], int] = wall_ms, *, raw_days: int = 30) -> None:
        parse_url(url)
        self._url = url
        self._now_ms = now_ms
        self._thread: ThreadPoolExecutor | None = None
        self._store: Store | None = None
        self._context = contextvars.copy_context()
        """What the journal logs is in nobody's name, whichever game happens to write."""
        self._writing = asyncio.Lock()
        self._spacing = Spacing()
        self._waiting: _Batch | None = None
        self._last = 0
        self._recent = Recent()
        self._news = asyncio.Event()
        self._raw_days = raw_days
        self._raw = Gathered()
        self._passed: dict[str, int] = {}
        self._soon: asyncio.TimerHandle | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._probing: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._damage = ""
        self._no_trouble = asyncio.Event()
        self._no_trouble.set()
        self.trouble = ""

    async def open(self) -> Self:
        """Open the file, creating it where there is none. Raises JournalError: what is wrong, and the cure."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kirichess-journal")
        raw_since_ms = self._now_ms() if self._raw_days else None
        opening = asyncio.create_task(self._run(Store, self._url, raw_since_ms=raw_since_ms))
        try:
            self._store = await asyncio.shield(opening)
            self._last = await self._run(self._store.last_seq)
        except BaseException:
            await self._give_up(opening)
            raise
        self._sweeping = asyncio.create_task(self._sweep(self._store))
        self._looking = asyncio.create_task(self._look(self._store))
        return self

    async def _give_up(self, opening: asyncio.Task[Store]) -> None:
        """The thread goes on opening whoever waits: only then the file is let go of, and may be deleted."""
        await asyncio.wait({opening})
        self._store = None
        if not opening.cancelled() and opening.exception() is None:
            await self._run(opening.result().close)
        if self._thread is not None:
            self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, kind: type[BaseException] | None, *_exc: object) -> None:
        store, closing = self._store, asyncio.create_task(self.close(at_once=kind is asyncio.CancelledError))
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            # Whoever waits for it has lost patience meanwhile.
            if store is not None:
                store.hurry()
            await closing
            raise

    async def append(self, drafts: Sequence[Draft]) -> list[Entry]:
        """Store all or none, in order; returns once committed. Raises JournalError, or TypeError for data not JSON.

        A caller that is cancelled meanwhile cannot know whether its drafts were stored: give them keys.
        """
        return await self.put(drafts)

    def put(self, drafts: Sequence[Draft]) -> asyncio.Future[list[Entry]]:
        """`append`, which the answer says the end of."""
        answer: asyncio.Future[list[Entry]] = asyncio.get_running_loop().create_future()
        try:
            rows = [Row.of(draft) for draft in drafts]
            batch = self._next_batch()
        except (JournalError, TypeError, ValueError) as error:
            answer.set_exception(error)
        else:
            batch.appends.append(rows)
            batch.waiters.append(answer)
        return answer

    async def advance(self, name: str, seq: int) -> None:
        """Store a cursor; returns once committed. Raises JournalError."""
        batch = self._next_batch()
        batch.cursors[name] = seq
        await asyncio.shield(batch.committed)

    def passed(self, name: str, seq: int) -> None:
        """A sink has come so far: stored in the same transaction as the next events, or within SOON_S.

        Never waits, never raises: where the journal cannot be written, the cursor is stored when it can be.
        """
        if self._store is not None:
            self._passed[name] = seq
            self._write_soon()

    def keep(self, game_id: str, source: str, text: bytes, at_ms: int) -> None:
        """Keep a line of a game's stream as it came, at `at_ms` of the steady clock; empty: the stream was opened.

        It is stored in the same transaction as the next events, so never later than what came of it, or within
        SOON_S. Never waits, never raises.
        """
        if self._store is None or (self._raw_days == 0 and not source.startswith(ENGINE)):
            return
        self._raw.add(game_id, source, Line(self._now_ms(), at_ms, text))
        self._write_soon()

    def _write_soon(self) -> None:
        if self._soon is None and not self.trouble:
            self._soon = asyncio.get_running_loop().call_later(SOON_S, self._next_batch)

    async def follow(self, after: int) -> AsyncIterator[Entry]:
        """Every entry with a greater number, then the new ones as they come, where many games write a little later;
        ends when the journal is closed.

        What cannot be read is tried again, less and less often.
        """
        pauses = doubling()
        while self._store is not None:
            news = self._news
            if after >= self._last:
                await news.wait()
                if self._spacing.crowded and self._store is not None:
                    await asyncio.sleep(TOGETHER_S)
                continue
            last = self._last
            try:
                page = await self._page(after)
                pauses = doubling()
            except JournalError as error:
                log.warning("follower_waits", after=after, cause=str(error))
                await asyncio.sleep(next(pauses))
                continue
            for entry in page:
                yield entry
            # An empty page: what was there has been pruned.
            after = page[-1].seq if page else last

    async def _page(self, after: int) -> list[Entry]:
        """Some of the entries after `after`; none if all of them have been pruned."""
        recent = self._recent.after(after, PAGE)
        return await self.read(after=after, limit=PAGE) if recent is None else recent

    async def read(
        self,
        *,
        subject: str | None = None,
        types: Sequence[str] = (),
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
    ) -> list[Entry]:
        """Stored entries in order, those whose numbers lie between `after` and `before`."""
        return await self._run(self._opened().read, subject, tuple(types), after, before, limit)

    async def thoughts(self, game_id: str) -> list[bytes]:
        """The lines kept of a game from sources `engine:…`, in order; those that still wait are not there yet."""
        return await self._run(self._opened().thoughts, game_id)

    async def bury(self, sink: str, seq: int, cause: str) -> None:
        """An entry could not be delivered: it is kept for `events resend`. Raises JournalError."""
        await self._run(self._opened().bury, sink, seq, cause, self._now_ms())

    async def last_seq(self) -> int:
        """The greatest number given so far, 0 for an empty journal."""
        return self._last

    async def cursor(self, name: str) -> int:
        """How far a sink has come; 0 at first."""
        if name in self._passed:
            return self._passed[name]
        return await self._run(self._opened().cursor, name)

    @property
    def seq(self) -> int:
        """The greatest number given so far."""
        return self._last

    @property
    def damaged(self) -> bool:
        """Whether the file is no sound database; `trouble` says so."""
        return bool(self._damage)

    @property
    def waiting(self) -> int:
        """How many appends wait for the next transaction."""
        return 0 if self._waiting is None else len(self._waiting.appends)

    async def close(self, *, at_once: bool = False) -> None:
        """Write what is waiting, end the followers and let go of the file.

        `at_once`: a program that holds the file is not waited for, and what waits for it is not stored.
        """
        if at_once and self._store is not None:
            self._store.hurry()
        for chore in (self._sweeping, self._looking, self._probing, self._soon):
            if chore is not None:
                chore.cancel()
        if (self._raw or self._passed) and self._store is not None and not self.trouble:
            self._next_batch()
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
            self._waiting.committed = asyncio.create_task(
                self._commit(store, self._waiting), context=self._context.copy()
            )
            self._waiting.committed.add_done_callback(self._waiting.tell)
        return self._waiting

    async def _commit(self, store: Store, batch: _Batch) -> list[list[Entry]]:
        async with self._writing:
            await self._spaced(batch)
            self._waiting = None
            if self._soon is not None:
                self._soon.cancel()
                self._soon = None
            blocks, passed = self._raw.blocks(), dict(self._passed)
            cursors = {**passed, **batch.cursors}
            try:
                if self._damage:
                    raise JournalDamaged(self._damage)
                stored = await self._run(store.write, batch.appends, cursors, blocks, self._now_ms())
            except JournalError as error:
                self._fails(str(error))
                raise
            self._raw.stored(blocks)
            self._passed = {name: seq for name, seq in self._passed.items() if passed.get(name) != seq}
            self._succeeds()
            for rows, entries in zip(batch.appends, stored, strict=True):
                self._recent.add(entries, max((len(row.data) for row in rows), default=0))
            last = next((entries[-1].seq for entries in reversed(stored) if entries), None)
            if last is not None:
                self._last = last
                self._news.set()
                self._news = asyncio.Event()
            return stored

    async def _spaced(self, batch: _Batch) -> None:
        """What comes meanwhile goes into the same transaction; not once the journal closes."""
        loop = asyncio.get_running_loop()
        wait_s = self._spacing.wait_s(loop.time())
        if wait_s and self._store is not None:
            await asyncio.sleep(wait_s)
        self._spacing.begins(loop.time(), (row.draft.subject for rows in batch.appends for row in rows))

    # -- trouble and chores --------------------------------------------------------------------------------------

    async def works(self) -> None:
        """Wait until there is no trouble."""
        await self._no_trouble.wait()

    def _fails(self, cause: str) -> None:
        if not self.trouble:
            self._context.copy().run(log.error, "journal_fails", cause=cause)
            self._probing = asyncio.create_task(self._probe(), context=self._context.copy())
        self.trouble = cause
        self._no_trouble.clear()

    def _succeeds(self) -> None:
        if self.trouble:
            log.info("journal_works_again")
            self.trouble = ""
            self._no_trouble.set()

    async def _probe(self) -> None:
        """Try whether the trouble is over, with what waits or with a write that changes nothing."""
        pauses = doubling()
        while self.trouble:
            await asyncio.sleep(next(pauses))
            if self._damage and self._store is not None:
                await self._check(self._store)
            with suppress(JournalError):  # `trouble` has it
                await asyncio.shield(self._next_batch().committed)

    async def _look(self, store: Store) -> None:
        """What is read and written again and again is kept in memory: damage elsewhere would be found too late."""
        loop, pause_s = asyncio.get_running_loop(), LOOK_S
        while True:
            await asyncio.sleep(pause_s)
            begun_s = loop.time()
            await self._check(store)
            pause_s = max(LOOK_S, LOOK_SHARE * (loop.time() - begun_s))

    async def _check(self, store: Store) -> None:
        """In a thread of its own: no commit waits for it."""
        try:
            await asyncio.to_thread(store.check)
        except JournalDamaged as error:
            self._damaged(str(error))
        except JournalError as error:
            log.info("journal_not_looked_at", cause=str(error))
        else:
            self._damage = ""

    def _damaged(self, cause: str) -> None:
        if self._store is not None:
            self._damage = cause
            self._fails(cause)

    async def _sweep(self, store: Store) -> None:
        """Every hour: raw lines that are too old go, and games that are over take less room."""
        while True:
            now_ms = self._now_ms()
            # A day at least: what engines thought of a running game is kept also where the platform's lines are not.
            before_ms, quiet_ms = now_ms - max(1, self._raw_days) * DAY_MS, now_ms - DAY_MS // 24
            try:
                more = True
                while more:
                    more = await self._run(store.sweep, before_ms=before_ms, quiet_ms=quiet_ms)
                    await asyncio.sleep(0.1)
            except JournalError as error:
                log.warning("journal_not_swept", cause=str(error))
            self._raw.forget(quiet_ms)
            await asyncio.sleep(SWEEP_S)

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: call(*args, **kwargs))
        except JournalDamaged as error:
            self._damaged(str(error))
            raise
