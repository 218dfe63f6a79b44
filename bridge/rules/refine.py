"""Fill in what was missed, once a finer source has the readings (R14)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import chess

from bridge.rules.events import Ended, Event, Moved, Started, TakenBack
from bridge.rules.ledger import Ledger


def refine(events: Iterable[Event], clocks_ms: Sequence[int | None]) -> list[Event]:
    """The same game with its unknown thinking times known, as far as `clocks_ms` tells; replay it for the ledger.

    `events` begin with `Started`; `clocks_ms` is the mover's platform clock after each ply, an export's for instance.
    A ply that has a reading keeps it: only what its thinking time held of the plies before it is taken off. What a
    takeback undid, or gave back before its mover's next reading, stays unknown.
    """
    game = list(events)
    told = _still_told(game)
    first = game[0]
    assert isinstance(first, Started), "a game's first event is Started"
    ledger = Ledger(first.setup)
    told_ms = [0, 0]
    """By colour: time that is known by now and lies in the next reading too."""
    refined: list[Event] = [first]
    for index, event in enumerate(game[1:], 1):
        unknown = isinstance(event, Moved) and event.think_ms is None
        refined.append(event if unknown and index not in told else _refined(ledger, event, clocks_ms, told_ms))
        ledger.apply(refined[-1])
    return refined


def _still_told(game: Sequence[Event]) -> set[int]:
    """Where the unknown plies are that the finished game still holds, with the reading that ends their gap."""
    plies, ply = [], 0
    for event in game:
        ply = event.plies if isinstance(event, TakenBack) else ply + isinstance(event, Moved)
        plies.append(ply)
    told: set[int] = set()
    stands, ends = plies[-1], [True, True]
    """How many plies no later takeback undid; by the parity of the ply, whether its side's next reading stands too."""
    for index in range(len(game) - 1, -1, -1):
        event, ply = game[index], plies[index]
        if isinstance(event, TakenBack):
            stands, ends = min(stands, event.plies), [False, False]
        elif isinstance(event, Moved) and event.think_ms is not None:
            ends[ply % 2] = ply <= stands
        elif isinstance(event, Moved) and ply <= stands and ends[ply % 2]:
            told.add(index)
    return told


def _refined(ledger: Ledger, event: Event, clocks_ms: Sequence[int | None], told_ms: list[int]) -> Event:
    side: chess.Color = ledger.turn
    ply = len(ledger.moves)
    match event:
        case Moved(think_ms=None):
            left, reading = ledger.left_ms[side], clocks_ms[ply] if ply < len(clocks_ms) else None
            if left is None or reading is None:
                return event
            think = max(0, left + event.credited_ms - reading)
            told_ms[side] += think
            return replace(event, think_ms=think, reading_ms=reading)
        case Moved(think_ms=int(lump)) if told_ms[side]:
            think, told_ms[side] = max(0, lump - told_ms[side]), 0
            return replace(event, think_ms=think)
        case Ended(pending_ms=lump):
            return replace(event, pending_ms=max(0, lump - told_ms[side]))
    return event
