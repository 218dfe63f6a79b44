"""What to do about a game of ours now: wait, think, resign; and whether a draw is wanted, or claimed."""

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


@dataclass(frozen=True, slots=True)
class Seat:
    """Our side in a game. `acts`: whether KiriChess may change its course (casual games outside tournaments only)."""

    side: chess.Color
    acts: bool


def decide(ledger: Ledger, seat: Seat) -> Decision:
    """The next step.

    Resigning needs the ledger's own flag from a reading that is certain (fair play); a won or drawn KiriChess game is
    played on as plain chess.
    """
    if ledger.platform is not None:
        return Decision.WAIT
    outcome = ledger.outcome
    flag = outcome.flag if outcome is not None and outcome.winner == (not seat.side) else None
    if flag is not None and flag.side == seat.side and seat.acts and ledger.certain:
        return Decision.RESIGN
    # Where the game goes on there is a move; after a KiriChess end the board may come to have none.
    if ledger.turn != seat.side or (outcome is not None and not any(ledger.board.generate_legal_moves())):
        return Decision.WAIT
    return Decision.THINK


def claims_draw(ledger: Ledger, seat: Seat) -> bool:
    """Whether the game of an opponent who has left is a draw: KiriChess says so for certain, or we could never mate."""
    outcome = ledger.outcome
    if outcome is not None and seat.acts and ledger.certain:
        return outcome.winner is None
    return ledger.board.has_insufficient_material(seat.side)


def wants_draw(ledger: Ledger, seat: Seat, *, theirs: bool, offered: bool) -> bool:
    """Whether to offer a draw, or to accept `theirs`: where KiriChess says draw for certain and the platform plays on.

    `offered`: our own offer was made already; one is enough, and none is made where the platform draws by itself.
    """
    outcome = ledger.outcome
    if ledger.platform is not None or outcome is None or not seat.acts or not ledger.certain:
        return False
    return outcome.result == "1/2-1/2" and (theirs or (not offered and outcome.reason in _NOT_DRAWN_BY_THE_PLATFORM))
