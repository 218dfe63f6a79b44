"""Readers of the two streams an account has of its own: its events, and each of its games."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from bridge.interfaces import AccountEvent, ChallengeReceived, ChatLine, GameInfo, GameMessage, GameOpened, GameState
from bridge.platforms.lichess.answers import Senseless
from bridge.platforms.lichess.gifts import ToldGifts
from bridge.platforms.lichess.outage import LEAST, Urgency
from bridge.platforms.lichess.wire import parse_account_event, parse_game_line
from bridge.rules.diff import is_related
from bridge.rules.snapshot import RUNNING, Anomaly, Snapshot

Keep: TypeAlias = Callable[[str, str, bytes, int], None]
"""What becomes of the lines of a game's streams as they came: game, source (`bot:ACCOUNT`, `board`, `spectator` or
`export`), line, and its time by the steady clock. An empty line: a connection was opened. Must not wait."""


def keep_nothing(_game_id: str, _source: str, _line: bytes, _at_ms: int) -> None:
    """For whoever has no use for the lines."""


class EventReader:
    """Events of the account whose id `me` is; challenges of its own are not told."""

    def __init__(self, me: str) -> None:
        self._me = me

    def opened(self) -> None:
        """Games in progress and open challenges are told again; the lobby knows which it has."""

    def lives(self) -> None:
        """Nothing of it depends on that."""

    def read(self, line: bytes) -> Iterable[AccountEvent]:
        event = parse_account_event(line)
        if event is None or (isinstance(event, ChallengeReceived) and event.challenge.challenger.id == self._me):
            return ()
        return (event,)

    def ended(self) -> Iterable[AccountEvent]:
        return ()


class GameReader:
    """Messages of one game, each connection's first being GameOpened.

    A state before the game itself (the server drops lines of a slow reader), and one that neither continues nor takes
    back what was known, are not believed: the stream is opened again, and `in_step` is not set until it shows the game.
    """

    def __init__(
        self, site: str, clock: Callable[[], int], keep: Callable[[bytes, int], None] = lambda line, at_ms: None
    ) -> None:
        self._site = site
        self._clock = clock
        self._keep_line = keep
        self._moves: tuple[str, ...] | None = None
        self._notes: tuple[Anomaly, ...] = ()
        self._gifts = ToldGifts()
        self._state: GameState | None = None
        self._info: GameInfo | None = None
        self.latest: Snapshot | None = None
        self.in_step = asyncio.Event()
        self.in_step.set()

    def opened(self) -> None:
        self._keep_line(b"", self._clock())
        self._moves = None

    def doubt(self) -> None:
        """A move was sent: until the stream gives a sign of life, it may have shown less than what has happened."""
        self.in_step.clear()

    def lives(self) -> None:
        if self._moves is not None:
            self.in_step.set()

    def read(self, line: bytes) -> Iterable[GameMessage]:
        at_ms = self._clock()
        self._keep_line(line, at_ms)
        message = parse_game_line(line, at_ms=at_ms, site=self._site)
        if message is None:
            return ()
        if isinstance(message, GameOpened | GameState):
            if isinstance(message, GameState):
                self._check(tuple(message.snapshot.moves))
            else:
                self._info = message.info
                self._gifts.begins(message.info.start_fen)
            self._gifts.moved(len(message.snapshot.moves))
            told_ms = tuple(self._gifts.told_ms)
            if self._notes or any(told_ms):
                message = replace(message, snapshot=replace(message.snapshot, notes=self._notes, told_ms=told_ms))
            self._keep(message.snapshot)
            if isinstance(message, GameState):
                self._state = message
            else:
                self._state = GameState(message.snapshot, message.draw_offers, message.takeback_offers)
        elif isinstance(message, ChatLine) and self._state is not None and self._gifts.heard(message):
            return (message, self._with_gifts(self._state, at_ms))
        return (message,)

    def _with_gifts(self, state: GameState, at_ms: int) -> GameState:
        """The last state with what was given since: its clocks were read earlier, so they are left out."""
        told_ms = tuple(self._gifts.told_ms)
        unread = replace(state.snapshot, white_ms=None, black_ms=None, at_ms=at_ms, told_ms=told_ms)
        return replace(state, snapshot=unread)

    def ended(self) -> Iterable[GameMessage]:
        return ()

    def urgency(self, me: str) -> Urgency:
        """How soon the player whose id is `me` needs this stream: one never read may owe a move."""
        if self._info is None or self.latest is None:
            return (False, 0)
        ours = self._info.white.id == me
        begins = self._info.start_fen is None or " w " in self._info.start_fen
        turn = begins == (len(self.latest.moves) % 2 == 0)
        left_ms = self.latest.clock_ms(ours)
        return (turn != ours, LEAST[1] if left_ms is None else left_ms)

    def _keep(self, snapshot: Snapshot) -> None:
        self._moves = tuple(snapshot.moves)
        self.latest = snapshot
        self.in_step.set()

    def _check(self, moves: tuple[str, ...]) -> None:
        if self._moves is None:
            self.in_step.clear()
            raise Senseless("a state came before its game")
        if not is_related(self._moves, moves):
            self.in_step.clear()
            note = "the platform showed moves that are not those of this game; it was asked again"
            self._notes = (*self._notes, Anomaly("foreign_moves", len(self._moves), note))
            raise Senseless("the moves are not those of this game any more")


def is_over(message: object) -> bool:
    """Whether a message ends its game (§3.1: any status but created and started)."""
    return isinstance(message, GameOpened | GameState) and message.snapshot.status not in RUNNING
