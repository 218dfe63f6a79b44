"""Wins that can be paid: a line that mates is worth nothing if its tolls flag us before the mate.

A line is played out with its tolls, chips and thinking. Where it ends in an ending with a known bill (rules §7) the
clock that is left must pay that, unless the other side runs out sooner.
"""

import chess

from bridge.engines.line import Line
from bridge.engines.view import Found, spelled
from bridge.rules.bills import Bill, conversion_bill

FEW_MEN = 12
"""With more men on the board endings are far off."""
WINNING_CP = 200


def matters(line: Line) -> bool:
    """Whether the side to move may run out of time before it has won."""
    me = line.board.turn
    few = line.board.occupied.bit_count() <= FEW_MEN
    return few and line.clock_ms[me] <= 40 * line.dearest_toll_ms(me)


def is_hunt(line: Line) -> bool:
    """Whether the side to move has a queen or a rook against a king with at most a pawn or a minor piece.

    Few moves of a small search win those; what they cost is what it sees better than an engine does.
    """
    board, me = line.board, line.board.turn
    theirs = board.occupied_co[not me]
    alone = theirs.bit_count() <= 2 and not theirs & (board.queens | board.rooks)
    return alone and bool(board.occupied_co[me] & (board.queens | board.rooks))


def payable(line: Line, found: Found) -> bool:
    """Whether our clock lives through the line that a search expects, and through the bill of where it leads."""
    me, height = line.board.turn, line.height
    try:
        for uci in found.pv:
            move = spelled(line.board, uci)
            if move is None:
                return True
            outcome = line.push(move)
            if outcome is not None:
                # A flag of ours that only draws spoils a win too.
                return outcome.winner == me or not outcome.reason.startswith("flag")
        bill = conversion_bill(line.board, me)
        return bill is None or _can_pay(line, bill, me)
    finally:
        while line.height > height:
            line.pop()


def _can_pay(line: Line, bill: Bill, me: chess.Color) -> bool:
    """By the bill's share in these dials; or because the other side cannot pay for as many moves of its king."""
    scale_ms = line.prices.toll_ms[chess.QUEEN] / 4_000 if line.prices.toll_ms[chess.QUEEN] else 0.0
    need_ms = (bill.seconds - bill.last_toll_s) * 1000 * scale_ms
    need_ms += bill.moves * line.paces[me].think_ms(line.clock_ms[me])
    theirs_ms = line.clock_ms[not me]
    their_need_ms = bill.moves * (line.prices.toll_ms[chess.KING] + line.paces[not me].think_ms(theirs_ms))
    return line.clock_ms[me] > need_ms or theirs_ms <= their_need_ms * line.clock_ms[me] / max(1.0, need_ms)
