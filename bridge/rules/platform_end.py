"""What the platform's ending means when the ledger has none of its own (rules §5, R6, R9, R10)."""

import chess

from bridge.rules.budget import safe_platform_ms
from bridge.rules.endings import Outcome, can_win_on_time
from bridge.rules.events import Ended
from bridge.rules.snapshot import RECORD_END, Anomaly, Setup

_OWN_RULE = frozenset({"insufficientMaterialClaim"})
_NO_RESULT = frozenset({"resign", "unknownFinish", "variantEnd"})
"""What leaves a game unfinished; `resign` where nobody is named."""
_MAX_PLIES = 600
"""Lichess draws by itself here (Lichess API, automatic draws)."""


def platform_outcome(board: chess.Board, end: Ended, setup: Setup, plies: int) -> tuple[Outcome, Anomaly | None]:
    """The outcome by the platform's word, with the anomaly it deserves. Pending thinking is charged already."""

    def noted(outcome: Outcome, kind: str, note: str) -> tuple[Outcome, Anomaly]:
        return outcome, Anomaly(kind, plies, note)

    match end.status:
        case "resign" if end.winner is not None:
            return Outcome("resignation", end.winner), None
        case "draw":
            if plies >= _MAX_PLIES:
                return noted(Outcome("agreement"), "platform_draw_rule", f"drawn by the platform at ply {plies}")
            return Outcome("agreement"), None
        case status if status in _OWN_RULE:
            return noted(Outcome("agreement"), "platform_draw_rule", f"the platform drew it by its own rule ({status})")
        case "outoftime":
            return _out_of_time(board, end, setup, plies)
        case "timeout" | "noStart":
            if end.winner is None:
                return noted(Outcome("abandonment"), "no_winner", "abandoned, and the platform names no winner")
            return Outcome("abandonment", end.winner), None
        case "cheat":
            return noted(Outcome("forfeit", end.winner), "forfeit", "the platform forfeited the game")
        case "aborted":
            return Outcome("aborted"), None
        case status if status == RECORD_END:
            return Outcome("unfinished"), None
        case "mate" | "stalemate":
            return noted(Outcome("unfinished"), "platform_end", f"the platform says {end.status}, the board does not")
        case status if status not in _NO_RESULT and end.winner is not None:
            return noted(
                Outcome("resignation", end.winner), "termination_unknown", f"ended for a reason unknown: {status}"
            )
    return noted(Outcome("unfinished"), "platform_end", f"the platform ended the game as {end.status}")


def _out_of_time(board: chess.Board, end: Ended, setup: Setup, plies: int) -> tuple[Outcome, Anomaly | None]:
    """R6: the platform's flag fell while the KiriChess clock is up."""
    loser = board.turn if end.winner is None else not end.winner
    safe_ms = safe_platform_ms(setup.rules.dials)
    control = setup.time_control
    anomaly = None
    if control is not None and control.initial_ms < safe_ms:
        note = f"the platform's clock of {control.initial_ms} ms is below the safe {safe_ms} ms"
        anomaly = Anomaly("platform_clock_too_short", plies, note)
    if setup.rules.dials.platform_timeout == "unfinished":
        return Outcome("unfinished"), anomaly
    winner = not loser
    return Outcome("platform_timeout", winner if can_win_on_time(board, winner) else None), anomaly
