"""Many games by their ids: one stream of their starts and ends, and their records, downloaded together (API §1.8)."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing

import structlog

from bridge.errors import BridgeError, PlatformError, RateLimited, Unreachable
from bridge.interfaces import Connected, FinishedGame, GameInfo, Listed
from bridge.platforms.lichess import shapes
from bridge.platforms.lichess.client import Client
from bridge.platforms.lichess.gate import Gate, Lane
from bridge.platforms.lichess.outage import Openings
from bridge.platforms.lichess.patience import doubling, held_s
from bridge.platforms.lichess.reopen import follow
from bridge.platforms.lichess.shapes import check, read_object
from bridge.platforms.lichess.wire import parse_color, start_fen, to_player
from bridge.rules.snapshot import TimeControl

log = structlog.get_logger("kirichess_lichess")

_IDS_A_CALL = 500
"""Without a token; the stream itself may have 1,000."""
_DOWNLOADS_A_CALL = 300


def parse_listed(line: bytes, site: str) -> Listed:
    """A line of a stream of games by ids; players are named by their ids. Raises WireError."""
    game = check(shapes.ListedGame, read_object(line), "listed game")
    control = TimeControl(1000 * game.clock.initial, 1000 * game.clock.increment) if game.clock else None
    info = GameInfo(
        id=game.id,
        white=to_player(game.players.white.as_user()),
        black=to_player(game.players.black.as_user()),
        variant=game.variant,
        rated=game.rated,
        speed=game.speed,
        time_control=control,
        start_fen=start_fen(game.initial_fen),
        url=f"{site}/{game.id}",
    )
    return Listed(info, game.status, parse_color(game.winner))


class _ListReader:
    def __init__(self, site: str) -> None:
        self._site = site

    def opened(self) -> None:
        """Where each game stands now is told again."""

    def lives(self) -> None:
        """Nothing of it depends on that."""

    def read(self, line: bytes) -> Iterable[Listed]:
        return (parse_listed(line, self._site),)

    def ended(self) -> Iterable[Listed]:
        return ()


async def listed_games(
    client: Client, gate: Gate, wanted: Callable[[], Sequence[str]], openings: Openings
) -> AsyncGenerator[Listed]:
    """Where the games stand, and whenever one starts or ends, for ever; `wanted`: their ids, asked at each opening.

    Raises:
        Refused: the server does not take such a list.
    """
    path = f"/api/stream/games/kirichess-{secrets.token_hex(8)}"
    later: list[str] = []

    def body() -> str:
        first, later[:] = wanted()[:_IDS_A_CALL], wanted()[_IDS_A_CALL:]
        return ",".join(first)

    waits = doubling(*client.timings.backoff_s)
    while not client.closed:
        silence_s = client.timings.spectator_silence_s
        stream = follow(client, path, _ListReader(client.url), silence_s=silence_s, openings=openings, body=body)
        try:
            async with aclosing(stream) as messages:
                async for message in messages:
                    if isinstance(message, Connected):
                        await _add(client, gate, path, later)
                    elif isinstance(message, Listed):
                        yield message
        except (RateLimited, Unreachable) as error:
            # A list that is not whole is of no use: it is begun anew.
            wait_s = held_s(error, client.timings) if isinstance(error, RateLimited) else next(waits)
            log.warning("list_not_taken", cause=str(error), again_in_s=round(wait_s, 2))
            await asyncio.sleep(wait_s)


async def _add(client: Client, gate: Gate, path: str, ids: Sequence[str]) -> None:
    for start in range(0, len(ids), _IDS_A_CALL):
        async with gate.passage(Lane.POLL, "list"):
            text = ",".join(ids[start : start + _IDS_A_CALL])
            await client.post(f"{path}/add", text, timeout_s=client.timings.request_s)


class Downloads:
    """Finished games that are asked for one by one and fetched together.

    `fetch` answers what it has of some ids, each still to be read; the first to ask waits `gather_s` for others.
    """

    def __init__(
        self,
        fetch: Callable[[Sequence[str]], Awaitable[Mapping[str, Callable[[], FinishedGame]]]],
        gather_s: float,
    ) -> None:
        self._fetch = fetch
        self._gather_s = gather_s
        self._wanted: dict[str, asyncio.Future[FinishedGame]] = {}
        self._fetching: asyncio.Task[None] | None = None

    async def game(self, game_id: str) -> FinishedGame:
        """Raises PlatformError, RecordError."""
        if game_id not in self._wanted:
            self._wanted[game_id] = asyncio.get_running_loop().create_future()
        wanted = self._wanted[game_id]
        if self._fetching is None or self._fetching.done():
            self._fetching = asyncio.create_task(self._run())
        return await asyncio.shield(wanted)

    async def _run(self) -> None:
        while self._wanted:
            await asyncio.sleep(self._gather_s)
            ids = list(self._wanted)[:_DOWNLOADS_A_CALL]
            asked = {game_id: self._wanted.pop(game_id) for game_id in ids}
            try:
                found = await self._fetch(ids)
            except PlatformError as error:
                for waiting in asked.values():
                    _fail(waiting, error)
                continue
            for game_id, waiting in asked.items():
                if game_id in found:
                    _settle(waiting, found[game_id])
                    # Reading a game takes a while: whatever else goes on has its turn in between.
                    await asyncio.sleep(0)
                else:
                    _fail(waiting, Unreachable(f"the archive does not have game {game_id}"))

    def close(self) -> None:
        """Fetch no more."""
        if self._fetching is not None:
            self._fetching.cancel()


def _settle(waiting: "asyncio.Future[FinishedGame]", read: Callable[[], FinishedGame]) -> None:
    try:
        waiting.set_result(read())
    except BridgeError as error:
        _fail(waiting, error)


def _fail(waiting: "asyncio.Future[FinishedGame]", error: BridgeError) -> None:
    waiting.set_exception(error)
    waiting.exception()  # whoever asked may have gone meanwhile: then nobody misses the answer
