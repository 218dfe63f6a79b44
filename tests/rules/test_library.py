"""The rules as a library: ten lines judge a game; a gap is filled later; which line to believe."""

import pytest

from bridge.errors import RecordError
from bridge.rules import Ledger, Setup, Snapshot, TimeControl, diff, judge, named
from bridge.rules.diff import is_related
from bridge.rules.events import Event, Moved, Started, TakenBack
from bridge.rules.refine import refine

LICHESS = Setup(
    "g", named("anchor"), "stream", 10, time_control=TimeControl(300_000, 2_000), free_first_moves=True
)  # fmt: skip
MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"]


def taken_in(setup: Setup, *snapshots: Snapshot) -> list[Event]:
    ledger = Ledger(setup)
    events: list[Event] = [Started(setup)]
    for snapshot in snapshots:
        for event in diff(ledger, snapshot):
            ledger.apply(event)
            events.append(event)
    return events


def thinks(events: list[Event]) -> list[int | None]:
    return [event.think_ms for event in events if isinstance(event, Moved)]


def test_ten_lines_judge_a_game() -> None:
    setup = Setup("my game", named("winder"), "think", 0)
    game = Snapshot(["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"], "mate", think_ms=[0] * 6 + [30_000])
    verdict = judge(setup, game)
    assert (verdict.outcome.result, verdict.outcome.reason, verdict.plies) == ("1-0", "checkmate", 7)
    # Bounty, 60 s: White paid 1 + 4 + 2 + 4 and 30 s of thinking, and won a pawn; Black paid 1 + 2 + 2.
    assert (verdict.white_ms, verdict.black_ms) == (60_000 - 11_000 - 30_000 + 5_000, 55_000)
    assert verdict.certain
    assert verdict.final


def test_a_game_can_be_judged_while_it_runs() -> None:
    verdict = judge(LICHESS, Snapshot([]), Snapshot(MOVES[:1], white_ms=300_000, black_ms=300_000))
    assert (verdict.outcome.reason, verdict.final, verdict.white_ms) == ("unfinished", False, 359_000)


def test_a_finer_source_fills_a_gap() -> None:
    """Plies 3 to 5 come in one line; the export knows ply 3 (4 s) and ply 4 (3 s), so ply 5 took 6 - 4 s."""
    events = taken_in(
        LICHESS,
        Snapshot(MOVES[:2], white_ms=300_000, black_ms=300_000),
        Snapshot(MOVES[:5], white_ms=298_000, black_ms=299_000),
        Snapshot(MOVES[:6], white_ms=297_000, black_ms=296_000),
    )
    assert thinks(events) == [0, 0, None, None, 6_000, 8_000]
    refined = refine(events, [300_000, 300_000, 298_000, 299_000])
    assert thinks(refined) == [0, 0, 4_000, 3_000, 2_000, 5_000]
    before, after = Ledger.replay(events), Ledger.replay(refined)
    assert (before.certain, after.certain) == (False, True)
    assert (before.white_ms, before.black_ms) == (after.white_ms, after.black_ms)
    assert refine(refined, [300_000, 300_000, 298_000, 299_000]) == refined


def test_a_gap_that_a_later_takeback_left_alone_is_filled() -> None:
    """As above; then ply 6 is taken back. White's reading after the gap stands, Black's is gone, and with it ply 4."""
    begun = (
        Snapshot(MOVES[:2], white_ms=300_000, black_ms=300_000),
        Snapshot(MOVES[:5], white_ms=298_000, black_ms=299_000),
        Snapshot(MOVES[:6], white_ms=297_000, black_ms=296_000),
    )
    clocks = [300_000, 300_000, 298_000, 299_000, 296_000, 296_000]
    seventh = Snapshot(MOVES[:7], white_ms=290_000, black_ms=296_000)
    kept = refine(taken_in(LICHESS, *begun, seventh, begun[2]), clocks)
    assert thinks(kept)[:6] == [0, 0, 4_000, 3_000, 2_000, 5_000]
    assert Ledger.replay(kept).certain
    undone = refine(taken_in(LICHESS, *begun, begun[1]), clocks)
    assert thinks(undone)[:5] == [0, 0, 4_000, None, 2_000]
    assert not Ledger.replay(undone).certain


def test_a_flag_inside_a_gap_is_found_when_it_is_filled() -> None:
    """Winder: White has 60-1 before ply 3; 58.5 s there leave 0.5, so its toll flags. The sum alone said ply 5."""
    setup = Setup("g", named("winder"), "stream", 10, time_control=TimeControl(300_000, 0), free_first_moves=True)
    events = taken_in(
        setup,
        Snapshot(MOVES[:2], white_ms=300_000, black_ms=300_000),
        Snapshot(MOVES[:5], white_ms=240_000, black_ms=300_000),
    )
    outcome = Ledger.replay(events).outcome
    assert outcome is not None and outcome.flag is not None
    assert (outcome.flag.cause, Ledger.replay(events).plies) == ("thinking", 4)
    refined = Ledger.replay(refine(events, [300_000, 300_000, 241_500, 300_000]))
    assert refined.outcome is not None and refined.outcome.flag is not None
    assert (refined.outcome.flag.cause, refined.outcome.flag.forced, refined.plies) == ("toll", True, 3)


def test_time_pending_at_the_end_is_split_too() -> None:
    """Plies 3 and 4 at once, resigned on White's turn with 12 s gone from White's clock: 5 on ply 3, 7 pending."""
    end = Snapshot(MOVES[:4], "resign", False, white_ms=290_000, black_ms=300_000)
    events = taken_in(LICHESS, Snapshot(MOVES[:2], white_ms=300_000, black_ms=300_000), end)
    refined = refine(events, [300_000, 300_000, 297_000])
    assert thinks(refined) == [0, 0, 5_000, 2_000]
    before, after = Ledger.replay(events), Ledger.replay(refined)
    assert before.white_ms == after.white_ms == 360_000 - 3_000 - 12_000


def test_a_refined_game_without_gaps_is_the_same() -> None:
    events = taken_in(LICHESS, Snapshot(MOVES[:2], white_ms=300_000, black_ms=300_000), Snapshot([]))
    assert refine(events, [300_000, 300_000]) == events


def test_related_lists_continue_or_shorten_the_game() -> None:
    ledger = Ledger.replay(taken_in(LICHESS, Snapshot(MOVES[:4])))
    assert is_related(ledger.moves, MOVES)
    assert is_related(ledger.moves, MOVES[:2])
    assert is_related(ledger.moves, [])
    assert not is_related(ledger.moves, ["g2g3"])
    assert not is_related(ledger.moves, [*MOVES[:3], "g8f6"])


def test_a_move_that_was_looked_up_is_looked_up_anew_elsewhere() -> None:
    ledger = Ledger(LICHESS)
    play = Snapshot(["e2e4", "e7e5", "f1c4"], white_ms=300_000, black_ms=300_000)
    for event in diff(ledger, play):
        ledger.apply(event)
    assert ledger.read("b8c6").uci() == "b8c6"
    ledger.apply(TakenBack(2, 0, 0, 300_000, 300_000))
    with pytest.raises(RecordError, match="illegal move 'b8c6'"):
        ledger.read("b8c6")
