"""Lichess as a Platform: what it says becomes messages, what is asked of it becomes requests. It decides nothing."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import TypeVar

import berserk

from bridge.clocks import steady_ms
from bridge.errors import RateLimited, Refused, UsageError
from bridge.interfaces import (
    Abort,
    AccountEvent,
    Action,
    AnswerDraw,
    AnswerTakeback,
    Challenge,
    ChatLine,
    ClaimDraw,
    ClaimVictory,
    Connected,
    Disconnected,
    FinishedGame,
    GameMessage,
    GameStarted,
    Listed,
    Player,
    PlayMove,
    Resign,
)
from bridge.platforms.lichess import feeds, wire
from bridge.platforms.lichess.archive import game_head, to_finished
from bridge.platforms.lichess.berserk_calls import BerserkCalls
from bridge.platforms.lichess.client import Client
from bridge.platforms.lichess.gate import Gate, Lane
from bridge.platforms.lichess.listing import Downloads, listed_games
from bridge.platforms.lichess.moves import Owed
from bridge.platforms.lichess.outage import Follower, Outage, Probe
from bridge.platforms.lichess.pairing import LichessPairing
from bridge.platforms.lichess.patience import until_answered
from bridge.platforms.lichess.posts import Post, post_of
from bridge.platforms.lichess.reopen import Reader, follow
from bridge.platforms.lichess.spectator import SpectatorReader
from bridge.platforms.lichess.streams import EventReader, GameReader, Keep, is_over, keep_nothing
from bridge.platforms.lichess.timings import Timings
from bridge.rules.snapshot import RUNNING, TimeControl

T = TypeVar("T")

_VERBS = {Resign: "resign", ClaimVictory: "claim-victory", ClaimDraw: "claim-draw"}
_ALWAYS = asyncio.Event()
_ALWAYS.set()


class Lichess:
    """One account of one server; without a token ("") it can watch and read finished games.

    Streams are opened again by themselves; what is asked passes the account's gate. Nothing is ever sent under
    /api/board/: those streams are only read. `keep` is given the lines of game streams as they came, and finished
    games as source `export`.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        timings: Timings = Timings(),  # noqa: B008 a frozen value
        clock: Callable[[], int] = steady_ms,
        keep: Keep = keep_nothing,
    ) -> None:
        self._client = Client(url, token, timings)
        self.traffic = self._client.traffic
        self._gate = Gate(timings.rate_limit_s, traffic=self.traffic)
        self._outage = Outage(self._client.url, timings.release_s)
        self._berserk = BerserkCalls(self._client.url, token, lambda: self._client.user_agent, timings.call_s)
        self.pairing = LichessPairing(self._ask)
        self._clock = clock
        self._keep = keep
        self._me: Player | None = None
        self._games: dict[str, GameReader] = {}
        self._accepted: dict[str, tuple[Sequence[str], str]] = {}
        self._downloads = Downloads(self._export_together, timings.gather_s)

    def __repr__(self) -> str:
        return f"Lichess({self._client.url!r}, {self._me.name if self._me else '?'!r})"

    @property
    def url(self) -> str:
        """The server's address."""
        return self._client.url

    @property
    def name(self) -> str:
        """The account's name, once it is known."""
        return self._me.name if self._me else ""

    @property
    def alive(self) -> bool:
        """False when the account's event stream is stuck: neither read nor tried again in the time it should be."""
        return self._outage.alive

    # -- the account -------------------------------------------------------------------------------------------------

    async def account(self) -> Player:
        """Who the token belongs to. Raises PlatformError; UsageError when there is no token or it is not valid."""
        self._need_token()
        try:
            found = await self._ask("account", lambda api: api.account.get())
        except Refused as error:
            if error.status == 401:
                raise UsageError(
                    f"{self.url} does not know this token ({error}): make a new one at {self.url}/account/oauth/token"
                ) from None
            raise
        self._me = wire.parse_user(found)
        self._client.is_called(self._me.name)
        return self._me

    async def token_facts(self) -> wire.TokenFacts | None:
        """What the token may do; None: nobody has this token. Raises PlatformError."""
        self._need_token()
        async with self._gate.passage(Lane.POLL, "token"):
            return wire.parse_token(await self._client.test_token())

    async def token_scopes(self) -> frozenset[str]:
        """The scopes of the token. Raises PlatformError; UsageError when nobody has this token."""
        facts = await self.token_facts()
        if facts is None:
            raise UsageError(f"{self.url} does not know this token: make a new one at {self.url}/account/oauth/token")
        return facts.scopes

    async def upgrade(self) -> None:
        """Make the account a BOT, for good. Raises Refused for an account that has played."""
        await self._ask("upgrade", lambda api: api.account.upgrade_to_bot())  # type: ignore[no-untyped-call]

    async def ping(self) -> None:
        """Ask once for next to nothing. Raises Unreachable: the server is not there; anything it says will do."""
        try:
            async with self._gate.passage(Lane.POLL, "status"):
                await self._client.get("/api/users/status", {"ids": "lichess"})
        except (Refused, RateLimited):
            # It answers, which is what was asked.
            pass

    async def title_of(self, name: str) -> str | None:
        """A user's title, empty without one; None: nobody is called so. Raises PlatformError."""
        found = await self._ask("status", lambda api: api.users.get_realtime_statuses(name))
        return next((str(user.get("title") or "") for user in found if str(user["id"]) == name.lower()), None)

    async def ongoing(self) -> list[GameStarted]:
        """The account's games in progress, at most 50."""
        found = await self._ask("playing", lambda api: api.games.get_ongoing(count=50))
        return [wire.parse_started(game) for game in found]

    async def account_events(self) -> AsyncGenerator[AccountEvent]:
        """What happens to the account, for ever. Games in progress are told again after each reconnect.

        Raises:
            Refused: the token is not valid any more, or lacks a scope.
        """
        timings = self._client.timings
        if self._me is None:
            self._me = await until_answered(self.account, timings, lambda: self._client.closed)
        reader = EventReader(self._me.id)
        path, probe = "/api/stream/event", Probe(self._outage, timings.connect_s + timings.silence_s)
        messages = follow(self._client, path, reader, silence_s=timings.silence_s, openings=probe)
        with self._outage.probing():
            async with aclosing(messages) as events:
                async for event in events:
                    yield event

    # -- games -------------------------------------------------------------------------------------------------------

    async def game(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """A game of this bot account; ends after its last snapshot, or when it does not exist (any more)."""
        keep = partial(self._keep, game_id, f"bot:{self._me.name if self._me else ''}")
        reader = self._games[game_id] = GameReader(self.url, self._clock, keep)
        try:
            path = _stream_of(game_id)
            waits = Follower(self._outage, lambda: reader.urgency(self._me.id if self._me else ""))
            async with aclosing(self._messages(path, reader, self._client.timings.silence_s, waits)) as messages:
                async for message in messages:
                    yield message
        finally:
            if self._games.get(game_id) is reader:
                del self._games[game_id]
                self._accepted.pop(game_id, None)

    async def board_game(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """A game of this account, which is no bot: read only, exact and undelayed."""
        path = f"/api/board/game/stream/{game_id}"
        reader = GameReader(self.url, self._clock, partial(self._keep, game_id, "board"))
        waits = Follower(self._outage)
        async with aclosing(self._messages(path, reader, self._client.timings.silence_s, waits)) as messages:
            async for message in messages:
                yield message

    async def spectate(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """Anybody's game, three plies late, with clocks in whole seconds (source `spectator`, precision 500 ms)."""
        known = await game_head(self._client, self._gate, game_id)
        reader = SpectatorReader(known, self._clock, partial(self._keep, game_id, "spectator"))
        path, silence_s = f"/api/stream/game/{game_id}", self._client.timings.spectator_silence_s
        async with aclosing(self._messages(path, reader, silence_s, Follower(self._outage))) as messages:
            async for message in messages:
                yield message

    async def _messages(
        self, path: str, reader: Reader[GameMessage], silence_s: float, waits: Follower
    ) -> AsyncGenerator[GameMessage]:
        lines = follow(self._client, path, reader, silence_s=silence_s, openings=waits)
        try:
            async with aclosing(lines) as messages:
                async for message in messages:
                    yield message
                    if is_over(message):
                        return
        except Refused as error:
            if error.status != 404:
                raise
            yield Disconnected(str(error))

    def tv_games(self, channel: str) -> AsyncGenerator[str | Connected | Disconnected]:
        """Ids of the games a TV channel turns to (`blitz`, `ultraBullet`, `bot`, …), for ever."""
        return feeds.tv_games(self._client, channel)

    async def playing(self, name: str) -> str:
        """The game somebody plays now, "" for none. Raises PlatformError; Refused: there is no such user."""
        return await feeds.playing(self._client, self._gate, name)

    def user_games(self, name: str) -> AsyncGenerator[str | Connected | Disconnected]:
        """Ids of the games somebody plays, for ever. Raises Refused when there is no such user."""
        return feeds.user_games(self._client, self._gate, name)

    def listed_games(self, wanted: Callable[[], Sequence[str]]) -> AsyncGenerator[Listed]:
        """Where up to 1,000 games stand, and whenever one of them starts or ends, for ever.

        `wanted`: their ids, asked whenever the list is opened. Raises Refused.
        """
        return listed_games(self._client, self._gate, wanted, Follower(self._outage))

    # -- what is asked of it -----------------------------------------------------------------------------------------

    async def perform(self, action: Action) -> None:
        """Do it; what happened is what the stream says next.

        Moves, resignations and claims are sent until they are accepted, or until `game` has shown another state than
        when they were asked for; while its stream makes no sense, nothing is sent. Everything else is sent once and
        raises PlatformError; after a 429 its kind is refused here until the time is up.
        """
        self._need_token()
        match action:
            case PlayMove():
                query = "?offeringDraw=true" if action.offering_draw else ""
                path = f"/api/bot/game/{action.game_id}/move/{action.uci}{query}"
                reader = self._games.get(action.game_id)
                self._look_again(action, reader)
                tried = reader.doubt if reader is not None and action.repeatable else lambda: None
                sent = _played(action, reader)
                await self._owed(action.game_id, self._moved_on(action.game_id), tried).move(path, action.game_id)
                if sent is not None and self._games.get(action.game_id) is reader:  # else it was the last move
                    self._accepted[action.game_id] = sent
            case Resign() | ClaimVictory() | ClaimDraw():
                path = f"/api/bot/game/{action.game_id}/{_VERBS[type(action)]}"
                await self._owed(action.game_id, self._ended(action.game_id)).claim(path, action.game_id)
            case Abort() | AnswerDraw() | AnswerTakeback():
                await self._in_step(action.game_id).wait()
                await self._once(post_of(action))
            case _:
                await self._once(post_of(action))

    def _look_again(self, action: PlayMove, reader: GameReader | None) -> None:
        """A move that is wanted again though it was accepted: its stream is stuck, and is opened anew before that."""
        sent = _played(action, reader)
        if reader is not None and sent is not None and self._accepted.pop(action.game_id, None) == sent:
            reader.doubt()
            self._client.break_off(_stream_of(action.game_id))

    def _owed(self, game_id: str, superseded: Callable[[], bool], tried: Callable[[], None] = lambda: None) -> Owed:
        return Owed(self._client, self._gate, superseded, self._in_step(game_id), self._outage, tried)

    def _in_step(self, game_id: str) -> asyncio.Event:
        """Set while the game's stream can be believed: always, for one that is not read."""
        reader = self._games.get(game_id)
        return _ALWAYS if reader is None else reader.in_step

    def _moved_on(self, game_id: str) -> Callable[[], bool]:
        """Whether the game's stream shows another position, or an end, than now."""
        reader = self._games.get(game_id)
        if reader is None or reader.latest is None:
            return lambda: False
        moves = reader.latest.moves

        def moved_on() -> bool:
            latest = reader.latest
            return latest is not None and (latest.moves != moves or latest.status not in RUNNING)

        return moved_on

    def _ended(self, game_id: str) -> Callable[[], bool]:
        reader = self._games.get(game_id)
        return lambda: reader is not None and reader.latest is not None and reader.latest.status not in RUNNING

    async def _once(self, post: Post) -> None:
        self._outage.check(post.kind)
        async with self._gate.passage(post.lane, post.kind):
            with self._outage.asking():
                await self._client.post(post.path, post.form, timeout_s=self._client.timings.request_s)

    async def challenge(
        self,
        name: str,
        *,
        rated: bool = False,
        time_control: TimeControl | None = None,
        color: str = "random",
        variant: str = "standard",
        start_fen: str | None = None,
    ) -> Challenge:
        """Challenge somebody; `time_control` in whole seconds, None for a game without a clock.

        It lapses after 20 s; what becomes of it is told as an event.

        Raises:
            DailyLimit: too many games against bots today, ours or theirs.
        """
        control = time_control
        found = await self._ask(
            "challenge",
            lambda api: api.challenges.create(
                name,
                rated,
                clock_limit=control.initial_ms // 1000 if control else None,
                clock_increment=control.increment_ms // 1000 if control else None,
                color=color,  # type: ignore[arg-type]  # berserk wants literals
                variant=variant,  # type: ignore[arg-type]
                position=start_fen,
            ),
            lane=Lane.ACCEPT,
        )
        return wire.parse_challenge(found)

    async def chat(self, game_id: str) -> list[ChatLine]:
        """What was said in the players' room of a game of this bot, also after its end. Raises PlatformError."""
        async with self._gate.passage(Lane.POLL, "chat"):
            return wire.parse_chat(await self._client.get(f"/api/bot/game/{game_id}/chat"))

    async def finished(self, game_id: str) -> FinishedGame:
        """A finished game from the archive (source `export`, precision 40 ms).

        Raises:
            PlatformError: not there, or still running (then Unreachable: the archive can lag behind).
            RecordError: it cannot be read: an unsupported variant, say.
        """
        return self._archived(await self._ask("export", lambda api: api.games.export(game_id, as_pgn=False)))

    async def finished_among_many(self, game_id: str) -> FinishedGame:
        """Like `finished`, fetched together with others that are asked for within a few seconds."""
        return await self._downloads.game(game_id)

    async def _export_together(self, ids: Sequence[str]) -> dict[str, Callable[[], FinishedGame]]:
        found = await self._ask(
            "export", lambda api: list(api.games.export_multi(*ids, as_pgn=False, clocks=True, tags=False))
        )
        return {str(game.get("id")): partial(self._archived, game) for game in found if isinstance(game, dict)}

    def _archived(self, found: object) -> FinishedGame:
        finished = to_finished(found, self.url)
        self._keep(finished.info.id, "export", json.dumps(found, default=str).encode(), self._clock())
        return finished

    async def _ask(self, kind: str, ask: Callable[[berserk.Client], T], lane: Lane = Lane.POLL) -> T:
        self._outage.check(kind)
        async with self._gate.passage(lane, kind):
            with self._outage.asking():
                return await self._berserk.call(kind, ask)

    async def close(self) -> None:
        """Give back every connection; streams end."""
        self._downloads.close()
        self._berserk.close()
        await self._client.close()

    def _need_token(self) -> None:
        if not self._client.has_token:
            raise UsageError(f"this needs an account: give a token of {self.url}")


def _stream_of(game_id: str) -> str:
    return f"/api/bot/game/stream/{game_id}"


def _played(action: PlayMove, reader: GameReader | None) -> tuple[Sequence[str], str] | None:
    """A move, and the position it is sent in; None: that is not known."""
    return None if reader is None or reader.latest is None else (reader.latest.moves, action.uci)
