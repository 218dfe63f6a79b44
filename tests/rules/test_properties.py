"""What holds of every game, not only of those worked by hand."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.errors import DialError
from bridge.rules.dials import CHOICES, ECONOMIES, MULTIPLIERS, PIECES
from bridge.rules.diff import diff, is_related
from bridge.rules.endings import board_ending
from bridge.rules.events import Event, Moved, Started, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.pools import NAMED, Ruleset, named, parse_dials
from bridge.rules.position import to_fen
from bridge.rules.snapshot import Setup, Snapshot, TimeControl

QUICK = settings(max_examples=60, deadline=None)
CONTROLS = (TimeControl(180_000, 2_000), TimeControl(300_000, 0), TimeControl(0, 3_000), TimeControl(60_000, 1_000))
STARTS = (
    None,
    "r3k2r/pppq1ppp/2n2n2/3pp3/3PP3/2N2N2/PPPQ1PPP/R3K2R w KQkq - 4 8",
    "8/1P4k1/8/3pP3/8/8/1p4K1/8 w - d6 0 1",
    "4k3/8/8/8/4N3/8/8/K3R3 w - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
)


@st.composite
def games(draw: st.DrawFn, max_plies: int = 50) -> tuple[str | None, list[str]]:
    """A start position and legal moves; a small choice each, so that positions repeat."""
    start = draw(st.sampled_from(STARTS))
    board = chess.Board(start or chess.STARTING_FEN, chess960=True)
    moves: list[str] = []
    plies = draw(st.integers(0, max_plies))
    for choice in draw(st.lists(st.integers(0, 9), min_size=plies, max_size=plies)):
        legal = sorted(board.legal_moves, key=lambda move: (not board.is_capture(move), move.uci()))
        if not legal:
            break
        moves.append(board.uci(legal[choice % len(legal)]))
        board.push_uci(moves[-1])
    return start, moves


@st.composite
def streams(draw: st.DrawFn) -> tuple[Setup, list[Snapshot]]:
    """A Lichess game as its stream shows it: a line a ply, centiseconds, the platform's clock rules kept."""
    start, moves = draw(games())
    control = draw(st.sampled_from(CONTROLS))
    rules = Ruleset(draw(st.sampled_from(list(NAMED.values()))), None)
    setup = Setup("g", rules, "stream", 10, start, time_control=control, free_first_moves=True)
    clocks = [control.start_ms(free_first_moves=True)] * 2
    turn = Ledger(setup).turn
    lines = [Snapshot([], white_ms=clocks[1], black_ms=clocks[0])]
    for ply in range(1, len(moves) + 1):
        if ply > 2:
            clocks[turn] += control.increment_ms - min(draw(st.integers(0, 900)) * 10, clocks[turn])
        lines.append(Snapshot(moves[:ply], white_ms=clocks[1], black_ms=clocks[0]))
        turn = not turn
    return setup, lines


def play(ledger: Ledger, snapshots: Sequence[Snapshot]) -> list[Event]:
    events: list[Event] = []
    for snapshot in snapshots:
        for event in diff(ledger, snapshot):
            ledger.apply(event)
            events.append(event)
    return events


def state(ledger: Ledger) -> object:
    return (ledger.rows, ledger.outcome, ledger.white_ms, ledger.black_ms, ledger.anomalies, ledger.certain,
            ledger.board.fen(), ledger.moves, list(ledger.left_ms))  # fmt: skip


@QUICK
@given(streams())
def test_a_replay_of_the_events_is_the_fold(stream: tuple[Setup, list[Snapshot]]) -> None:
    setup, lines = stream
    ledger = Ledger(setup)
    events = play(ledger, lines)
    assert state(Ledger.replay([Started(setup), *events])) == state(ledger)


@QUICK
@given(streams())
def test_nothing_is_new_in_a_snapshot_taken_in(stream: tuple[Setup, list[Snapshot]]) -> None:
    setup, lines = stream
    ledger = Ledger(setup)
    for line in [*lines, replace(lines[-1], status="resign", winner=chess.WHITE)]:
        play(ledger, [line])
        assert diff(ledger, line) == []
        assert diff(ledger, replace(line, at_ms=10_000_000)) == []


@QUICK
@given(streams(), st.data())
def test_a_takeback_restores_effects_clocks_and_positions(
    stream: tuple[Setup, list[Snapshot]], data: st.DataObject
) -> None:
    """Everything given back: the ledger is as it was, and playing on is as if nothing had been."""
    setup, lines = stream
    plies = data.draw(st.integers(0, len(lines) - 1))
    ledger, other = Ledger(setup), Ledger(setup)
    play(other, lines[: plies + 1])
    play(ledger, lines)
    if other.outcome is not None or ledger.outcome is not None or plies == len(lines) - 1:
        return
    ledger.apply(TakenBack(plies, 0, 0, other.left_ms[chess.WHITE], other.left_ms[chess.BLACK]))
    assert state(ledger) == state(other)
    play(ledger, lines[plies + 1 : plies + 3])
    play(other, lines[plies + 1 : plies + 3])
    if plies >= 2:
        assert state(ledger) == state(other)


