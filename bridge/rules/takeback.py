"""What a takeback gives back, and what stays spent (R5)."""

from collections.abc import Sequence

import chess

from bridge.rules.ledger import Row
from bridge.rules.platform_clocks import SOURCE_ERROR_MS, PlatformClocks


def not_given_back(
    clocks: PlatformClocks, side: chess.Color, undone: Sequence[Row], plies: int, reading: int | None
) -> tuple[int, int | None]:
    """(thinking that stays spent, what the clock reads now) of a side whose rows `undone` are no more.

    The game is `plies` long again; `clocks` and `undone` are as before, `reading` is the side's clock after it (None:
    not seen). Lichess undoes ply by ply, and the side whose ply is undone keeps its clock, increment included, until
    an earlier one is undone too: of the side that is to move again, the thinking up to its earliest undone ply stays
    spent; all else is given back, and gifts since are lost. Where the reading says otherwise, it decides how many
    thinking times were given back.
    """
    clock = clocks.left_ms[side]
    stands = sum(row.think_ms or 0 for row in undone)
    if clock is None:
        return stands, None
    states = [(clock, stands)]
    clock -= clocks.given_ms[side]
    states.append((clock, stands))
    for row in reversed(undone):
        think = row.think_ms or 0
        clock, stands = clock + think - row.credited_ms, stands - think
        states.append((clock, stands))
    keeps = next((count for count, row in enumerate(undone, 1) if row.ply == plies + 1), 0)
    lichess = states[1 + len(undone) - keeps]
    if reading is None:
        return lichess[1], lichess[0]
    fits = [state for state in (lichess, *states) if abs(state[0] - reading) <= SOURCE_ERROR_MS]
    # A clock below Lichess's value has run on since the takeback.
    nearest = lichess if reading < lichess[0] else min(states, key=lambda state: abs(state[0] - reading))
    clock, stands = fits[0] if fits else nearest
    return max(0, stands + clock - reading), reading
