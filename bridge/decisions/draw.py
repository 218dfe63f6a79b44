"""Whether a draw is good enough: by what the engine has said, because a win cannot be paid, or a flag not be saved."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import chess

from bridge.decisions.opponents import Opponents
from bridge.rules.bills import conversion_bill, stronger_side
from bridge.rules.effects import push
from bridge.rules.endings import can_win_on_time
from bridge.rules.ledger import Ledger


@dataclass(frozen=True, slots=True)
class DrawTerms:
    """Draw when the last `moves` scores are all within `score_cp` of 0, at most `pieces` are on the board and
    each side has made `min_moves`, or, `by_tables`, when tables say so."""

    enabled: bool = False
    score_cp: int = 0
    moves: int = 10
    pieces: int = 10
    by_tables: bool = True
    min_moves: int = 0
    opponents: Opponents = field(default_factory=Opponents)

    def against(self, *, bot: bool, rating: int | None) -> "DrawTerms":
        """The same in a game with one opponent."""
        return replace(self, enabled=self.enabled and self.opponents.include(bot=bot, rating=rating))


def is_level(ledger: Ledger, scores_cp: Sequence[int | None], terms: DrawTerms, wdl: int | None = None) -> bool:
    """`scores_cp`: one for each move of ours, None where the engine gave none. `wdl`: what tables say of the position,
    2 to -2, where chess alone decides; None: nothing."""
    if terms.enabled and terms.by_tables and wdl == 0:
        return True
    if not terms.enabled or len(ledger.moves) < 2 * terms.min_moves:
        return False
    last = scores_cp[-terms.moves :]
    if len(last) < terms.moves or chess.popcount(ledger.board.occupied) > terms.pieces:
        return False
    return all(score is not None and abs(score) <= terms.score_cp for score in last)


def cannot_pay(ledger: Ledger, side: chess.Color) -> bool:
    """Whether the side's winning ending costs more than its KiriChess clock holds (rules §7)."""
    if ledger.outcome is not None or stronger_side(ledger.board, ledger.setup.rules.dials) != side:
        return False
    bill = conversion_bill(ledger.board, side)
    return bill is not None and not bill.can_be_paid(ledger.clock_ms(side))


def must_fall(ledger: Ledger, side: chess.Color) -> bool:
    """Whether the side is to move and every move it has loses by its own flag, all thinking apart."""
    prices, left_ms, other_ms = ledger.setup.rules.dials.prices, ledger.clock_ms(side), ledger.clock_ms(not side)
    dearest_ms = max(*prices.toll_ms, prices.castling_ms) + max(prices.fee_ms)
    if ledger.outcome is not None or ledger.turn != side or left_ms > dearest_ms:
        return False
    for move in ledger.board.legal_moves:
        board = ledger.board.copy(stack=False)
        effects, _, mate = push(board, move, prices, ledger.seen)
        lives = left_ms + effects.mover_ms + prices.increment_ms > 0 or other_ms + effects.opponent_ms <= 0
        if lives or mate or board.is_stalemate():
            return False
    return can_win_on_time(ledger.board, not side)
