"""How long to think: what is left of the clock once the tolls of the rest of the game are set aside.

The figures of expectation come from engine games (moves left by men on the board, the share of material that will still
be taken); they plan, they never touch a clock.
"""

import math
from dataclasses import dataclass

import chess

from bridge.rules.clock_text import clock_text
from bridge.rules.dials import Dials, Prices

_MOVES_LEFT = (18.0, 1.2)
"""Moves of ours still to come: a constant, and so many for each man on the board."""
_TAKEN = (0.9, 9.0)
"""The share of the material that will still be taken: its limit, and the men at which it bends."""
_MIX = {chess.PAWN: 0.30, chess.KNIGHT: 0.17, chess.BISHOP: 0.17, chess.ROOK: 0.14, chess.QUEEN: 0.13, chess.KING: 0.09}
"""Which piece moves how often."""
_LEAST, _MOST = 0.01, 0.08
"""Bounds of one thought, as shares of the clock."""
LEAST_MS = 20


@dataclass(frozen=True, slots=True)
class TimePlan:
    """A thinking time and what it follows from; milliseconds. `bound` names what decided it."""

    think_ms: int
    clock_ms: int
    moves_left: int
    tolls_ms: int
    captures_ms: int
    hit_ms: int
    bound: str
    lost_ms: int = 0
    """On the way, by all moves to come."""

    @property
    def disposable_ms(self) -> int:
        """What may be thought away in the rest of the game."""
        return self.clock_ms - self.tolls_ms + self.captures_ms - self.lost_ms


def plan_time(
    board: chess.Board,
    clock_ms: int,
    dials: Dials,
    *,
    platform_ms: int | None = None,
    increment_ms: int = 0,
    overhead_ms: int = 0,
    haste: float | None = None,
    ahead: bool = True,
) -> TimePlan:
    """The thinking time of the side to move with `clock_ms` on its KiriChess clock.

    `platform_ms` is the platform's clock where that is the shorter one: of it, which pays no tolls, a share is used.
    `overhead_ms` is lost on the way with every move.
    `haste` stretches the number of moves that are set aside for. None: where captures burn, clocks run down together
    and the reserve decides, so the tolls of all expected moves are set aside; elsewhere a share of the clock is used.
    Without `ahead` it is that share everywhere.
    """
    prices = dials.prices
    me = board.turn
    men = board.occupied.bit_count()
    moves = max(1.0, (haste or 1.0) * (_MOVES_LEFT[0] + _MOVES_LEFT[1] * men))
    tolls = moves * sum(share * prices.toll_ms[piece] for piece, share in _MIX.items())
    captures = _captures_ms(board, me, prices, men) + moves * increment_ms
    hit = _hit_ms(board, me, prices)
    disposable = clock_ms - tolls + captures - moves * overhead_ms
    share = stockfish_share(board.ply())
    name, spends = "disposable time", min(_MOST * clock_ms, max(_LEAST * clock_ms, disposable / moves))
    if not ahead or (haste is None and not _burns(prices)):
        # Captures pay time back here, and strength wins more than the reserve does (measured).
        name, spends = "a share of the clock", clock_ms * share + increment_ms - overhead_ms
    bounds = {
        name: spends,
        "the next hit": max(_LEAST * clock_ms, clock_ms - hit - max(prices.toll_ms)) if hit < clock_ms else math.inf,
        "the platform's clock": math.inf if platform_ms is None else platform_ms * share + increment_ms - overhead_ms,
    }
    bound = min(bounds, key=bounds.__getitem__)
    think_ms = max(LEAST_MS, round(bounds[bound]))
    lost = round(moves * overhead_ms)
    return TimePlan(think_ms, clock_ms, round(moves), round(tolls), round(captures), hit, bound, lost)


def explain_time(plan: TimePlan) -> str:
    """One line: what the thinking time follows from."""
    lost = f" and lose {clock_text(plan.lost_ms)} on their way" if plan.lost_ms else ""
    return (
        f"{clock_text(plan.think_ms)} of {clock_text(plan.clock_ms)}: about {plan.moves_left} moves to come cost "
        f"{clock_text(plan.tolls_ms)} of tolls{lost}, captures and increments bring {clock_text(plan.captures_ms)}, so "
        f"{clock_text(plan.disposable_ms)} can be thought away; the largest hit next is {clock_text(plan.hit_ms)} "
        f"(bound by {plan.bound})"
    )


def stockfish_share(ply: int) -> float:
    """The part of its clock that Stockfish means to use for a move in sudden death; `ply` as the board counts it."""
    return min(0.012 + math.pow(ply + 3, 0.45) * 0.0039, 0.2)


def _burns(prices: Prices) -> bool:
    return sum(prices.gain_ms) < sum(prices.loss_ms)


def _captures_ms(board: chess.Board, me: chess.Color, prices: Prices, men: int) -> float:
    share = _TAKEN[0] * (1 - math.exp(-men / _TAKEN[1]))
    mine, theirs = board.occupied_co[me], board.occupied_co[not me]
    gained = sum(prices.gain_ms[p] * (board.pieces_mask(p, not me) & theirs).bit_count() for p in range(1, 6))
    lost = sum(prices.loss_ms[p] * (board.pieces_mask(p, me) & mine).bit_count() for p in range(1, 6))
    return share * (gained - lost)


def _hit_ms(board: chess.Board, me: chess.Color, prices: Prices) -> int:
    """The dearest man of ours that is attacked now, and a check with it."""
    hit = 0
    for piece in range(chess.PAWN, chess.KING):
        for square in chess.scan_forward(board.pieces_mask(piece, me) & board.occupied_co[me]):
            if prices.loss_ms[piece] > hit and board.attackers_mask(not me, square):
                hit = prices.loss_ms[piece]
    return hit + prices.chip_ms
