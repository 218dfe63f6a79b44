"""What an engine may use: the smaller clock, less its own next toll, and never past a flag."""

import chess
import pytest

from bridge.decisions.time_budget import LEAST_MS, LOST_MS, Budget, budget, first_move_ms, hurried
from bridge.rules.diff import diff
from bridge.rules.events import Moved, Resynced
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset, named, parse_dials
from bridge.rules.snapshot import Setup, Snapshot, TimeControl

OPENING = ("e2e4", "e7e5")
NINE_MINUTES = TimeControl(540_000, 0)
ANCHOR = named("anchor")


def game(
    control: TimeControl | None = NINE_MINUTES,
    *,
    rules: Ruleset = ANCHOR,
    fen: str | None = None,
    think_ms: tuple[int, ...] = (),
    chess960: bool = False,
) -> Ledger:
    """After 1.e4 e5 (free on Lichess; the toll is paid), then knights and so on with these thinking times."""
    setup = Setup(
        *("g", rules, "stream", 10),
        start_fen=fen,
        chess960=chess960,
        time_control=control,
        free_first_moves=True,
    )
    ledger = Ledger(setup)
    if fen is None:
        for uci in OPENING:
            ledger.apply(Moved(uci, 0))
        for uci, think in zip(("g1f3", "b8c6", "f1c4", "f8c5"), think_ms, strict=False):
            ledger.apply(Moved(uci, think))
    return ledger


def test_the_dearest_own_toll_and_the_overhead_come_off_both_kirichess_clocks() -> None:
    # Anchor: 360 s, less a pawn's toll each; the dearest toll is the queen's 4 s, the cheapest a pawn's 1 s.
    assert budget(game(), 200, 0) == Budget(354_800, 354_800, 0, 0, deadline_ms=357_800)


def test_the_platforms_clock_counts_where_it_is_the_smaller_one() -> None:
    ledger = game(TimeControl(60_000, 0))
    assert budget(ledger, 200, 0) == Budget(59_800, 59_800, 0, 0, deadline_ms=59_800)


def test_each_side_has_its_own_smaller_clock() -> None:
    ledger = game()
    ledger.apply(Resynced(chess.BLACK, 30_000))
    found = budget(ledger, 200, 0)
    assert (found.white_ms, found.black_ms) == (354_800, 29_800)


def test_a_turn_that_runs_already_is_taken_off_the_side_to_move_alone() -> None:
    assert budget(game(), 200, 5_000) == Budget(349_800, 354_800, 0, 0, deadline_ms=352_800)


def test_without_a_platform_clock_kirichess_counts_alone() -> None:
    assert budget(game(None), 0, 0) == Budget(355_000, 355_000, 0, 0, deadline_ms=358_000)


def test_the_deadline_ends_before_the_clock_is_empty() -> None:
    ledger = game(think_ms=(355_000, 0))  # White has 360 − 1 − 355 − 2 = 2 s left
    assert ledger.white_ms == 2_000
    found = budget(ledger, 100, 0)
    assert found.white_ms == LEAST_MS  # the queen's toll of 4 s cannot be paid any more
    assert found.deadline_ms == 900  # a pawn's can


@pytest.mark.parametrize("elapsed_ms", [890, 899])
def test_the_last_milliseconds_are_never_nothing(elapsed_ms: int) -> None:
    found = budget(game(think_ms=(355_000, 0)), 100, elapsed_ms)
    assert found.deadline_ms == LEAST_MS


@pytest.mark.parametrize("elapsed_ms", [900, 5_000, 10_000_000])
def test_a_flag_that_no_move_can_save_still_leaves_time_to_move(elapsed_ms: int) -> None:
    found = budget(game(think_ms=(355_000, 0)), 100, elapsed_ms)
    assert found.deadline_ms == LOST_MS
    assert min(found.white_ms, found.black_ms) > 0


def test_after_the_kirichess_end_the_platforms_clocks_alone_count() -> None:
    ledger = game(think_ms=(400_000, 0))
    assert ledger.outcome is not None
    assert ledger.outcome.flag is not None
    assert budget(ledger, 200, 1_000) == Budget(138_800, 539_800, 0, 0, deadline_ms=138_800)


def test_a_plain_game_knows_no_kirichess_clock() -> None:
    ledger = game(TimeControl(540_000, 3_000))
    assert budget(ledger, 200, 1_000, plain=True) == Budget(538_800, 539_800, 3_000, 3_000, deadline_ms=538_800)


