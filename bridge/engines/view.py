"""What a choice is made from and what it comes to: the position with both clocks, searches asked for, the decision."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import chess

from bridge.engines.line import AT_ONCE, Line, Pace
from bridge.rules.dials import Dials
from bridge.rules.ledger import Ledger


@dataclass(frozen=True, slots=True)
class View:
    """The game for the side to move: both clocks after its own thinking, and how fast both sides think (by colour).

    `allowance`: the nodes of this move, ours and the engine's together, where they are counted. `root_moves`: what may
    be played (UCI), None: all; a forced flag counts for more.
    """

    board: chess.Board
    chess960: bool
    white_ms: int
    black_ms: int
    dials: Dials
    paces: tuple[Pace, Pace] = (AT_ONCE, AT_ONCE)
    allowance: int | None = None
    root_moves: tuple[str, ...] | None = None

    @classmethod
    def of(cls, ledger: Ledger, think_ms: int, paces: tuple[Pace, Pace], allowance: int | None = None) -> "View":
        """The ledger's game, with the side to move having thought `think_ms`."""
        clocks = [max(1, ledger.black_ms), max(1, ledger.white_ms)]
        clocks[ledger.turn] = max(1, clocks[ledger.turn] - think_ms)
        return cls(
            ledger.board, ledger.chess960, clocks[True], clocks[False], ledger.setup.rules.dials, paces, allowance
        )

    def line(self, slow: float = 1.0, quick: float = 1.0) -> Line:
        """A line to search on; our thinking can be stretched and the other side's shortened, to err for us."""
        me = self.board.turn
        paces = [self.paces[False], self.paces[True]]
        paces[me], paces[not me] = paces[me].scaled(slow), paces[not me].scaled(quick)
        board = self.board.copy(stack=self.board.halfmove_clock)
        return Line(board, self.white_ms, self.black_ms, self.dials, (paces[0], paces[1]))

    def uci(self, move: chess.Move) -> str:
        """A move as the game spells it."""
        return self.board.uci(move, chess960=self.chess960)

    def move(self, uci: str) -> chess.Move | None:
        """A legal move by either spelling of castling."""
        return spelled(self.board, uci)


@dataclass(frozen=True, slots=True)
class Ask:
    """A search by the wrapped engine. `moves`: the root moves allowed (UCI), all where it is empty; `part`: of what is
    left of the allowance; `spent`: the nodes that our own searches have made so far in this choice."""

    moves: tuple[str, ...]
    part: float
    spent: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: move and line in UCI, the score from the mover's side."""

    uci: str
    score_cp: int | None = None
    depth: int | None = None
    pv: tuple[str, ...] = ()
    earlier: tuple["Found", ...] = ()
    """What it thought best before, newest last: one entry for each move, as of the last depth that preferred it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A move that was weighed: centipawns, what it does to both clocks at once (without thinking), and a remark."""

    uci: str
    score_cp: int | None
    own_ms: int
    other_ms: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The move, and why. `nodes`: what our own searches made for it; `tally`: what was done, for statistics."""

    uci: str
    why: str
    score_cp: int | None = None
    depth: int | None = None
    nodes: int = 0
    candidates: Sequence[Candidate] = ()
    tally: Counter[str] = field(default_factory=Counter)


def allowed(board: chess.Board, root_moves: Sequence[str] | None) -> list[chess.Move]:
    """The legal moves that may be played; all where none of those named is legal."""
    named = [move for move in map(partial(spelled, board), root_moves or ()) if move is not None]
    return named or list(board.legal_moves)


def spelled(board: chess.Board, uci: str) -> chess.Move | None:
    """A line's move on our boards, where castling is king takes rook; None where it is not legal, or no move."""
    try:
        move = chess.Move.from_uci(uci)
    except chess.InvalidMoveError:  # a program wrote it
        return None
    if board.is_legal(move):
        return move
    return next((c for c in board.generate_castling_moves() if board.uci(c, chess960=False) == uci), None)