@QUICK
@given(games())
def test_a_fen_is_that_of_the_library(game: tuple[str | None, list[str]]) -> None:
    start, moves = game
    board = chess.Board(start or chess.STARTING_FEN, chess960=True)
    for uci in moves:
        assert to_fen(board) == board.fen()
        board.push_uci(uci)
    assert to_fen(board) == board.fen()


@QUICK
@given(games())
def test_a_guarded_ply_is_quiet_and_free(game: tuple[str | None, list[str]]) -> None:
    start, moves = game
    ledger = Ledger(Setup("g", named("eclipse"), "none", None, start))
    board = ledger.board.copy()
    play(ledger, [Snapshot(moves)])
    for row in ledger.rows:
        move = board.parse_uci(row.uci or "")
        if row.effects.guarded:
            assert not board.is_capture(move)
            assert not board.is_castling(move)
            assert board.piece_type_at(move.from_square) != chess.PAWN
            assert (row.effects.mover_ms, row.effects.opponent_ms, row.effects.captured) == (0, 0, None)
        else:
            assert row.effects.toll_ms > 0
            assert bool(row.effects.gain_ms) == board.is_capture(move)
        board.push(move)


@QUICK
@given(streams())
def test_steal_conserves_time_but_for_thinking_and_tolls(stream: tuple[Setup, list[Snapshot]]) -> None:
    setup, lines = stream
    ledger = Ledger(replace(setup, rules=named("eclipse")))
    play(ledger, lines)
    total = 2 * 900_000
    for row in ledger.rows:
        total -= (row.think_ms or 0) + row.effects.toll_ms + row.effects.fee_ms
        assert row.white_ms + row.black_ms == total


@QUICK
@given(streams(), st.data())
def test_merged_lines_give_the_same_effects_and_clocks(
    stream: tuple[Setup, list[Snapshot]], data: st.DataObject
) -> None:
    setup, lines = stream
    kept = [line for line in lines[:-1] if data.draw(st.booleans())]
    whole, merged = Ledger(setup), Ledger(setup)
    play(whole, lines)
    play(merged, [*kept, lines[-1]])
    if whole.outcome is None or whole.outcome.flag is None:
        assert [row.effects for row in merged.rows] == [row.effects for row in whole.rows]
    if whole.outcome is None:
        # The last line's mover has a reading; what the other side thought in the gap is not known yet.
        mover = not whole.turn
        assert merged.clock_ms(mover) == whole.clock_ms(mover)
        assert merged.left_ms[mover] == whole.left_ms[mover]


@QUICK
@given(games(), st.data())
def test_no_clock_reading_breaks_the_line(game: tuple[str | None, list[str]], data: st.DataObject) -> None:
    """Any legal moves, any clocks, any order: never an exception, never a float, and the next line finds its way."""
    start, moves = game
    control = data.draw(st.sampled_from((None, *CONTROLS)))
    clock = st.none() | st.integers(0, 400_000)
    setup = Setup(
        "g", named("winder"), "stream", 10, start, time_control=control, free_first_moves=data.draw(st.booleans())
    )
    ledger = Ledger(setup)
    status = st.sampled_from(("started", "started", "draw", "outoftime", "resign", "timeout", "somethingNew"))
    for length in data.draw(st.lists(st.integers(0, len(moves)), min_size=1, max_size=8)):
        line = Snapshot(
            moves[:length],
            status=data.draw(status),
            winner=data.draw(st.none() | st.booleans()),
            white_ms=data.draw(clock),
            black_ms=data.draw(clock),
            at_ms=data.draw(st.none() | st.integers(0, 1_000_000)),
            berserk=data.draw(st.frozensets(st.booleans())),
        )
        was_over = ledger.over
        assert is_related(ledger.moves, line.moves)
        play(ledger, [line])
        assert was_over or ledger.moves == moves[:length]
    numbers = [ledger.white_ms, ledger.black_ms, *ledger.left_ms]
    numbers += itertools.chain.from_iterable((row.white_ms, row.black_ms, row.think_ms) for row in ledger.rows)
    assert all(number is None or type(number) is int for number in numbers)


