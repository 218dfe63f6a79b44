"""From a `watch:` entry of the settings to the games it means."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Protocol, TypeAlias

import structlog

from bridge.decisions.pool_choice import parse_time_control
from bridge.errors import Refused
from bridge.first_answer import first_answer
from bridge.interfaces import (
    AccountEvent,
    Connected,
    Disconnected,
    GameInfo,
    GameMessage,
    GameStarted,
    Platform,
    Player,
)
from bridge.settings.watch import WatchAccount, WatchEntry, WatchGame, WatchGames, WatchTv, WatchUser
from bridge.source import Source
from bridge.watch_list import Listing, WatchList
from bridge.watching import Subject, Watchers, own_board, spectator

log = structlog.get_logger("kirichess_watch")


class Watchable(Platform, Listing, Protocol):
    """A platform whose games can be found and read without playing them."""

    @property
    def url(self) -> str:
        """The server's address."""
        ...

    async def ping(self) -> None:
        """Raises Unreachable at once when nobody answers."""
        ...

    def game(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """A game of this bot account."""
        ...

    def spectate(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """Anybody's game, as spectators see it."""
        ...

    def board_game(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """A game of this account, which is no bot: read only, exact and undelayed."""
        ...

    def user_games(self, name: str) -> AsyncGenerator[str | Connected | Disconnected]:
        """Ids of the games somebody plays, for ever. Raises Refused when there is no such user."""
        ...

    def tv_games(self, channel: str) -> AsyncGenerator[str | Connected | Disconnected]:
        """Ids of the games a TV channel turns to, for ever. Raises Refused when there is no such channel."""
        ...


Run: TypeAlias = Callable[[Watchers], Coroutine[object, object, None]]
SourceOf: TypeAlias = Callable[[str], Source]


async def open_watch(
    entry: WatchEntry,
    platform: Watchable,
    seats: asyncio.Semaphore,
    plays: Callable[[Player], bool],
    source_of: SourceOf,
) -> Run:
    """Look whether the entry can be followed; what comes back follows it.

    `seats`: what one address may read as spectators do, at a time; `plays` tells the accounts that play here: they
    record their games themselves, and a second reader of their streams would end the first. `source_of`: who keeps
    whether an account, a user or a channel is there, by its name.

    Raises:
        PlatformError: the server is not there.
        UsageError: the account's token is not valid.
    """
    name, ways = _name(entry), [spectator(partial(_spectate, platform, seats))]
    if isinstance(entry, WatchAccount):
        me = await first_answer(platform.url, platform.account)
        if plays(me):
            log.warning("watch_left_out", account=me.name, cause="it plays here, so its games are recorded anyway")
            return _nothing
        name = me.name
        ways.insert(0, own_board(platform.game if me.is_bot else platform.board_game))
    else:
        await first_answer(platform.url, platform.ping)
    asked_for = _filter(entry)

    def wanted(info: GameInfo) -> bool:
        return asked_for(info) and not (plays(info.white) or plays(info.black))

    if isinstance(entry, WatchGames):
        return WatchList(entry.games, platform, entry.ruleset(), wanted, seats).run
    subject = Subject(platform.finished, ways, entry.ruleset(), wanted)
    if isinstance(entry, WatchGame):
        return lambda watchers: watchers.follow(entry.game[:8], subject)
    return partial(_follow_each, entry, platform, source_of(name), subject)


def _name(entry: WatchEntry) -> str:
    match entry:
        case WatchUser():
            return f"user:{entry.user}"
        case WatchTv():
            return f"tv:{entry.tv}"
    return ""


async def _spectate(platform: Watchable, seats: asyncio.Semaphore, game_id: str) -> AsyncGenerator[GameMessage]:
    async with seats, aclosing(platform.spectate(game_id)) as messages:
        async for message in messages:
            yield message


async def _nothing(watchers: Watchers) -> None:
    """There is nothing to follow."""


async def _follow_each(
    entry: WatchEntry, platform: Watchable, source: Source, subject: Subject, watchers: Watchers
) -> None:
    match entry:
        case WatchUser():
            await watchers.follow_each(source.heard(platform.user_games(entry.user)), subject)
        case WatchTv():
            await watchers.follow_each(source.heard(_channel(platform, entry.tv)), subject)
        case WatchAccount():
            await watchers.follow_each(_started(source.heard(platform.account_events())), subject)


def _filter(entry: WatchEntry) -> Callable[[GameInfo], bool]:
    if not isinstance(entry, WatchUser):
        return lambda info: True
    control = parse_time_control(entry.time_control) if entry.time_control is not None else None
    rated = entry.rated
    return lambda info: (control is None or info.time_control == control) and (rated is None or info.rated == rated)


async def _channel(platform: Watchable, channel: str) -> AsyncGenerator[str | Connected | Disconnected]:
    try:
        async with aclosing(platform.tv_games(channel)) as messages:
            async for message in messages:
                yield message
    except Refused as error:
        raise Refused(f"{platform.url} has no TV channel {channel} ({error})", status=error.status) from None


async def _started(messages: AsyncGenerator[AccountEvent]) -> AsyncGenerator[str]:
    async with aclosing(messages) as events:
        async for event in events:
            if isinstance(event, GameStarted):
                yield event.game_id
