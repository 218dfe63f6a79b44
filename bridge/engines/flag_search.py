"""Proofs of forced flags: can the side to move win within n of its own moves, whatever the other side does?

A search for wins and nothing else, with both clocks in the state. At the attacker's nodes one winning move is enough
and moves that threaten nothing are left out, at the defender's the first escape refutes: so a proof of two moves costs
some dozens of nodes. What is proven is true as far as thinking keeps to the line's paces; what is not proven is open.
"""

from collections.abc import Iterator

import chess

from bridge.engines.line import Line


class Spent(Exception):
    """The nodes that a proof may use are spent; nothing is known."""


class FlagSearch:
    """Proofs on one line. `most_nodes` is the value of `line.nodes` at which `Spent` is raised."""

    def __init__(self, line: Line, most_nodes: int) -> None:
        self.line = line
        self.most_nodes = most_nodes
        self._escapes: dict[int, chess.Move] = {}
        """By height: the last move that got out of a threat."""

    def win(self, moves: int) -> chess.Move | None:
        """A move that wins at once, or within `moves` more own moves; None where no such win is proven."""
        line = self.line
        me = line.board.turn
        for move in flagging_moves(line):
            if self._ends_in(move, me):
                return move
        if moves <= 0:
            return None
        threats = []
        for move in self._by_promise():
            self._charge()
            outcome = line.push(move)
            if outcome is None and threatens(line):
                threats.append(move)
            line.pop()
            if outcome is not None and outcome.winner == me:
                return move
        return next((move for move in threats if self._holds(move, moves - 1)), None)

    def lost(self, moves: int) -> bool:
        """Whether every move of the side to move is answered by `win(moves)`, or loses by itself."""
        line = self.line
        me = line.board.turn
        height = line.height
        known = self._escapes.get(height)
        for move in self._escaping(known):
            self._charge()
            outcome = line.push(move)
            lost = outcome.winner == (not me) if outcome is not None else self.win(moves) is not None
            line.pop()
            if not lost:
                self._escapes[height] = move
                return False
        return True

    def refuted(self, move: chess.Move, moves: int) -> bool:
        """Whether a move loses by itself, or to `win(moves)`."""
        line = self.line
        me = line.board.turn
        self._charge()
        outcome = line.push(move)
        lost = outcome.winner == (not me) if outcome is not None else self.win(moves) is not None
        line.pop()
        return lost

    def _holds(self, threat: chess.Move, moves: int) -> bool:
        """Whether nothing helps against a threat."""
        self._charge()
        self.line.push(threat)
        holds = self.lost(moves)
        self.line.pop()
        return holds

    def _ends_in(self, move: chess.Move, winner: chess.Color) -> bool:
        self._charge()
        outcome = self.line.push(move)
        self.line.pop()
        return outcome is not None and outcome.winner == winner

    def _by_promise(self) -> Iterator[chess.Move]:
        board = self.line.board
        yield from board.generate_legal_captures()
        for move in board.generate_legal_moves():
            if not board.is_capture(move):
                yield move

    def _escaping(self, known: chess.Move | None) -> Iterator[chess.Move]:
        board = self.line.board
        if known is not None and board.is_legal(known):
            yield known
        for move in self._by_promise():
            if move != known:
                yield move

    def _charge(self) -> None:
        if self.line.nodes >= self.most_nodes:
            raise Spent


def flagging_moves(line: Line) -> Iterator[chess.Move]:
    """Moves that empty the other clock, by the prices alone; an ending on the board may still outrank the flag."""
    board, prices = line.board, line.prices
    me, them = board.turn, not board.turn
    clock_ms = line.clock_ms[them]
    sure = maybe = chess.BB_EMPTY
    for piece in range(chess.PAWN, chess.KING):
        if prices.loss_ms[piece] >= clock_ms:
            sure |= board.pieces_mask(piece, them)
        elif prices.loss_ms[piece] + prices.double_chip_ms >= clock_ms:
            maybe |= board.pieces_mask(piece, them)
    if sure:
        yield from board.generate_legal_moves(to_mask=sure)
    if prices.loss_ms[chess.PAWN] + prices.double_chip_ms >= clock_ms and board.ep_square:
        yield from board.generate_legal_ep()
    if prices.double_chip_ms >= clock_ms:
        maybe = ~(sure | board.occupied_co[me]) & chess.BB_ALL
    if maybe:
        for move in board.generate_legal_moves(to_mask=maybe):
            line.nodes += 1
            if board.gives_check(move):
                yield move


def threatens(line: Line) -> bool:
    """Whether the side that has just moved could flag the other, if that one let it, or if it cannot pay its move."""
    board, prices = line.board, line.prices
    side, attacker = board.turn, not board.turn
    clock_ms = line.clock_ms[side]
    left_ms = clock_ms - line.paces[side].think_ms(clock_ms) - line.dearest_toll_ms(side)
    if left_ms <= prices.double_chip_ms:
        return True
    for piece in range(chess.PAWN, chess.KING):
        if prices.loss_ms[piece] + prices.chip_ms >= left_ms:
            for square in chess.scan_forward(board.pieces_mask(piece, side)):
                if board.attackers_mask(attacker, square):
                    return True
    return False


def may_flag(line: Line, victim: chess.Color, hits: int) -> bool:
    """Whether a clock could be emptied by so many moves of the other side and what the victim spends between them.

    A bound from the men on the board and those that pawns may become: False is certain (but for several double checks),
    True is worth a search.
    """
    prices, clock_ms = line.prices, line.clock_ms[victim]
    moves = hits if line.board.turn == victim else hits - 1
    promoted = _promotions(line.board, victim, moves)
    spent_ms = moves * (_dearest_move_ms(line, victim, promoted) + line.paces[victim].think_ms(clock_ms))
    chips_ms = hits * prices.chip_ms + max(0, prices.double_chip_ms - prices.chip_ms)
    return clock_ms <= spent_ms + _dearest_ms(line, victim, hits, promoted) + chips_ms


def _promotions(board: chess.Board, side: chess.Color, moves: int) -> int:
    """How many pawns so many moves may promote."""
    ranks = (chess.square_rank(square) for square in chess.scan_forward(board.pieces_mask(chess.PAWN, side)))
    promoted, left = 0, moves
    for away in sorted(7 - rank if side else rank for rank in ranks):
        left -= away
        if left < 0:
            break
        promoted += 1
    return promoted


def _dearest_move_ms(line: Line, side: chess.Color, promoted: int) -> int:
    prices = line.prices
    castling_ms = prices.castling_ms if line.board.castling_rights & line.board.occupied_co[side] else 0
    queening_ms = max(*prices.toll_ms, prices.toll_ms[chess.PAWN] + max(prices.fee_ms)) if promoted else 0
    return max(line.dearest_toll_ms(side), castling_ms, queening_ms)


def _dearest_ms(line: Line, victim: chess.Color, hits: int, promoted: int) -> int:
    own, loss_ms = line.board.occupied_co[victim], line.prices.loss_ms
    men = {piece: (line.board.pieces_mask(piece, victim) & own).bit_count() for piece in range(chess.PAWN, chess.KING)}
    men[chess.PAWN] -= promoted
    losses = [loss_ms[piece] for piece, count in men.items() for _ in range(min(count, hits))]
    return sum(sorted([*losses, *[max(loss_ms)] * promoted])[-hits:])