@QUICK
@given(games(), st.data())
def test_whole_histories_equal_their_lines(game: tuple[str | None, list[str]], data: st.DataObject) -> None:
    """A record's `clocks_ms` in one snapshot and ply by ply: the same ledger (no site: clocks run from move 1)."""
    start, moves = game
    clocks = [data.draw(st.integers(0, 200_000)) for _ in moves]
    setup = Setup("g", named("anchor"), "clocks", 0, start, time_control=CONTROLS[0])
    at_once, by_ply = Ledger(setup), Ledger(setup)
    play(at_once, [Snapshot(moves, clocks_ms=clocks)])
    play(by_ply, [Snapshot(moves[:ply], clocks_ms=clocks[:ply]) for ply in range(len(moves) + 1)])
    assert state(at_once) == state(by_ply)


@st.composite
def few_men(draw: st.DrawFn) -> chess.Board:
    """Kings and up to six men anywhere: where stalemates, pins and bare material live."""
    squares = draw(st.lists(st.integers(0, 63), min_size=2, max_size=8, unique=True))
    board = chess.Board(None)
    for index, square in enumerate(squares):
        piece = chess.KING if index < 2 else draw(st.integers(chess.PAWN, chess.QUEEN))
        board.set_piece_at(square, chess.Piece(piece, bool(index % 2)))
    board.turn = draw(st.booleans())
    return board


@settings(max_examples=400, deadline=None)
@given(few_men())
def test_board_endings_agree_with_python_chess(board: chess.Board) -> None:
    if board.status() & ~(chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK):
        return
    outcome = board.outcome()
    ending = board_ending(board, 1, board.is_checkmate(), "material")
    assert (ending.reason if ending else None) == (outcome.termination.name.lower() if outcome else None)


def numbers(least: int = 0) -> st.SearchStrategy[int | float]:
    return st.integers(least, 4_000) | st.decimals(least, 4_000, places=3).map(float)


def tables(*extra: str) -> st.SearchStrategy[dict[str, int | float]]:
    return st.dictionaries(st.sampled_from([*list(PIECES)[:5], *extra]), numbers())


DIALS = st.fixed_dictionaries(
    {},
    optional={
        "pool": st.sampled_from(list(NAMED)),
        "base_s": numbers(1),
        "increment_s": numbers(),
        "economy": st.sampled_from(list(ECONOMIES)) | st.fixed_dictionaries({"gain": numbers(), "loss": numbers()}),
        "chip_s": numbers(),
        "double_check_factor": numbers(),
        "promotion_fee": numbers(),
        "values_s": tables(),
        "tolls_s": tables("king", "castling"),
        **{name: st.sampled_from(values) for name, values in CHOICES.items()},
    },
)
SCALES = st.one_of(
    st.dictionaries(st.sampled_from(MULTIPLIERS), numbers()).map(lambda scales: {"f_mode": None, **scales}),
    st.fixed_dictionaries({"f_mode": numbers()}),
)


@QUICK
@given(DIALS, SCALES)
def test_dials_can_be_written_and_read_back(dials: dict[str, object], scales: dict[str, object]) -> None:
    rules = parse_dials({**dials, **scales})
    again = parse_dials(rules.dials.to_mapping())
    assert again.dials == rules.dials
    assert again.dials.prices is rules.dials.prices, "so that what is kept of them is kept once"


@QUICK
@given(DIALS, SCALES)
def test_prices_are_whole_and_rounded_down_once(dials: dict[str, object], scales: dict[str, object]) -> None:
    d = parse_dials({**dials, **scales}).dials
    prices = d.prices
    exact = [
        Fraction(0),
        *(d.gain * d.capture_multiplier * d.values_s.get(name, Fraction(0)) * 1000 for name in PIECES),
    ]
    assert all(type(ms) is int and 0 <= want - ms < 1 for ms, want in zip(prices.gain_ms, exact, strict=True))
    assert 0 <= d.chip_s * d.chip_multiplier * d.double_check_factor * 1000 - prices.double_chip_ms < 1


@QUICK
@given(DIALS, numbers(), st.sampled_from(MULTIPLIERS))
def test_f_mode_beside_a_multiplier_is_an_error(dials: dict[str, object], n: float, multiplier: str) -> None:
    with pytest.raises(DialError, match=multiplier):
        parse_dials({**dials, "f_mode": n, multiplier: 1})


def test_moved_events_carry_what_they_credit() -> None:
    """A replay can follow the platform's clock without the time control."""
    setup = Setup("g", named("anchor"), "stream", 10, time_control=CONTROLS[0], free_first_moves=True)
    lines = [
        Snapshot(["e2e4", "e7e5", "g1f3"][:ply], white_ms=clock) for ply, clock in enumerate([180_000] * 3 + [178_500])
    ]
    moved = [event for event in play(Ledger(setup), lines) if isinstance(event, Moved)]
    assert [(event.think_ms, event.credited_ms) for event in moved] == [(0, 0), (0, 0), (3_500, 2_000)]
