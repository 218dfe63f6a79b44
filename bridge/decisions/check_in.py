"""Games by correspondence: how long a move may take, when such a game is left, and which ones are looked at again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CORRESPONDENCE = "correspondence"
"""The speed, as Lichess names it, of games with days for each move and of those without any limit."""

_TRIES = 4
"""An engine that fails leaves time for others: a move may take a quarter of what there is, at most."""
_MOVES = 40
"""Engines that only know clocks are shown one for so many moves."""
_LEAST_MS = 20


@dataclass(frozen=True, slots=True)
class DaysTerms:
    """How correspondence is played. `leave_ms`: how long after our move a game is still listened to; `check_in_ms`:
    between looks at those that were left; `ponder`: whether engines may think in the opponent's time."""

    move_ms: int = 60_000
    check_in_ms: int = 600_000
    leave_ms: int = 300_000
    ponder: bool = False

    @property
    def urgent_ms(self) -> int:
        """With less the next look could be too late: such a game does not wait for a slot."""
        return self.check_in_ms + _TRIES * self.move_ms


@dataclass(frozen=True, slots=True)
class MoveTime:
    """For one move: its own time, the deadline, and the clock that engines without a sense for the former are shown."""

    move_ms: int
    deadline_ms: int
    clock_ms: int


def move_time(terms: DaysTerms, left_ms: int | None, overhead_ms: int) -> MoveTime:
    """`left_ms`: of our days; None: there is no limit."""
    deadline_ms = _TRIES * terms.move_ms
    if left_ms is not None:
        deadline_ms = max(_LEAST_MS, min(deadline_ms, left_ms - overhead_ms))
    move_ms = max(1, deadline_ms // _TRIES)
    return MoveTime(move_ms, deadline_ms, _MOVES * move_ms)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the platform says of a game of ours that runs; `left_ms` None: no limit, or not told."""

    my_turn: bool
    left_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """`games` are looked at now, the most urgent first; `waiting`: others would be if there were slots."""

    games: tuple[str, ...]
    waiting: bool


def due(parked: Sequence[str], running: Mapping[str, Standing], *, whole: bool, free: int, urgent_ms: int) -> Due:
    """Which of the games that were left are looked at again, with so many `free` slots.

    `whole`: the list of running games is all of them, so that one that is not in it is over.
    """
    over = [game_id for game_id in parked if whole and game_id not in running]
    ours = [game_id for game_id in parked if game_id in running and running[game_id].my_turn]
    ours.sort(key=lambda game_id: _left(running[game_id]))
    unknown = [] if whole else [game_id for game_id in parked if game_id not in running]
    pressed = [game_id for game_id in ours if _left(running[game_id]) < urgent_ms]
    calm = [game_id for game_id in [*ours, *unknown] if game_id not in pressed]
    room = max(0, free - len(pressed))
    return Due((*over, *pressed, *calm[:room]), len(calm) > room)


def _left(standing: Standing) -> float:
    return float("inf") if standing.left_ms is None else standing.left_ms
