"""The composition root: settings in, a running bridge out. The only place that names concrete adapters."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from importlib.metadata import version

import structlog

from bridge import machine
from bridge.account_engines import AccountEngines, chooser, table_options
from bridge.clocks import steady_ms, wall_ms
from bridge.controls import DaemonControls
from bridge.conversation import Speech, Titles
from bridge.engine_budget import EngineBudget
from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec
from bridge.errors import BridgeError, PlatformError, UsageError
from bridge.feed import Feed
from bridge.first_answer import first_answer
from bridge.forgetting import forget_oldest
from bridge.hooks import sinks_of
from bridge.interfaces import MoveSource, Player, Sink
from bridge.journal import SqlJournal
from bridge.journal.place import beside
from bridge.late_archive import LateArchive
from bridge.lobby import Lobby
from bridge.metrics import Metrics, Now
from bridge.move_sources import open_sources
from bridge.name_lists import NameLists
from bridge.now import now
from bridge.platforms.lichess.platform import Lichess
from bridge.platforms.lichess.timings import Timings
from bridge.play_permit import require_permit
from bridge.rules.snapshot import TimeControl
from bridge.seeking import Seeking
from bridge.session import BotAccount, PlayStyle, Session
from bridge.settings.models import Account, Settings
from bridge.settings.play import Play
from bridge.settings.template import token_link
from bridge.settings.watch import WatchAccount, WatchEntry
from bridge.source import Source
from bridge.tracker import Tracker
from bridge.watch_entries import Run, open_watch
from bridge.watching import Watchers
from bridge.web import Monitor, StatusReport, Stream, create_monitor

log = structlog.get_logger("kirichess_daemon")

_VERSION = version("kirichess-bridge")  # from a file, which may not be read while too many are open

_SPECTATOR_STREAMS = 8
"""What Lichess lets one address open at a time (Lichess API, limits)."""

_FLUSH_S = 5.0

_REMEMBERED = 10_000
"""Games of which is known who recorded them; far more than can be running."""


class Daemon:
    """Plays with its accounts and watches what the settings name, until told to drain or until there is no more to do.

    `sinks`: more followers of the journal (the terminal). `think_cap_ms` bounds every search, for demonstrations;
    `timings` are those of every platform.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        sinks: Sequence[Sink] = (),
        think_cap_ms: int | None = None,
        timings: Timings = Timings(),  # noqa: B008 a frozen value
    ) -> None:
        self._settings = settings
        self._sinks = sinks
        self._think_cap_ms = think_cap_ms
        self._timings = timings
        self._journal = SqlJournal(settings.journal.url, raw_days=settings.journal.raw_days)
        self._lists = NameLists(beside(settings.journal.url, "lists"))
        self._metrics = Metrics(self._now)
        self._engines = AccountEngines(settings, build_engine)
        self._draining = asyncio.Event()
        self._platforms: list[Lichess] = []
        self._lobbies: list[tuple[Account, Lobby]] = []
        self._seeking: list[Seeking] = []
        self._engine_budget = EngineBudget(settings.engine_limits.budget)
        self._feeds: list[Feed] = []
        self._sources: dict[str, Source] = {}
        self._started_ms = steady_ms()
        self._recorded: dict[str, str] = {}
        self._spectators = asyncio.Semaphore(_SPECTATOR_STREAMS)
        self._watchers = Watchers(self._journal, steady_ms)
        self._controls = DaemonControls(
            self._journal, self._playing, lambda: self._platforms, self.drain, lambda: self.reread
        )
        self.monitor: Monitor | None = None
        self.reread: Callable[[], None] | None = None
        self.ready = asyncio.Event()

    @property
    def plays(self) -> bool:
        """Whether it has games to finish, or could have."""
        return bool(self._lobbies)

    @property
    def alive(self) -> bool:
        """Whether each account's stream is read, or opened again in time; a server that is gone is no fault of ours."""
        return all(platform.alive for platform in self._platforms)

    @property
    def summary(self) -> str:
        """One line: what it does now."""
        report = self.status()
        games = sum(len(lobby.games) for _, lobby in self._lobbies)
        lost = [f"{stream.name}: {stream.detail}" for stream in report.streams if not stream.alive]
        parked = sum(len(lobby.parked) for _, lobby in self._lobbies)
        state = "draining" if report.draining else "running" if report.ready else "starting"
        beside = [f"by correspondence: {parked}"] if parked else []
        return "; ".join([f"{state}, games: {games}", *beside, *lost])

    def drain(self) -> None:
        """Take no more games; `run` returns when the running ones are over, after `drain_s` at the latest."""
        self._draining.set()
        for seeking in self._seeking:
            seeking.drain()

    async def run(self) -> None:
        """Work until drained, or until every game that was named is judged.

        Raises:
            UsageError: an account, engine or port cannot do what the settings want; nothing was played yet.
            BridgeError: what failed while running.
        """
        if not self._settings.watch and not any(account.play for account in self._settings.accounts):
            raise UsageError("nothing to do: give an account a `play:` section, or name games to `watch:`")
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._journal)
            stack.push_async_callback(self._engines.close)
            platforms = [await self._open(account, stack) for account in self._settings.accounts]
            await self._open_lobbies(platforms, stack)
            stack.push_async_callback(_cancelled, asyncio.create_task(self._lists.run()))
            for seeking in self._seeking:
                seeking.start(stack)
            watches = await self._open_watches(platforms, stack)
            self._feeds = await self._open_feeds(stack)
            judge = partial(self._controls.adjudicate, why="once the archive answered")
            late = LateArchive(self._journal, judge, wall_ms)
            stack.push_async_callback(_cancelled, asyncio.create_task(late.run()))
            await self._open_monitor(stack)
            self.ready.set()
            work = [lobby.run() for _, lobby in self._lobbies]
            try:
                await self._until_done(work, [watch(self._watchers) for watch in watches])
            except BridgeError:
                await self._flush(self._feeds)
                raise
            finally:
                await self._watchers.stop()
            await self._flush(self._feeds)

    # -- opening -------------------------------------------------------------------------------------------------

    async def _open(self, account: Account, stack: AsyncExitStack) -> Lichess:
        token = account.token.get_secret_value() if account.token is not None else ""
        platform = Lichess(account.url, token, timings=self._timings, keep=self._journal.keep)
        stack.push_async_callback(platform.close)
        self._platforms.append(platform)
        return platform

    async def _open_lobbies(self, platforms: Sequence[Lichess], stack: AsyncExitStack) -> None:
        for account, platform in zip(self._settings.accounts, platforms, strict=True):
            if account.play is not None:
                me = await first_answer(platform.url, platform.account)
                if not me.is_bot:
                    raise UsageError(
                        f"the account {me.name} has no title BOT, so it cannot play by engine; "
                        "`kirichess-bridge account upgrade` makes it one, for good"
                    )
                await require_permit(me.name, platform.token_facts, token_link(platform.url), wall_ms)
                await self._engines.try_all(account.play)
                sources = open_sources(account.play, me.name)
                stack.push_async_callback(sources.close)
                self._lobbies.append((account, self._lobby(me, account.play, platform, sources or None)))

    def _lobby(self, me: Player, play: Play, platform: Lichess, source: MoveSource | None) -> Lobby:
        bot = BotAccount(
            name=me.name,
            platform=platform,
            journal=self._journal,
            style=self._style(play),
            new_engine=partial(self._engines.lend, me.name, table_options(play)),
            new_fallback=partial(build_engine, EngineSpec("kiri", builtin=True)),
            wall_ms=wall_ms,
            measures=self._metrics.measures,
            titles=Titles(platform.title_of),
            source=source,
            choose_engine=chooser(play),
            queued=lambda: lobby.doorkeeper.queued,
        )
        policy = play.challenge.policy(play.concurrency)
        pool_of, session = play.pools.choose, partial(self._session, bot)
        lobby = Lobby(bot, policy, pool_of, session, lists=self._lists, is_ours=self._is_ours)
        self._engine_budget.share(lobby.slots, self._engines.cost(play), lobby.doorkeeper.admit)
        self._seeking.append(Seeking(bot, lobby, platform.pairing, play, self._lists, self._ours))
        return lobby

    def _style(self, play: Play) -> PlayStyle:
        return PlayStyle(
            choose_rules=play.ruleset,
            overhead_ms=play.move_overhead,
            abort_ms=play.abort_time * 1000,
            speech=_speech(play),
            resign=play.draw_or_resign.resign,
            draw=play.draw_or_resign.draw,
            think_cap_ms=self._think_cap_ms,
            rulesets=play.rulesets,
            takebacks=play.max_takebacks_accepted,
            variants=play.challenge.variants,
            controls=[_label(control) for control in play.pool_clocks],
            first_move_percent=play.first_move_percent,
            days=play.correspondence.terms,
        )

    def reload(self, settings: Settings) -> None:
        """Let other policy count from the next decision on; whoever calls has seen to it that nothing else differs."""
        self._settings = settings
        self._engine_budget.budget = settings.engine_limits.budget
        self._engines.set_limits(settings.engine_limits)
        playing = [account for account in settings.accounts if account.play is not None]
        lobbies = self._playing()
        self._lobbies = list(zip(playing, lobbies, strict=True))
        for account, lobby, seeking in zip(playing, lobbies, self._seeking, strict=True):
            if (play := account.play) is not None:
                session = partial(self._session, replace(lobby.bot, style=self._style(play)))
                lobby.set_policy(play.challenge.policy(play.concurrency), play.pools.choose, session)
                lobby.check_ins.terms = play.correspondence.terms
                seeking.set(play)

    def _playing(self) -> list[Lobby]:
        return [lobby for _, lobby in self._lobbies]

    def _ours(self) -> frozenset[str]:
        return frozenset(platform.name.lower() for platform in self._platforms if platform.name)

    def _is_ours(self, player: Player) -> bool:
        return player.id in self._ours()

    def _session(self, bot: BotAccount, game_id: str) -> Session:
        return Session(game_id, bot, self._tracker(game_id, bot.name))

    def _tracker(self, game_id: str, account: str) -> Tracker:
        """Two accounts of one configuration can meet in a game; it is recorded once, by the first to open it."""
        records = self._recorded.setdefault(game_id, account) == account
        forget_oldest(self._recorded, _REMEMBERED)
        return Tracker(game_id, account, self._journal, steady_ms, records=records)

    async def _open_feeds(self, stack: AsyncExitStack) -> list[Feed]:
        feeds = [Feed(self._journal, sink) for sink in (*sinks_of(self._settings, self._journal), *self._sinks)]
        for feed in feeds:
            # A new sink begins at the journal's end: it must have looked before anything is written.
            await feed.open()
            stack.push_async_callback(_cancelled, asyncio.create_task(feed.run()))
        return feeds

    async def _open_monitor(self, stack: AsyncExitStack) -> None:
        settings = self._settings.monitor
        if settings is None:
            return
        token = settings.token.get_secret_value() if settings.token is not None else None
        self.monitor = Monitor(settings.listen, token, hosts=settings.hosts, language=settings.language)
        stack.push_async_callback(_cancelled, asyncio.create_task(self._metrics.follow(self._journal)))
        app = create_monitor(
            self._journal,
            self.status,
            metrics=self._metrics.expose,
            language=settings.language,
            controls=self._controls if settings.control else None,
        )
        await self.monitor.start(app)
        stack.push_async_callback(self.monitor.stop)

    # -- watching ------------------------------------------------------------------------------------------------

    async def _open_watches(self, platforms: Sequence[Lichess], stack: AsyncExitStack) -> list[Run]:
        opened = []
        for entry in self._settings.watch:
            platform = await self._watched_through(entry, platforms, stack)
            opened.append(await open_watch(entry, platform, self._spectators, self._plays, self._source))
        return opened

    async def _watched_through(self, entry: WatchEntry, platforms: Sequence[Lichess], stack: AsyncExitStack) -> Lichess:
        """An entry's own account, else the first account's server, or Lichess without an account."""
        if not isinstance(entry, WatchAccount):
            return platforms[0] if platforms else await self._open(Account(platform="lichess"), stack)
        for account, platform in zip(self._settings.accounts, platforms, strict=True):
            if entry.account in ("me", account.name):
                return platform
        raise UsageError(f"watch: no account is named {entry.account!r}")

    def _source(self, name: str) -> Source:
        """Several entries can have games of one user or channel."""
        return self._sources.setdefault(name, Source(name, self._journal))

    def _plays(self, player: Player) -> bool:
        return player.id in {lobby.name.lower() for _, lobby in self._lobbies}

    # -- running and ending --------------------------------------------------------------------------------------

    async def _until_done(
        self, work: Sequence[Coroutine[object, object, None]], watches: Sequence[Coroutine[object, object, None]]
    ) -> None:
        """Until drained or all is done. A lobby's fault ends everything, a watch's fault only what it followed."""
        watching = [asyncio.create_task(_told_alone(watch, len(watches) > 1)) for watch in watches]
        running = {*(asyncio.create_task(job) for job in work), *watching}
        draining = asyncio.create_task(self._draining.wait())
        everything = (draining, *running)
        try:
            while running and not draining.done():
                done, _ = await asyncio.wait({*running, draining}, return_when=asyncio.FIRST_COMPLETED)
                running -= done
                for task in done - {draining, *watching}:
                    task.result()
            if draining.done():
                await self._drained(running - set(watching))
        finally:
            await _cancelled(*everything)
        if not self._draining.is_set():
            _raise_failed(watching)

    async def _drained(self, lobbies: "set[asyncio.Task[None]]") -> None:
        """Until the running games are over, or have had their time: then they are left to the next start."""
        drained = asyncio.create_task(self._games_over())
        wait_s = self._settings.drain_s
        try:
            done, _ = await asyncio.wait({drained, *lobbies}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if not done:
                games = [game for _, lobby in self._lobbies for game in lobby.unfinished]
                log.warning("games_left_to_the_next_start", games=games, cause=f"not over within {wait_s} s")
        finally:
            await _cancelled(drained)

    async def _games_over(self) -> None:
        await asyncio.gather(*(lobby.drain() for _, lobby in self._lobbies))

    async def _flush(self, feeds: Sequence[Feed]) -> None:
        """Let the sinks come to the end of the journal, for a little while."""
        last = await self._journal.last_seq()
        try:
            async with asyncio.timeout(_FLUSH_S):
                for feed in feeds:
                    await feed.reached(last)
        except TimeoutError:
            # What is left is delivered after the next start, from the stored cursor.
            log.warning("sinks_behind", sinks=[feed.name for feed in feeds if feed.seq < last])

    def status(self) -> StatusReport:
        """What the daemon does now, for `/status` and `/healthz`."""
        accounts = [Stream(lobby.name, lobby.online, lobby.trouble) for _, lobby in self._lobbies]
        accounts += [Stream(source.name, source.online, source.trouble) for source in self._sources.values()]
        sinks = [Stream(feed.name, not feed.cause, feed.cause, vital=False) for feed in self._feeds]
        # A restart would lose what games keep in memory until the journal works again; damage is there to stay.
        trouble, damaged = self._journal.trouble, self._journal.damaged
        journal = Stream("journal", not trouble, trouble, vital=damaged)
        return StatusReport(
            version=_VERSION,
            up_ms=steady_ms() - self._started_ms,
            ready=self.ready.is_set(),
            draining=self._draining.is_set(),
            streams=(*accounts, journal, *sinks),
        )

    def _now(self) -> Now:
        return now(self.status(), self._platforms, self._playing(), self._feeds, self._journal)


async def _told_alone(watch: Coroutine[object, object, None], beside_others: bool) -> None:
    """What fails beside others is told when it happens: they may go on for ever."""
    try:
        await watch
    except BridgeError as error:
        if beside_others:
            log.error("watch_failed", cause=str(error))
        raise


def _raise_failed(watching: Sequence["asyncio.Task[None]"]) -> None:
    failed = [error for task in watching if (error := task.exception()) is not None]
    if len(watching) > 1 and failed and all(isinstance(error, BridgeError) for error in failed):
        raise PlatformError(f"{len(failed)} of {len(watching)} could not be followed to the end")
    if failed:
        raise failed[0]


async def _cancelled(*tasks: asyncio.Task[object]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _label(control: TimeControl) -> str:
    return f"{control.initial_ms / 60_000:g}+{control.increment_ms // 1000}"


def _speech(play: Play) -> Speech:
    if isinstance(play.greeting, bool):
        return Speech(play.language, pool_told=play.greeting)
    own = play.greeting
    lines = (own.hello, own.goodbye, own.hello_spectators, own.goodbye_spectators)
    return Speech(play.language, own.pool, *lines, machine.cpu(), machine.ram())
