"""Which games to watch: the one a TV channel shows, the one a user plays (API §1.2, §1.8)."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

import structlog

from bridge.errors import RateLimited, Refused, Unreachable
from bridge.interfaces import Connected, Disconnected
from bridge.platforms.lichess.client import Client
from bridge.platforms.lichess.gate import Gate, Lane
from bridge.platforms.lichess.patience import doubling, held_s
from bridge.platforms.lichess.reopen import follow
from bridge.platforms.lichess.wire import parse_playing, parse_tv_line

log = structlog.get_logger("kirichess_lichess")


class _TvReader:
    def __init__(self) -> None:
        self._shown = ""

    def opened(self) -> None:
        """The feed names its game first, whether or not it is another one."""

    def lives(self) -> None:
        """Nothing of it depends on that."""

    def read(self, line: bytes) -> Iterable[str]:
        game_id = parse_tv_line(line)
        if game_id is None or game_id == self._shown:
            return ()
        self._shown = game_id
        return (game_id,)

    def ended(self) -> Iterable[str]:
        return ()


async def tv_games(client: Client, channel: str) -> AsyncGenerator[str | Connected | Disconnected]:
    """Ids of the games a channel (`blitz`, `ultraBullet`, `bot`, …) turns to, one after the other, for ever."""
    path = f"/api/tv/{channel}/feed"
    async with aclosing(follow(client, path, _TvReader(), silence_s=client.timings.tv_silence_s)) as messages:
        async for message in messages:
            yield message


async def user_games(client: Client, gate: Gate, name: str) -> AsyncGenerator[str | Connected | Disconnected]:
    """Ids of the games somebody plays, one after the other, for ever; looked for every `poll_s`.

    Connected after a look that was answered, Disconnected after one that was not: once until that changes.

    Raises:
        Refused: there is no such user.
    """
    seen, answered, failures = "", False, doubling(*client.timings.backoff_s)
    while not client.closed:
        wait_s = client.timings.poll_s
        try:
            game_id = await playing(client, gate, name)
            failures = doubling(*client.timings.backoff_s)
            if not answered:
                answered = True
                yield Connected()
            if game_id and game_id != seen:
                seen = game_id
                yield game_id
        except RateLimited as error:
            wait_s = held_s(error, client.timings)
            log.warning("waiting", user=name, cause=str(error), again_in_s=round(wait_s, 2))
        except Unreachable as error:
            wait_s = max(wait_s, next(failures))
            log.warning("users_status_failed", user=name, cause=str(error), again_in_s=round(wait_s, 2))
            answered = False
            yield Disconnected(str(error))
        await asyncio.sleep(wait_s)


async def playing(client: Client, gate: Gate, name: str) -> str:
    """The game somebody plays now, "" for none. Raises PlatformError; Refused: there is no such user."""
    async with gate.passage(Lane.POLL, "status"):
        answer = await client.get("/api/users/status", {"ids": name, "withGameIds": "true"})
    game_id = parse_playing(answer, name)
    if game_id is None:
        raise Refused(f"{client.url} knows no user {name}", status=404)
    return game_id