def test_the_smaller_increment_counts() -> None:
    rules = parse_dials({"pool": "anchor", "increment_s": 2})
    assert budget(game(TimeControl(540_000, 3_000), rules=rules), 0, 0).white_increment_ms == 2_000
    assert budget(game(TimeControl(540_000, 3_000)), 0, 0).white_increment_ms == 0


def test_a_cap_bounds_the_deadline_alone() -> None:
    assert budget(game(), 200, 0, 60) == Budget(354_800, 354_800, 0, 0, deadline_ms=60)


def test_castling_is_dearer_than_the_king() -> None:
    """Only a king and rooks: the rook's toll of 3 s is the dearest, the king's of 1 s the cheapest."""
    ledger = game(fen="4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    found = budget(ledger, 0, 0)
    assert (found.white_ms, found.deadline_ms) == (357_000, 359_000)
    assert found.black_ms == 359_000


def test_a_king_that_can_only_castle_pays_for_castling() -> None:
    """Its rook goes to f1, which a bishop attacks; a pawn's move would cost 5 s here, a king's 1 s."""
    rules = parse_dials({"pool": "anchor", "tolls_s": {"pawn": 5, "king": 1, "castling": 3}})
    ledger = game(rules=rules, fen="6k1/8/b7/8/8/8/5PPP/6KR w K - 0 1", chess960=True)
    king = ledger.board.pieces_mask(chess.KING, chess.WHITE)
    assert [ledger.board.uci(move) for move in ledger.board.generate_legal_moves(king)] == ["g1h1"]
    assert budget(ledger, 0, 0).deadline_ms == 357_000


def test_a_turn_taken_up_in_the_middle_is_charged_for_what_ran_before() -> None:
    """After a reconnect the platform's running clock says how long the turn has lasted; `left_ms` is from its start."""
    ledger = game()
    running = Snapshot(OPENING, white_ms=500_000, black_ms=540_000)
    for event in diff(ledger, running):
        ledger.apply(event)
    assert ledger.left_ms[chess.WHITE] == 540_000
    found = budget(ledger, 200, elapsed_ms=40_000)
    assert found.white_ms == 354_800 - 40_000


def test_the_first_move_of_each_side_may_take_a_share_of_the_base_time() -> None:
    ledger = Ledger(
        Setup("g", named("anchor"), "stream", 10, time_control=TimeControl(360_000, 0), free_first_moves=True)
    )
    assert first_move_ms(ledger, 2) == 7200
    assert first_move_ms(ledger, None) is None
    assert budget(ledger, 0, 0, first_move_ms(ledger, 2)).deadline_ms == 7200
    ledger.apply(Moved("e2e4", 0))
    assert first_move_ms(ledger, 1) == 3600
    ledger.apply(Moved("e7e5", 0))
    assert first_move_ms(ledger, 2) is None


def test_a_berserked_side_is_told_no_increment_be_it_announced_or_only_read() -> None:
    setup = Setup("g", named("anchor"), "stream", 10, time_control=TimeControl(360_000, 5000), free_first_moves=True)
    for moves in ([], ["e2e4"]):
        ledger = Ledger(setup)
        snapshot = Snapshot(
            moves, white_ms=360_000 if not moves else 180_000, black_ms=180_000 if not moves else 360_000
        )
        for event in diff(ledger, snapshot):
            ledger.apply(event)
        time = budget(ledger, 0, 0, plain=True)
        assert (time.white_increment_ms, time.black_increment_ms) == ((0, 5000) if moves else (5000, 0))


@pytest.mark.parametrize(
    ("control", "think_ms", "hurried_sides"),
    [
        (TimeControl(60_000, 0), (0, 31_000), (chess.BLACK,)),
        (TimeControl(60_000, 0), (0, 29_000), ()),
        (TimeControl(60_000, 0), (40_000, 39_000), (chess.WHITE,)),
        (TimeControl(60_000, 1_000), (0, 31_000), ()),
        (None, (0, 31_000), ()),
    ],
)
def test_a_side_is_hurried_by_a_short_clock_that_nothing_is_added_to(
    control: TimeControl | None, think_ms: tuple[int, ...], hurried_sides: tuple[chess.Color, ...]
) -> None:
    ledger = game(control, think_ms=think_ms)
    found = tuple(side for side in chess.COLORS if hurried(ledger, side, plain=True))
    assert found == hurried_sides


def test_the_kirichess_clock_hurries_where_it_counts() -> None:
    ledger = game(TimeControl(540_000, 0), rules=named("winder"), think_ms=(0, 31_000))
    assert hurried(ledger, chess.BLACK)
    assert not hurried(ledger, chess.BLACK, plain=True)
