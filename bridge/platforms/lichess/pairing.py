"""How an account of Lichess comes to games: online bots, challenges of its own, arenas (API §1.2, §1.6, §1.7)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeVar

import berserk
from pydantic import BeforeValidator, Field

from bridge.pairing import ArenaEvent, ArenaStatus, RatedBot
from bridge.platforms.lichess.gate import Lane
from bridge.platforms.lichess.shapes import Flag, Shape, Text, Word, check
from bridge.rules.snapshot import TimeControl

T = TypeVar("T")

_MOST_BOTS = 512

_STATUS: Mapping[object, ArenaStatus] = {10: "created", 20: "started", 30: "finished"}


class Ask(Protocol):
    """One request through berserk, past the account's gate."""

    async def __call__(self, kind: str, ask: Callable[[berserk.Client], T], lane: Lane = Lane.POLL) -> T: ...


class PerfShape(Shape):
    rating: int | None = None
    games: int = 0


class BotShape(Shape):
    """Perfs that are no ratings (puzzle runs) have none."""

    id: str
    perfs: dict[str, PerfShape] = Field(default_factory=dict)
    blocking: Flag = False


class PresenceShape(Shape):
    online: Flag = False
    playing: Annotated[bool, BeforeValidator(bool)] = False


class ArenaClock(Shape):
    limit: int = 0
    increment: int = 0


class ArenaShape(Shape):
    """`status` is a number in lists, absent from the page of one tournament: there flags say it."""

    id: str
    full_name: Text = Field(default="", alias="fullName")
    status: int | None = None
    seconds_to_start: int = Field(default=0, alias="secondsToStart")
    is_started: Flag = Field(default=False, alias="isStarted")
    is_finished: Flag = Field(default=False, alias="isFinished")
    bots_allowed: bool | None = Field(default=None, alias="botsAllowed")
    clock: ArenaClock | None = None
    variant: Word = "standard"
    rated: Flag = False


class LichessPairing:
    """`Pairing` by Lichess's API."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def me(self) -> RatedBot:
        """Raises PlatformError."""
        return to_bot(await self._ask("account", lambda api: api.account.get()))

    async def online_bots(self) -> Sequence[RatedBot]:
        """Raises PlatformError."""
        found = await self._ask("online", lambda api: list(api.bots.get_online_bots(limit=_MOST_BOTS)))
        return [to_bot(bot) for bot in found]

    async def is_free(self, name: str) -> bool:
        """Raises PlatformError; Refused: there is no such user."""
        found = await self._ask("status", lambda api: api.users.get_realtime_statuses(name))
        presence = [check(PresenceShape, status, "user status") for status in found]
        if not presence or not presence[0].online or presence[0].playing:
            return False
        user = await self._ask("user", lambda api: api.users.get_public_data(name))
        return not check(BotShape, user, "user").blocking

    async def challenge(
        self,
        name: str,
        *,
        rated: bool,
        time_control: TimeControl | None,
        days: int | None,
        color: str,
        variant: str,
    ) -> str:
        """Raises PlatformError; DailyLimit: too many games against bots today, ours or theirs."""
        wanted: dict[str, Any] = {"color": color, "variant": variant}  # berserk wants literals
        if time_control is not None:
            wanted |= {"clock_limit": time_control.initial_ms // 1000}
            wanted |= {"clock_increment": time_control.increment_ms // 1000}
        else:
            wanted |= {"days": days}
        found = await self._ask("challenge", lambda api: api.challenges.create(name, rated, **wanted), Lane.ACCEPT)
        return check(Made, found, "challenge").id

    async def take_back(self, challenge_id: str) -> bool:
        """A game that it has become Lichess would abort: that is looked at first. Raises PlatformError."""
        playing = await self._ask("playing", lambda api: api.games.get_ongoing(count=50))
        if any(game.get("gameId") == challenge_id for game in playing):
            return False
        await self._ask("cancel", lambda api: api.challenges.cancel(challenge_id), Lane.ACCEPT)
        return True

    async def arenas(self, team: str = "") -> Sequence[ArenaEvent]:
        """Raises PlatformError."""
        if team:
            of_team = await self._ask("arenas", lambda api: api.tournaments.arenas_by_team(team))
            return [to_arena(found) for found in of_team]
        lists: Mapping[str, Any] = dict(await self._ask("arenas", lambda api: api.tournaments.get()))
        return [to_arena(found) for name in ("started", "created") for found in lists.get(name) or ()]

    async def arena(self, tournament_id: str) -> ArenaEvent:
        """Raises PlatformError."""
        return to_arena(await self._ask("arena", lambda api: api.tournaments.get_tournament(tournament_id)))

    async def join_arena(self, tournament_id: str, *, team: str = "", password: str = "") -> None:
        """Raises PlatformError."""

        def join(api: berserk.Client) -> None:
            api.tournaments.join_arena(tournament_id, password or None, team or None, should_pair_immediately=True)

        await self._ask("join", join, Lane.ACCEPT)

    async def leave_arena(self, tournament_id: str) -> None:
        """Raises PlatformError."""
        await self._ask("leave", lambda api: api.tournaments.withdraw_arena(tournament_id), Lane.ACCEPT)


class Made(Shape):
    id: str


def to_bot(found: object) -> RatedBot:
    """A user with ratings. Raises WireError."""
    bot = check(BotShape, found, "user")
    ratings = {name: perf.rating for name, perf in bot.perfs.items() if perf.rating is not None}
    return RatedBot(bot.id, ratings, {name: perf.games for name, perf in bot.perfs.items()})


def to_arena(found: object) -> ArenaEvent:
    """An arena, from a list or from its own page. Raises WireError."""
    arena = check(ArenaShape, found, "tournament")
    status: ArenaStatus = "finished" if arena.is_finished else "started" if arena.is_started else "created"
    return ArenaEvent(
        id=arena.id,
        name=arena.full_name,
        status=_STATUS.get(arena.status, status),
        starts_in_s=arena.seconds_to_start,
        bots_allowed=arena.bots_allowed,
        time_control=TimeControl(1000 * arena.clock.limit, 1000 * arena.clock.increment) if arena.clock else None,
        variant=arena.variant,
        rated=arena.rated,
    )
