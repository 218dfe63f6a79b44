"""What an engine is shown, and what is accepted from it: a private copy of the ledger in, a legal move out."""

import copy

import chess

from bridge.engines.view import allowed
from bridge.errors import EngineError, RecordError
from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger
from bridge.rules.position import read_move


def private_copy(ledger: Ledger) -> Ledger:
    """A ledger of its own: whatever is done to it leaves the original alone."""
    # Frozen facts are shared, and a board copies itself: `deepcopy` alone takes five times as long.
    shared: list[object] = [ledger.setup, *ledger.rows]
    known: dict[int, object] = {id(fact): fact for fact in shared}
    known[id(ledger.board)] = ledger.board.copy()
    return copy.deepcopy(ledger, known)


def require_move(ledger: Ledger) -> None:
    """Raises EngineError where the side to move has no legal move: there is nothing to ask an engine."""
    if not any(ledger.board.generate_legal_moves()):
        raise no_move(ledger)


def no_move(ledger: Ledger) -> EngineError:
    """There is nothing to ask an engine."""
    return EngineError(f"no legal move in {ledger.board.fen()}: the game is over")


def accept(ledger: Ledger, choice: Choice, engine: str) -> Choice:
    """The choice with its move spelled as the game spells castling (R11).

    Raises:
        EngineError: the move is not UCI or not legal; names the engine.
    """
    try:
        move = read_move(ledger.board, choice.uci)
    except RecordError as error:
        raise EngineError(f"{engine} answered an {error}") from error
    uci = ledger.board.uci(move, chess960=ledger.chess960)
    return Choice(uci, choice.score_cp, choice.depth, choice.why)


def within(ledger: Ledger, choice: Choice, limit: Limit) -> Choice:
    """An accepted choice, or the best of `limit.root_moves` where the engine chose, unasked, another move."""
    moves = allowed(ledger.board, limit.root_moves)
    if limit.root_moves is None or read_move(ledger.board, choice.uci) in moves:
        return choice
    return Choice(
        ledger.board.uci(moves[0], chess960=ledger.chess960), choice.score_cp, choice.depth, "of the moves left"
    )


def engine_board(ledger: Ledger) -> chess.Board:
    """The game as an engine is told it: castling as king takes rook only in chess960."""
    source = ledger.board
    board = source.root()
    board.chess960 = ledger.chess960
    for move in source.move_stack:
        board.push(chess.Move.from_uci(board.uci(move)))
    return board
