"""What plugs in, on one page: Platform, Engine, Journal, Sink, and the messages that pass between them.

Platforms turn bytes into snapshots and perform actions; engines choose a move; the journal stores and numbers what
happened; sinks follow it. None of them knows another, and none of them decides anything about a game.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

import chess

from bridge.actions import Abort as Abort
from bridge.actions import AcceptChallenge as AcceptChallenge
from bridge.actions import Action as Action
from bridge.actions import AnswerDraw as AnswerDraw
from bridge.actions import AnswerTakeback as AnswerTakeback
from bridge.actions import CancelChallenge as CancelChallenge
from bridge.actions import ClaimDraw as ClaimDraw
from bridge.actions import ClaimVictory as ClaimVictory
from bridge.actions import DeclineChallenge as DeclineChallenge
from bridge.actions import PlayMove as PlayMove
from bridge.actions import Resign as Resign
from bridge.actions import Say as Say
from bridge.rules.ledger import Ledger
from bridge.rules.snapshot import Snapshot, TimeControl

# -- what an account hears ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Player:
    """One side of a game or challenge; `name` is empty for an anonymous player. Title "BOT" marks a bot."""

    id: str = ""
    name: str = ""
    title: str = ""
    rating: int | None = None

    @property
    def is_bot(self) -> bool:
        """Whether an engine plays here by the platform's own word."""
        return self.title == "BOT"

    def says(self, line: "ChatLine") -> bool:
        """Whether a line of chat is this player's."""
        return line.user.lower() in (self.id, self.name.lower())


@dataclass(frozen=True, slots=True)
class GameInfo:
    """What a platform says of a game apart from its moves. `time_control` None: untimed or correspondence."""

    id: str
    white: Player
    black: Player
    variant: str = "standard"
    rated: bool = False
    speed: str = ""
    time_control: TimeControl | None = None
    start_fen: str | None = None
    tournament: str = ""
    url: str = ""

    @property
    def chess960(self) -> bool:
        """Whether castling is spelled king takes rook."""
        return self.variant == "chess960"

    def player(self, side: chess.Color) -> Player:
        """The player of one side."""
        return self.white if side else self.black


@dataclass(frozen=True, slots=True)
class Challenge:
    """An offer to play. `color` is what the challenger asked for: white, black or random. `days` a move:
    correspondence; `rematch_of`: the game that it is a rematch of."""

    id: str
    challenger: Player
    opponent: Player
    variant: str
    rated: bool
    speed: str
    time_control: TimeControl | None
    color: str = "random"
    start_fen: str | None = None
    days: int | None = None
    rematch_of: str = ""


@dataclass(frozen=True, slots=True)
class ChallengeReceived:
    """Somebody challenges this account (challenges of its own are not reported)."""

    challenge: Challenge


@dataclass(frozen=True, slots=True)
class ChallengeGone:
    """A challenge was canceled, declined or has expired."""

    challenge_id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A game of this account is running; may be told again after a reconnect. `left_ms`: of our time, where told."""

    game_id: str
    seat: chess.Color | None = None
    tournament: str = ""
    opponent: Player = field(default=Player(), compare=False)
    speed: str = field(default="", compare=False)
    my_turn: bool = field(default=False, compare=False)
    left_ms: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class GameFinished:
    """A game of this account is over."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Connected:
    """A stream is open (again)."""


@dataclass(frozen=True, slots=True)
class Disconnected:
    """A stream was lost; the platform reopens it by itself. `reason` is fit to be shown."""

    reason: str


AccountEvent: TypeAlias = ChallengeReceived | ChallengeGone | GameStarted | GameFinished | Connected | Disconnected

# -- what a game says --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GameOpened:
    """First message of a game stream, and again after every reconnect. Offers as in `GameState`."""

    info: GameInfo
    snapshot: Snapshot
    draw_offers: frozenset[chess.Color] = frozenset()
    takeback_offers: frozenset[chess.Color] = frozenset()


