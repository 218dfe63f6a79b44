"""How a PGN says a game ended, in Lichess's status words (rules §5)."""

import re
from dataclasses import dataclass

import chess

from bridge.rules.endings import board_ending
from bridge.rules.snapshot import Anomaly

_WINNERS = {"1-0": chess.WHITE, "0-1": chess.BLACK}
_DRAWS = frozenset({"1/2-1/2", "1/2", "½-½", "0.5-0.5", "=-="})
_DRAWN_BY = re.compile(r"draw(?:n)? by (.+)")


@dataclass(frozen=True, slots=True)
class PgnEnd:
    """Status and winner as Lichess names them, and what is odd about them."""

    status: str
    winner: chess.Color | None = None
    notes: tuple[Anomaly, ...] = ()
    ran_out: bool = False
    """The platform's clock of the side to move was empty, and the platform drew the game all the same."""


def pgn_end(result: str, termination: str, board: chess.Board) -> PgnEnd:
    """Result and Termination tags, and the board after the last move, with its moves on the stack (rules §5).

    Covers Lichess's and the PGN standard's words and chess.com's sentences; others are told by the result alone.
    """
    if result in _WINNERS:
        return _won(_WINNERS[result], termination.strip(), board)
    if result in _DRAWS:
        return _drawn(termination.strip(), board)
    return PgnEnd("unknownFinish")


def same_result(one: str, other: str) -> bool:
    """Whether two results mean the same; a draw has many spellings."""
    return one == other or (one in _DRAWS and other in _DRAWS)


def _won(winner: chess.Color, termination: str, board: chess.Board) -> PgnEnd:
    if board.is_checkmate():
        return PgnEnd("mate", winner)
    text = termination.lower()
    # Lichess calls a game so whose loser never moved; one that was left later it calls a time forfeit.
    status = "noStart" if text == "abandoned" else _listed(text)
    if status is not None:
        return PgnEnd(status, winner)
    if text == "normal" or "resign" in text:
        return PgnEnd("resign", winner)
    return PgnEnd("resign", winner, (_unknown(termination, board),))


def _drawn(termination: str, board: chess.Board) -> PgnEnd:
    if board.is_stalemate():
        return PgnEnd("stalemate")
    text = termination.lower()
    status = _listed(text)
    if status is not None:
        return PgnEnd(status)
    drawn_by = _DRAWN_BY.search(text)
    if text == "normal" or "agree" in text or _is_drawn_on_board(board):
        return PgnEnd("draw")
    if drawn_by:
        note = f"the platform drew it by its own rule ({drawn_by[1]})"
        own_rule = Anomaly("platform_draw_rule", len(board.move_stack), note)
        return PgnEnd("draw", None, (own_rule,), ran_out="timeout" in drawn_by[1])
    return PgnEnd("draw", None, (_unknown(termination, board),))


def _listed(text: str) -> str | None:
    if text == "time forfeit" or text.endswith("on time"):
        return "outoftime"
    if text == "abandoned" or text.endswith("game abandoned"):
        return "timeout"
    return "cheat" if text == "rules infraction" else None


def _is_drawn_on_board(board: chess.Board) -> bool:
    return board_ending(board, 3 if board.is_repetition(3) else 1, False, "material") is not None


def _unknown(termination: str, board: chess.Board) -> Anomaly:
    said = f"Termination {termination!r} does not fit or tell the ending" if termination else "no Termination"
    return Anomaly("termination_unknown", len(board.move_stack), f"{said}: taken from the result")
