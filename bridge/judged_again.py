"""A finished game judged once more by the platform's archive, without losing what was read better while it ran."""

from collections.abc import Sequence
from dataclasses import replace

from bridge.errors import UsageError
from bridge.interfaces import Entry, FinishedGame
from bridge.recompute import stored_events
from bridge.rules.events import Ended, Event
from bridge.rules.ledger import Ledger
from bridge.rules.refine import refine
from bridge.rules.verdict import Verdict, judge, verdict
from bridge.tracker import setup_of
from bridge.verdicts import ToldVerdict


def judged_again(entries: Sequence[Entry], standing: ToldVerdict, finished: FinishedGame) -> Verdict:
    """The archive tells the moves and how the platform's game ended; its clocks count where they are no coarser.

    `entries`: what the journal holds about the game; `standing`: the verdict that would be replaced.

    Raises:
        UsageError: all that is left of the game is coarser than what it was judged by.
        RecordError: the archive's moves cannot be replayed.
    """
    events = [event for _, event in stored_events(entries)]
    ledger = Ledger.replay(events)
    setup = setup_of(finished.info, ledger.setup.rules, finished.source, finished.precision_ms)
    archived = judge(setup, finished.snapshot)
    if tuple(ledger.moves) != archived.moves or ledger.platform is None:
        return archived
    by_readings = standing.verdict.get("clock_source") == ledger.setup.source != finished.source
    if by_readings and _is_coarser(finished.precision_ms, ledger.setup.precision_ms):
        return _with_the_archive_s_end(events, finished)
    if _is_coarser(finished.precision_ms, standing.verdict.get("precision_ms")):
        raise UsageError(
            f"game {finished.info.id}: its verdict stays, for the archive knows the clocks less exactly by now"
        )
    return archived


def _with_the_archive_s_end(events: Sequence[Event], finished: FinishedGame) -> Verdict:
    """By our own readings; the archive's clocks only fill in what they missed (R14)."""
    end = finished.snapshot
    ledger = Ledger.replay(
        replace(event, status=end.status, winner=end.winner) if isinstance(event, Ended) else event
        for event in refine(events, end.clocks_ms or ())
    )
    return verdict(ledger, final=True)


def _is_coarser(precision_ms: int | None, standing_ms: object) -> bool:
    """None: there are no clocks at all."""
    return isinstance(standing_ms, int) and (precision_ms is None or precision_ms > standing_ms)
