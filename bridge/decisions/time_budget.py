"""What an engine may use for its next move: the smaller of both clocks, never past a flag."""

from dataclasses import dataclass

import chess

from bridge.rules.dials import Prices
from bridge.rules.ledger import Ledger

LEAST_MS = 20
"""An engine is never told less: with no time at all engines answer nonsense, and the flag falls either way."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Milliseconds for the engine's own clocks and its hard deadline, all above 0."""

    white_ms: int
    black_ms: int
    white_increment_ms: int
    black_increment_ms: int
    deadline_ms: int


def budget(ledger: Ledger, overhead_ms: int, elapsed_ms: int, cap_ms: int | None = None) -> Budget:
    """The time for the side to move: min(KiriChess clock − its next toll, platform clock) − overhead, both sides.

    `elapsed_ms`: how long the turn has lasted already. `cap_ms`: an upper bound on the deadline. After the KiriChess
    end only the platform's clock counts: the rest is plain chess.
    """
    turn = ledger.turn
    clocks = {side: _clock(ledger, side, _dearest_toll(ledger, side)) for side in chess.COLORS}
    clocks[turn] -= elapsed_ms + overhead_ms
    # The deadline is the flag itself: a cheaper move than the dearest may still be played then.
    deadline = _clock(ledger, turn, _cheapest_toll(ledger)) - elapsed_ms - overhead_ms
    if cap_ms is not None:
        deadline = min(deadline, cap_ms)
    increments = {side: _increment(ledger, side) for side in chess.COLORS}
    return Budget(
        white_ms=max(LEAST_MS, clocks[chess.WHITE]),
        black_ms=max(LEAST_MS, clocks[chess.BLACK]),
        white_increment_ms=increments[chess.WHITE],
        black_increment_ms=increments[chess.BLACK],
        deadline_ms=max(LEAST_MS, deadline),
    )


def _clock(ledger: Ledger, side: chess.Color, toll_ms: int) -> int:
    platform = ledger.left_ms[side]
    if ledger.outcome is not None:
        return platform if platform is not None else ledger.clock_ms(side)
    own = ledger.clock_ms(side) - toll_ms
    return own if platform is None else min(own, platform)


def _increment(ledger: Ledger, side: chess.Color) -> int:
    control = ledger.setup.time_control
    platform = 0 if control is None or side in ledger.berserk else control.increment_ms
    if ledger.outcome is not None:
        return platform
    own = ledger.setup.rules.dials.prices.increment_ms
    return own if control is None else min(own, platform)


def _dearest_toll(ledger: Ledger, side: chess.Color) -> int:
    prices = ledger.setup.rules.dials.prices
    own = ledger.board.occupied_co[side]
    return max(prices.toll_ms[piece] for piece in chess.PIECE_TYPES if ledger.board.pieces_mask(piece, side) & own)


def _cheapest_toll(ledger: Ledger) -> int:
    """The least any legal move costs; a repeated position costs nothing, but cannot be counted on."""
    prices = ledger.setup.rules.dials.prices
    return min((_toll(ledger.board, move, prices) for move in ledger.board.legal_moves), default=0)


def _toll(board: chess.Board, move: chess.Move, prices: Prices) -> int:
    if board.is_castling(move):
        return prices.castling_ms
    piece = board.piece_type_at(move.from_square)
    return prices.toll_ms[piece] if piece else 0
