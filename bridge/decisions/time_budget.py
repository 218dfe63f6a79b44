"""What an engine may use for its next move: the smaller of both clocks, never past a flag."""

from dataclasses import dataclass

import chess

from bridge.rules.effects import dearest_toll_ms
from bridge.rules.ledger import Ledger

LEAST_MS = 20
"""An engine is never told less: with no time at all engines answer nonsense."""
LOST_MS = 100
"""The deadline where no legal move can be paid any more: the flag falls either way, and the move must still come."""
_SHORT_MS = 30_000


@dataclass(frozen=True, slots=True)
class Budget:
    """Milliseconds for the engine's own clocks and its hard deadline, all above 0."""

    white_ms: int
    black_ms: int
    white_increment_ms: int
    black_increment_ms: int
    deadline_ms: int


def budget(
    ledger: Ledger, overhead_ms: int, elapsed_ms: int, cap_ms: int | None = None, *, plain: bool = False
) -> Budget:
    """The time for the side to move: min(KiriChess clock − its next toll, platform clock) − overhead, both sides.

    `elapsed_ms`: how long the turn has lasted already. `cap_ms`: an upper bound on the deadline. In a `plain` game
    (KiriChess only records it) and after the KiriChess end only the platform's clock counts: that is plain chess.
    """
    turn, plain = ledger.turn, plain or ledger.outcome is not None
    prices = ledger.setup.rules.dials.prices
    tolls = {side: 0 if plain else dearest_toll_ms(ledger.board, side, prices) for side in chess.COLORS}
    clocks = {side: _clock(ledger, side, tolls[side], plain) - overhead_ms for side in chess.COLORS}
    clocks[turn] -= elapsed_ms
    # The deadline is the flag itself: a cheaper move than the dearest may still be played then.
    cheapest = 0 if plain else _cheapest_toll(ledger)
    deadline = _clock(ledger, turn, cheapest, plain) - elapsed_ms - overhead_ms
    deadline = max(LEAST_MS, deadline) if deadline > 0 else LOST_MS
    increments = {side: _increment(ledger, side, plain) for side in chess.COLORS}
    return Budget(
        white_ms=max(LEAST_MS, clocks[chess.WHITE]),
        black_ms=max(LEAST_MS, clocks[chess.BLACK]),
        white_increment_ms=increments[chess.WHITE],
        black_increment_ms=increments[chess.BLACK],
        deadline_ms=deadline if cap_ms is None else min(deadline, cap_ms),
    )


def hurried(ledger: Ledger, side: chess.Color, *, plain: bool = False) -> bool:
    """Whether a side's flag may well decide: under half a minute, less than the other side, and no increment."""
    plain = plain or ledger.outcome is not None
    if ledger.setup.time_control is None or _increment(ledger, side, plain):
        return False
    left_ms, other_ms = (_clock(ledger, each, 0, plain) for each in (side, not side))
    return left_ms < min(_SHORT_MS, other_ms)


def first_move_ms(ledger: Ledger, percent: int | None) -> int | None:
    """What our first move may take: so many percent of the platform's base time; None: no bound, or a later move.

    No clock runs yet, but the opponent waits, and Lichess aborts a game that does not begin.
    """
    control = ledger.setup.time_control
    if percent is None or control is None or len(ledger.moves) > 1:
        return None
    return max(LEAST_MS, control.initial_ms * percent // 100)


def _clock(ledger: Ledger, side: chess.Color, toll_ms: int, plain: bool) -> int:
    own, platform = ledger.clock_ms(side) - toll_ms, ledger.left_ms[side]
    if platform is None:
        return own
    return platform if plain else min(own, platform)


def _increment(ledger: Ledger, side: chess.Color, plain: bool) -> int:
    control = ledger.setup.time_control
    platform = 0 if control is None or side in ledger.berserk else control.increment_ms
    if plain:
        return platform
    own = ledger.setup.rules.dials.prices.increment_ms
    return own if control is None else min(own, platform)


def _cheapest_toll(ledger: Ledger) -> int:
    """The least any legal move costs; a repeated position costs nothing, but cannot be counted on."""
    board, prices = ledger.board, ledger.setup.rules.dials.prices
    # Cheapest pieces first: the first of them that can move at all settles it.
    kinds = sorted(chess.PIECE_TYPES, key=prices.toll_ms.__getitem__)
    toll_ms = next((prices.toll_ms[kind] for kind in kinds if _can_move(board, kind)), None)
    if (toll_ms is None or toll_ms > prices.castling_ms) and any(board.generate_castling_moves()):
        return prices.castling_ms
    return toll_ms or 0


def _can_move(board: chess.Board, kind: chess.PieceType) -> bool:
    """Other than by castling."""
    mask = board.pieces_mask(kind, board.turn)
    return bool(mask) and any(not board.is_castling(move) for move in board.generate_legal_moves(mask))
