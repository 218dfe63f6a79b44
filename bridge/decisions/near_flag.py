"""Whether a flag could fall by our next move or the reply to it: then no source that knows of no clock may choose."""

import chess

from bridge.rules.dials import Prices
from bridge.rules.ledger import Ledger

_MARGIN_MS = 2_000
"""What looking up and sending a move may take."""


def near_flag(ledger: Ledger, white_ms: int, black_ms: int) -> bool:
    """An upper bound by the most that one move can cost either side; False after the KiriChess end.

    `white_ms`, `black_ms`: as an engine is told them, the dearest toll of the side to move taken off already.
    """
    if ledger.outcome is not None:
        return False
    prices, board, me = ledger.setup.rules.dials.prices, ledger.board, ledger.turn
    own_ms = (white_ms if me else black_ms) - max(prices.fee_ms) - prices.castling_ms
    chip_ms = max(prices.chip_ms, prices.double_chip_ms)
    if own_ms <= _dearest_loss_ms(board, me, prices) + chip_ms + _MARGIN_MS:
        return True
    return ledger.clock_ms(not me) <= _dearest_loss_ms(board, not me, prices) + chip_ms


def _dearest_loss_ms(board: chess.Board, side: chess.Color, prices: Prices) -> int:
    own = board.occupied_co[side]
    if board.turn == side and board.pawns & own & chess.BB_RANKS[6 if side else 1]:
        return max(prices.loss_ms)  # what it promotes to may be taken
    men = (prices.loss_ms[piece] for piece in range(chess.PAWN, chess.KING) if board.pieces_mask(piece, side) & own)
    return max(men, default=0)