@dataclass(frozen=True, slots=True)
class GameState:
    """The game now. `draw_offers`, `takeback_offers`: the sides with a standing offer."""

    snapshot: Snapshot
    draw_offers: frozenset[chess.Color] = frozenset()
    takeback_offers: frozenset[chess.Color] = frozenset()


@dataclass(frozen=True, slots=True)
class ChatLine:
    """Somebody said something; `room` is player or spectator. The platform itself speaks as `lichess`."""

    user: str
    text: str
    room: str = "player"


@dataclass(frozen=True, slots=True)
class OpponentGone:
    """The opponent left, or came back; the win can be claimed after `claim_in_ms` (None: not yet known)."""

    gone: bool
    claim_in_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list of games says of one: that it runs, or how it ended; no moves. Players may have an id for a name."""

    info: GameInfo
    status: str
    winner: chess.Color | None = None


GameMessage: TypeAlias = GameOpened | GameState | ChatLine | OpponentGone | Connected | Disconnected

# -- what is asked of a platform: `bridge.actions` -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A whole game from the platform's archive; `Setup.rules` is the caller's, so it is not here."""

    info: GameInfo
    snapshot: Snapshot
    source: str
    precision_ms: int | None


class Platform(Protocol):
    """One account on one platform. Streams reopen themselves and never end while the game or account lives.

    Whoever reads a stream closes it (`contextlib.aclosing`): what it holds open is given back then, and not sooner.
    """

    async def account(self) -> Player:
        """Who the token belongs to. Raises PlatformError; UsageError when the token is not valid."""
        ...

    def account_events(self) -> AsyncGenerator[AccountEvent]:
        """What happens to the account, for ever."""
        ...

    async def ongoing(self) -> Sequence[GameStarted]:
        """The account's running games, at most 50. Raises PlatformError."""
        ...

    def game(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """A game of this account, exact and undelayed; ends after the snapshot that ends the game."""
        ...

    def spectate(self, game_id: str) -> AsyncGenerator[GameMessage]:
        """Anybody's game, as spectators see it; ends with the game."""
        ...

    async def perform(self, action: Action) -> None:
        """Do it. Must not be taken as proof: what happened is what the next snapshot says.

        A 429 or an unreachable platform is waited out for moves, resignations and claims; other actions raise.
        """
        ...

    async def chat(self, game_id: str) -> Sequence[ChatLine]:
        """What was said in the players' room of a game of this account, also after its end. Raises PlatformError."""
        ...

    async def finished(self, game_id: str) -> FinishedGame:
        """The finest record of a finished game."""
        ...

    async def close(self) -> None:
        """Give back every connection."""
        ...


# -- engines -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limit:
    """What an engine may use. The clocks are already the smaller of KiriChess (less its own next toll) and platform,
    less overhead; all are above 0. `deadline_ms` is when the answer must be there, from now. `plain`: KiriChess does
    not act, so its clocks must not count. `root_moves` (UCI, the best first): no other is to be played. `move_ms`: no
    clock runs, and the move itself may take so long. `ponder`: whether the opponent's time may be used too.
    `overhead_ms`: what every move to come loses on its way."""

    white_ms: int
    black_ms: int
    white_increment_ms: int
    black_increment_ms: int
    deadline_ms: int
    nodes: int | None = None
    plain: bool = False
    root_moves: tuple[str, ...] | None = None
    move_ms: int | None = None
    ponder: bool = True
    overhead_ms: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """A move, with what the engine says of it: `score_cp` from the mover's side, and why, for the record. `wdl`: what
    tables know of it as chess, 2 (won) to -2, with 1 and -1 where the fifty moves come first. `trusted`: whether
    draws and resignations go by the score. `fault`: what failed before the engine found this move by other means."""

    uci: str
    score_cp: int | None = None
    depth: int | None = None
    why: str = ""
    wdl: int | None = None
    trusted: bool = True
    fault: str = ""


class Engine(Protocol):
    """Chooses moves in one game at a time. It never reaches the platform, resigns, or keeps the clock."""

    async def start(self) -> None:
        """Get ready. Raises EngineError saying what is wrong and how to mend it."""
        ...

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        """A legal move in `ledger.board`; `ledger` must not be changed. Cancelling it stops the search.

        Raises EngineError: died, silent past the deadline, or nonsense; the engine may be started again.
        """
        ...

    async def close(self) -> None:
        """End every process. Never raises."""
        ...


@runtime_checkable
class Ponders(Protocol):
    """An engine that can use the opponent's time after a move of ours that it did not choose itself."""

    def ponder(self, ledger: Ledger, uci: str) -> None:
        """Think on about the position after that move until it is asked again. Must not wait, never raises."""
        ...


@dataclass(frozen=True, slots=True)
class EngineName:
    """What an engine is: `kind` as the settings have it, `name` what its program calls itself (its file's name before
    it has said so) or the class of a plugin; empty: none."""

    kind: str
    name: str = ""


@runtime_checkable
class Named(Protocol):
    """An engine that tells what it is."""

    @property
    def called(self) -> EngineName:
        """At any time, started or not."""
        ...


@dataclass(frozen=True, slots=True)
class RootMoves:
    """The moves (UCI, the best first) among which an engine may choose; `wdl` of all of them as for a choice."""

    moves: tuple[str, ...]
    why: str = ""
    wdl: int | None = None


class MoveSource(Protocol):
    """What is looked up before an engine is asked: a book, tables, a site. Shared by the games of an account."""

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | RootMoves | None:
        """A move, or the moves left; None: it knows nothing. May raise anything: the engine is asked then."""
        ...

    async def close(self) -> None:
        """Give back files and connections. Never raises."""
        ...


# -- journal and sinks -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draft:
    """An event on its way into the journal. `type` is a CloudEvents type, `subject` the game's id (or ""),
    `data` plain JSON values. `key`, where given, is unique: a second one with it is not stored again."""

    type: str
    subject: str
    data: Mapping[str, object] = field(default_factory=dict)
    account: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored event: `seq` grows by one in its journal, `time_ms` is the wall clock when it was stored."""

    seq: int
    id: str
    time_ms: int
    type: str
    subject: str
    account: str
    data: Mapping[str, object]


class Journal(Protocol):
    """The one store. What `append` returns survives a killed process."""

    async def append(self, drafts: Sequence[Draft]) -> list[Entry]:
        """Store all or none, in order; those whose key is there already are left out of the answer."""
        ...

    def put(self, drafts: Sequence[Draft]) -> asyncio.Future[list[Entry]]:
        """`append` for whoever has no task to wait in: what it returns or raises comes as the answer."""
        ...

    def follow(self, after: int) -> AsyncIterator[Entry]:
        """Every entry with a greater number, then the new ones as they come, for ever."""
        ...

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
        ...

    async def last_seq(self) -> int:
        """The greatest number given so far, 0 for an empty journal."""
        ...

    async def cursor(self, name: str) -> int:
        """How far a sink has come; 0 at first."""
        ...

    async def advance(self, name: str, seq: int) -> None:
        """Store a cursor."""
        ...

    def passed(self, name: str, seq: int) -> None:
        """A sink has come so far: its cursor is stored soon, beside other things. Must not wait."""
        ...

    def keep(self, game_id: str, source: str, text: bytes, at_ms: int) -> None:
        """Keep a line of a game beside its events, which nobody follows. Must not wait, never raises."""
        ...

    async def thoughts(self, game_id: str) -> list[bytes]:
        """The lines kept of a game from a source that begins `engine:`, as far as they are there, in order."""
        ...

    async def works(self) -> None:
        """Wait until it can be written, as far as is known; returns at once where there is no trouble."""
        ...

    async def bury(self, sink: str, seq: int, cause: str) -> None:
        """Keep that a sink could not be given an entry, for somebody to send it again."""
        ...

    async def close(self) -> None:
        """Write what is waiting and let go of the file."""
        ...


class Sink(Protocol):
    """Follows the journal. `write` may be called again with the same entry after a crash: ids tell repeats."""

    name: str

    async def write(self, entry: Entry) -> bool | None:
        """Deliver one entry; False: it is passed over. Raises to have it tried again later."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...
