"""What to do about a game of ours now: wait, think, or act (resign, offer a draw)."""

from dataclasses import dataclass
from enum import Enum, auto

import chess

from bridge.rules.ledger import Ledger

_NOT_DRAWN_BY_THE_PLATFORM = frozenset({"flag_insufficient_material", "double_flag", "insufficient_material"})


class Decision(Enum):
    """The next step in a game that we play."""

    WAIT = auto()
    """Nothing is owed: it is the other side's turn, or the game is over."""
    THINK = auto()
    """It is our move."""
    RESIGN = auto()
    """Our KiriChess flag has fallen for certain, and the platform does not know."""
    OFFER_DRAW = auto()
    """KiriChess says draw where the platform plays on."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Our side in a game. `acts`: whether KiriChess may change its course (casual games outside tournaments only)."""

    side: chess.Color
    acts: bool


def decide(ledger: Ledger, seat: Seat, *, draw_offered: bool) -> Decision:
    """The next step. `draw_offered`: whether our own offer was made already.

    Resigning needs the ledger's own flag from a reading that is certain (fair play); a won or drawn KiriChess game is
    played on as plain chess.
    """
    if ledger.platform is not None:
        return Decision.WAIT
    outcome = ledger.outcome
    if outcome is not None and seat.acts and ledger.certain:
        if outcome.flag is not None and outcome.winner == (not seat.side) and outcome.flag.side == seat.side:
            return Decision.RESIGN
        if outcome.result == "1/2-1/2" and outcome.reason in _NOT_DRAWN_BY_THE_PLATFORM and not draw_offered:
            return Decision.OFFER_DRAW
    if ledger.turn != seat.side or not any(ledger.board.generate_legal_moves()):
        return Decision.WAIT
    return Decision.THINK
