"""Derived quantities: thinking budget, effective ceiling, safe platform clock (rules §7)."""

from fractions import Fraction

from bridge.rules.dials import Dials, floor_ms

AVERAGE_TOLL_S = 81
"""What a player pays in tolls over 40 moves (rules §7; measured 82.4 over 11,170 games)."""

MOVES = 40
_CAPTURES_S = 75
"""Captures one player makes in those moves, at C1."""
_ARMY = {"pawn": 8, "knight": 2, "bishop": 2, "rook": 2, "queen": 1}


def thinking_budget_s(dials: Dials) -> Fraction:
    """Seconds a move over 40 moves: (base − 81 ± 75·C) ÷ 40; + in Bounty, − in Burn, 0 in Steal."""
    captures = (dials.gain - dials.loss) * _CAPTURES_S * dials.capture_multiplier
    return (dials.base_s - AVERAGE_TOLL_S * dials.toll_multiplier + captures) / MOVES


def effective_ceiling_s(dials: Dials) -> Fraction:
    """How long a game can last in practice: both sides use their whole budget."""
    return 2 * thinking_budget_s(dials) * MOVES


def safe_platform_ms(dials: Dials) -> int:
    """The platform's clock that does not fall first: base, and what capturing the whole starting army once gains."""
    army_s = sum(dials.values_s[piece] * count for piece, count in _ARMY.items())
    return floor_ms(dials.base_s + dials.gain * dials.capture_multiplier * army_s)


def gap_ms(own_ms: int, other_ms: int) -> int:
    """The clock gap: mine − yours."""
    return own_ms - other_ms
