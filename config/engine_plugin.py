"""Write your own engine: a template that works as it stands.

    engines:
      mine: {kind: python, plugin: "engine_plugin.py:GreedyEngine", options: {captures: true}}

The engine runs inside the bridge, in a thread of its own. It gets a copy of the game and what time it may use, and
answers with a move; it cannot reach the platform, resign, or keep the clock. An exception, an illegal move or an answer
after the deadline ends it; the bridge reports why and starts a new one.
"""

import random

from bridge.interfaces import Choice, Limit
from bridge.rules.ledger import Ledger


class GreedyEngine:
    """Takes whatever pays best, and else moves by lot."""

    def __init__(self, captures: bool = True) -> None:
        # Keyword arguments are the `options` of the configuration. Load books and networks here.
        self.captures = captures

    def think(self, ledger: Ledger, limit: Limit) -> Choice:
        """Choose a move; `async def think` works as well. That one is cancelled when its move is not wanted any more
        (a takeback, the end of the game, the deadline); a plain one may have a method `stop()`, which is called then.

        ledger.board            the position and all moves (python-chess; castling is king takes rook)
        ledger.clock_ms(side)   a KiriChess clock, milliseconds, after the last move
        ledger.setup.rules.dials.prices   what captures, tolls and checks cost, milliseconds
        limit.deadline_ms       the answer must be there by then, from now
        limit.white_ms, limit.black_ms    what each side may think with (never 0)
        """
        board = ledger.board
        prices = ledger.setup.rules.dials.prices

        def gain_ms(uci: str) -> int:
            move = board.parse_uci(uci)
            piece, captured = board.piece_type_at(move.from_square), board.piece_type_at(move.to_square)
            toll_ms = prices.toll_ms[piece or 0]
            if not self.captures or captured is None or board.is_castling(move):
                return -toll_ms
            return prices.gain_ms[captured] + prices.loss_ms[captured] - toll_ms

        moves = [move.uci() for move in board.legal_moves]
        random.shuffle(moves)
        best = max(moves, key=gain_ms)
        # score_cp and depth may be told as well; `why` is kept with the game.
        return Choice(best, why=f"gap {gain_ms(best):+} ms")

    def close(self) -> None:
        """Give back files and processes. May be left out."""
