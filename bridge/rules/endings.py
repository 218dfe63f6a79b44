"""Endings on the board, and what a fallen flag is worth (rules §1 steps 6 and 7, R1, R7, R18, R19)."""

from dataclasses import dataclass

import chess

from bridge.rules.dead import is_dead_exactly

FIFTY_MOVES_PLIES = 100


@dataclass(frozen=True, slots=True)
class Flag:
    """The flag that decided a game. Cause: `thinking`, `toll`, `capture` or `chip`; forced: R1's measure."""

    side: chess.Color
    cause: str
    forced: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: a reason of rules §5, the winner (None: drawn, or no result) and the flag that decided it."""

    reason: str
    winner: chess.Color | None = None
    flag: Flag | None = None

    @property
    def result(self) -> str:
        """PGN result: `1-0`, `0-1`, `1/2-1/2`, or `*` where there is none."""
        if self.winner is not None:
            return "1-0" if self.winner else "0-1"
        return "*" if self.reason in ("unfinished", "aborted") else "1/2-1/2"


def board_ending(
    board: chess.Board, occurrences: int, mate: bool, dead_position: str, *, had_moves: bool | None = None
) -> Outcome | None:
    """The ending that stands on the board, in the order of step 6; None if the game goes on.

    `occurrences` counts how often this position has stood, now included. `had_moves` spares the search for a legal
    move where it is known.
    """
    if mate:
        return Outcome("checkmate", not board.turn)
    if had_moves is False or (had_moves is None and not _has_move(board)):
        return Outcome("stalemate")
    if occurrences >= 3:
        return Outcome("threefold")
    if board.halfmove_clock >= FIFTY_MOVES_PLIES:
        return Outcome("fifty_moves")
    if is_dead_by_material(board) or (dead_position == "exact" and is_dead_exactly(board)):
        return Outcome("insufficient_material")
    return None


def _has_move(board: chess.Board) -> bool:
    """Whether the side to move, not checkmated, has a legal move; nearly always a pawn tells it at once."""
    king = board.king(board.turn)
    assert king is not None, "both kings stand on every board"
    # A pawn off the king's lines is not pinned; and a check that is no mate leaves a move anyhow.
    pawns = board.pawns & board.occupied_co[board.turn] & ~_KING_LINES[king]
    ahead = pawns << 8 if board.turn else pawns >> 8
    return bool(ahead & ~board.occupied) or any(board.generate_legal_moves())


_KING_LINES = tuple(
    chess.BB_RANKS[chess.square_rank(king)] | chess.BB_FILES[chess.square_file(king)] | chess.BB_DIAG_ATTACKS[king][0]
    for king in chess.SQUARES
)
"""By the king's square: the squares from which a queen on an empty board would see it."""


def is_dead_by_material(board: chess.Board) -> bool:
    """R7 `material`: bare kings, king and one minor against king, or only kings and bishops of one square colour."""
    if board.pawns or board.rooks or board.queens:
        return False
    minors = board.knights | board.bishops
    if not minors & (minors - 1):
        return True
    if board.knights:
        return False
    return not (board.bishops & chess.BB_LIGHT_SQUARES and board.bishops & chess.BB_DARK_SQUARES)


def can_win_on_time(board: chess.Board, side: chess.Color) -> bool:
    """Step 7: a lone king, or a king and a single bishop or knight, cannot win by a flag."""
    own = board.occupied_co[side] & ~board.kings
    if not own:
        return False
    lone = not own & (own - 1)
    return not (lone and own & (board.knights | board.bishops))


def flag_outcome(board: chess.Board, flag: Flag) -> Outcome:
    """The other side wins, or draws where it has too little to win with (step 7)."""
    winner = not flag.side
    if can_win_on_time(board, winner):
        return Outcome("flag", winner, flag)
    return Outcome("flag_insufficient_material", None, flag)
