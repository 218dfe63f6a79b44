"""One game's facts: position, moves, the platform's clock, offers, result. Only the referee changes them."""

from dataclasses import dataclass, field

import chess

from bridge.arena.clock import Clock
from bridge.arena.control import Control, TimeControl
from bridge.arena.happenings import Status
from bridge.clocks import DAY_MS

NO_LIMIT_MS = 2**31 - 1
"""What Lichess shows for a side that has all the time there is."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Who plays one colour, as they were when the game began."""

    name: str
    title: str | None = None
    rating: int = 1500
    provisional: bool = False

    @property
    def id(self) -> str:
        return self.name.lower()

    @property
    def is_bot(self) -> bool:
        return self.title == "BOT"


@dataclass(slots=True)
class Side:
    """What one colour has standing: an offered draw, a proposed takeback."""

    offers_draw: bool = False
    offered_draw_at_ply: int | None = None
    proposes_takeback: bool = False
    takebacks_declined: int = 0
    """How often this side's proposals were declined."""
    proposals_blocked_until_ms: int = 0
    berserk: bool = False


@dataclass(slots=True, kw_only=True)
class Game:
    """A game from its first position to its end.

    `clocks_cs` holds the mover's clock after each ply; `end_clock_cs` that of the side to move when the game ended
    between moves. `recorded` games show the clock values of their source and are never rounded.
    """

    id: str
    white: Seat
    black: Seat
    control: Control
    created_at_ms: int
    variant: str = "standard"
    initial_fen: str | None = None
    """None for the usual start position."""
    rated: bool = False
    source: str = "friend"
    rules: frozenset[str] = frozenset()
    recorded: bool = False
    tournament_id: str | None = None
    board: chess.Board = field(init=False)
    start: chess.Board = field(init=False)
    clock: Clock | None = field(init=False)
    moves: list[str] = field(default_factory=list)
    sans: list[str] = field(default_factory=list)
    clocks_cs: list[int] = field(default_factory=list)
    end_clock_cs: int | None = None
    status: Status = Status.STARTED
    winner: chess.Color | None = None
    moved_at_ms: int = 0
    sides: dict[chess.Color, Side] = field(default_factory=lambda: {chess.WHITE: Side(), chess.BLACK: Side()})

    def __post_init__(self) -> None:
        self.start = chess.Board(self.initial_fen or chess.STARTING_FEN, chess960=self.variant == "chess960")
        self.start.chess960 = self.start.chess960 or self.start.has_chess960_castling_rights()
        self.board = self.start.copy()
        self.clock = Clock.set_to(self.control, self.start.turn) if isinstance(self.control, TimeControl) else None
        self.moved_at_ms = self.created_at_ms

    @property
    def over(self) -> bool:
        return self.status is not Status.STARTED

    @property
    def plies(self) -> int:
        return len(self.moves)

    @property
    def turn(self) -> chess.Color:
        return self.board.turn

    @property
    def speed(self) -> str:
        return self.control.speed

    @property
    def with_bot(self) -> bool:
        return self.white.is_bot or self.black.is_bot

    def seat(self, color: chess.Color) -> Seat:
        return self.white if color else self.black

    def color_of(self, user_id: str) -> chess.Color | None:
        return next((color for color in chess.COLORS if self.seat(color).id == user_id), None)

    def full_id(self, color: chess.Color) -> str:
        """The address of one player's side of the board: twelve characters."""
        return self.id + ("wwww" if color else "bbbb")

    def start_cs(self, color: chess.Color) -> int:
        """The hand a side began with, berserk counted."""
        if not isinstance(self.control, TimeControl):
            return 0
        fresh = Clock.set_to(self.control, self.start.turn)
        return (fresh.berserk(color) if self.sides[color].berserk else fresh).hand(color).remaining_cs

    def last_clock_cs(self, color: chess.Color) -> int:
        """The last recorded clock of a side, its start limit before it has moved."""
        own = self.clocks_cs[0 if color == self.start.turn else 1 :: 2]
        return own[-1] if own else self.start_cs(color)

    def shown_ms(self, color: chess.Color, now_ms: int) -> int:
        """What `wtime`/`btime` say; correspondence counts down whole seconds for the side to move only (§2.2)."""
        if self.clock is not None:
            return 10 * self.clock.remaining_cs(color, now_ms)
        if self.days is None:
            return NO_LIMIT_MS
        full_ms = self.days * DAY_MS
        used_ms = now_ms - self.moved_at_ms if color == self.turn and not self.over else 0
        return max(0, full_ms - used_ms) // 1000 * 1000

    @property
    def days(self) -> int | None:
        """Days for each move; None with a clock, or without any limit."""
        return None if isinstance(self.control, TimeControl) else self.control.days

    def out_of_time(self, now_ms: int) -> bool:
        """Whether others would see the flag of the side to move fallen."""
        if self.clock is not None:
            return self.clock.flagged(now_ms)
        return self.days is not None and now_ms - self.moved_at_ms >= self.days * DAY_MS

    def cannot_win(self, color: chess.Color) -> bool:
        """Material alone counts (§3.1)."""
        return self.board.has_insufficient_material(color)
