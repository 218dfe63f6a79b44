"""The composition root: settings in, a running bridge out. The only place that names concrete adapters."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import partial
from importlib.metadata import version
from pathlib import Path

import structlog

from bridge.decisions.challenge import ChallengePolicy
from bridge.decisions.pool_choice import choose_pool, parse_time_control
from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec
from bridge.errors import BridgeError, UsageError
from bridge.feed import Feed
from bridge.interfaces import GameInfo, GameStarted, Player, Sink
from bridge.journal import SqlJournal
from bridge.lobby import Lobby
from bridge.platforms.lichess.platform import Lichess
from bridge.rules.pools import Ruleset
from bridge.session import BotAccount, PlayStyle, Session
from bridge.settings.engines import EngineSettings
from bridge.settings.models import Account, Settings
from bridge.settings.play import Play
from bridge.settings.watch import WatchAccount, WatchEntry, WatchGame, WatchTv, WatchUser
from bridge.sinks.pgn import PgnFolder
from bridge.sinks.webhook import Webhook
from bridge.tracker import Tracker
from bridge.watching import OWN_BOARD, SPECTATOR, Source, WatchedGame
from bridge.web import Monitor, StatusReport, Stream, create_monitor

log = structlog.get_logger("kirichess_daemon")

_SPECTATOR_STREAMS = 8
"""What Lichess lets one address open at a time (Lichess API, limits)."""

_FLUSH_S = 5.0


def steady_ms() -> int:
    """A clock that never jumps."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """The date, as milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Daemon:
    """Plays with its accounts and watches what the settings name, until told to drain or until there is no more to do.

    `sinks`: more followers of the journal (the terminal). `think_cap_ms` bounds every search, for demonstrations.
    """

    def __init__(self, settings: Settings, *, sinks: Sequence[Sink] = (), think_cap_ms: int | None = None) -> None:
        self._settings = settings
        self._sinks = sinks
        self._think_cap_ms = think_cap_ms
        self._journal = SqlJournal(settings.journal.url)
        self._draining = asyncio.Event()
        self._lobbies: list[tuple[Account, Lobby]] = []
        self._feeds: list[Feed] = []
        self._started_ms = steady_ms()
        self._recorded: dict[str, str] = {}
        self._spectators = asyncio.Semaphore(_SPECTATOR_STREAMS)
        self._watched: set[asyncio.Task[None]] = set()
        self.monitor: Monitor | None = None
        self.ready = asyncio.Event()

    def drain(self) -> None:
        """Take no more games; `run` returns when the running ones are over."""
        self._draining.set()

    async def run(self) -> None:
        """Work until drained, or until every game that was named is judged.

        Raises:
            UsageError: an account, engine or port cannot do what the settings want; nothing was played yet.
            BridgeError: what failed while running.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._journal)
            platforms = [await self._open(account, stack) for account in self._settings.accounts]
            work = [lobby.run() for _, lobby in await self._open_lobbies(platforms)]
            work += [self._watch(entry, platforms, stack) for entry in self._settings.watch]
            self._feeds = await self._open_feeds(stack)
            await self._open_monitor(stack)
            self.ready.set()
            await self._until_done([asyncio.create_task(job) for job in work])
            await self._flush(self._feeds)

    # -- opening -------------------------------------------------------------------------------------------------

    async def _open(self, account: Account, stack: AsyncExitStack) -> Lichess:
        token = account.token.get_secret_value() if account.token is not None else ""
        platform = Lichess(account.url, token)
        stack.push_async_callback(platform.close)
        return platform

    async def _open_lobbies(self, platforms: Sequence[Lichess]) -> list[tuple[Account, Lobby]]:
        for account, platform in zip(self._settings.accounts, platforms, strict=True):
            if account.play is not None:
                me = await platform.account()
                if not me.is_bot:
                    raise UsageError(
                        f"the account {me.name} has no title BOT, so it cannot play by engine; "
                        "`kirichess-bridge account upgrade` makes it one, for good"
                    )
                self._lobbies.append((account, self._lobby(me, account.play, platform)))
        return self._lobbies

    def _lobby(self, me: Player, play: Play, platform: Lichess) -> Lobby:
        spec = engine_spec(self._settings.engines[play.engine])
        style = PlayStyle(
            choose_rules=play.ruleset,
            overhead_ms=play.move_overhead,
            abort_ms=play.abort_time * 1000,
            greeting=play.greeting,
            think_cap_ms=self._think_cap_ms,
        )
        bot = BotAccount(
            name=me.name,
            platform=platform,
            journal=self._journal,
            style=style,
            new_engine=partial(build_engine, spec),
            new_fallback=partial(build_engine, EngineSpec("kiri")),
        )
        policy = ChallengePolicy(
            variants=frozenset(play.challenge.variants),
            accept_bots=play.challenge.accept_bot,
            accept_humans=not play.challenge.only_bot,
            concurrency=play.concurrency,
        )
        return Lobby(bot, policy, partial(choose_pool, play.pools), partial(self._session, bot), wall_ms)

    def _session(self, bot: BotAccount, game_id: str) -> Session:
        return Session(game_id, bot, self._tracker(game_id, bot.name))

    def _tracker(self, game_id: str, account: str, source: Source = OWN_BOARD) -> Tracker:
        """Two accounts of one configuration can meet in a game; it is recorded once, by the first to open it."""
        journal = self._journal if self._recorded.setdefault(game_id, account) == account else None
        return Tracker(game_id, account, journal, steady_ms, undelayed=source.undelayed)

    async def _open_feeds(self, stack: AsyncExitStack) -> list[Feed]:
        hooks = [
            Webhook(hook.url, hook.secret.get_secret_value() if hook.secret else None, hook.events)
            for hook in self._settings.webhooks
        ]
        folders = [PgnFolder(Path(self._settings.pgn.folder))] if self._settings.pgn is not None else []
        every: list[Sink] = [*hooks, *folders, *self._sinks]
        feeds = [Feed(self._journal, sink) for sink in every]
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
        self.monitor = Monitor(settings.listen, token)
        await self.monitor.start(create_monitor(self._journal, self.status))
        stack.push_async_callback(self.monitor.stop)

    # -- watching ------------------------------------------------------------------------------------------------

    async def _watch(self, entry: WatchEntry, platforms: Sequence[Lichess], stack: AsyncExitStack) -> None:
        rules = entry.ruleset()
        match entry:
            case WatchGame():
                platform = await self._public(platforms, stack)
                await self._watch_game(entry.game[:8], platform, rules, SPECTATOR)
            case WatchUser():
                platform = await self._public(platforms, stack)
                await self._watch_games(platform.user_games(entry.user), platform, rules, _wanted(entry))
            case WatchTv():
                platform = await self._public(platforms, stack)
                await self._watch_games(platform.tv_games(entry.tv), platform, rules)
            case WatchAccount():
                platform = self._account_of(entry, platforms)
                await self._watch_games(_started(platform), platform, rules, source=OWN_BOARD)

    async def _watch_games(
        self,
        ids: AsyncGenerator[str],
        platform: Lichess,
        rules: Ruleset,
        wanted: Callable[[GameInfo], bool] = lambda info: True,
        source: Source = SPECTATOR,
    ) -> None:
        async with aclosing(ids):
            async for game_id in ids:
                if game_id not in self._recorded:
                    job = self._watch_game(game_id, platform, rules, source, wanted)
                    task = asyncio.create_task(job)
                    self._watched.add(task)
                    task.add_done_callback(self._watched.discard)

    async def _watch_game(
        self,
        game_id: str,
        platform: Lichess,
        rules: Ruleset,
        source: Source,
        wanted: Callable[[GameInfo], bool] = lambda info: True,
    ) -> None:
        stream = platform.board_game if source is OWN_BOARD else platform.spectate
        tracker = self._tracker(game_id, "", source)
        game = WatchedGame(game_id, platform, stream, tracker, rules, source, wanted)
        if source is OWN_BOARD:
            await _survives(game)
        else:
            async with self._spectators:
                await _survives(game)

    async def _public(self, platforms: Sequence[Lichess], stack: AsyncExitStack) -> Lichess:
        """What games are watched through: the first account's server, or Lichess without an account."""
        return platforms[0] if platforms else await self._open(Account(platform="lichess"), stack)

    def _account_of(self, entry: WatchAccount, platforms: Sequence[Lichess]) -> Lichess:
        for account, platform in zip(self._settings.accounts, platforms, strict=True):
            if entry.account in ("me", account.name):
                return platform
        raise UsageError(f"watch: no account is named {entry.account!r}")

    # -- running and ending --------------------------------------------------------------------------------------

    async def _until_done(self, work: Sequence[asyncio.Task[None]]) -> None:
        draining = asyncio.create_task(self._draining.wait())
        try:
            running = {*work}
            while running and not draining.done():
                done, _ = await asyncio.wait({*running, draining}, return_when=asyncio.FIRST_COMPLETED)
                running -= done
                for task in done & {*work}:
                    task.result()
            if draining.done():
                await asyncio.gather(*(lobby.drain() for _, lobby in self._lobbies))
            elif self._watched:
                await asyncio.wait(self._watched)
        finally:
            await _cancelled(draining, *work, *self._watched)

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
        sinks = [Stream(feed.name, not feed.cause, feed.cause, vital=False) for feed in self._feeds]
        return StatusReport(
            version=version("kirichess-bridge"),
            up_ms=steady_ms() - self._started_ms,
            ready=self.ready.is_set(),
            draining=self._draining.is_set(),
            streams=(*accounts, *sinks),
        )


def engine_spec(settings: EngineSettings) -> EngineSpec:
    """What `build_engine` reads, from a section of the settings."""
    given = settings.model_dump()
    return EngineSpec(**given)


def _wanted(entry: WatchUser) -> Callable[[GameInfo], bool]:
    control = parse_time_control(entry.time_control) if entry.time_control is not None else None

    def wanted(info: GameInfo) -> bool:
        return (control is None or info.time_control == control) and (entry.rated is None or info.rated == entry.rated)

    return wanted


async def _started(platform: Lichess) -> AsyncGenerator[str]:
    async for event in platform.account_events():
        if isinstance(event, GameStarted):
            yield event.game_id


async def _survives(game: WatchedGame) -> None:
    """One watched game's fault must not end the others."""
    try:
        await game.run()
    except BridgeError as error:
        log.error("game_failed", game=game.game_id, cause=str(error))
    except Exception:
        log.exception("game_crashed", game=game.game_id)


async def _cancelled(*tasks: asyncio.Task[object]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
