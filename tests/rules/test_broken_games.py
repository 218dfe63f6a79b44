"""A game that cannot be: one line that says what is wrong, and a ledger that is as it was."""

import pytest

from bridge.errors import RecordError
from bridge.rules import Anomaly, Ledger, Setup, Snapshot, diff, judge, named
from bridge.rules.events import Moved


def setup(start_fen: str | None = None) -> Setup:
    return Setup("g", named("anchor"), "think", 0, start_fen)


@pytest.mark.parametrize(
    ("fen", "told"),
    [
        ("not a position", "bad FEN 'not a position'"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "no black king"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "empty"),
        ("4k3/8/8/8/8/8/8/P3K3 w - - 0 1", "pawns on backrank"),
        ("4k3/8/8/8/4R3/8/8/4K3 w - - 0 1", "opposite check"),
        ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", "too many kings"),
    ],
)
def test_a_position_that_cannot_stand(fen: str, told: str) -> None:
    with pytest.raises(RecordError, match=told):
        Ledger(setup(fen))


@pytest.mark.parametrize("uci", ["e2e5", "e7e5", "0000", "e2", "P@e4", "e1g1", "e2e4q", "Zz99", "e1e1", "e2e2", "a1a1"])
def test_an_illegal_move_changes_nothing(uci: str) -> None:
    ledger = Ledger(setup())
    with pytest.raises(RecordError, match="illegal move"):
        ledger.apply(Moved(uci, 5_000))
    assert (ledger.moves, ledger.rows, ledger.white_ms, ledger.board.fullmove_number) == ([], [], 360_000, 1)


def test_what_was_legal_before_it_stands() -> None:
    ledger = Ledger(setup())
    with pytest.raises(RecordError, match="illegal move 'e1e3'"):
        for event in diff(ledger, Snapshot(["e2e4", "e7e5", "e1e3"], think_ms=[0, 0, 0])):
            ledger.apply(event)
    assert ledger.moves == ["e2e4", "e7e5"]


def test_startpos_is_a_position() -> None:
    assert judge(setup("startpos"), Snapshot(["e2e4"], think_ms=[0])).white_ms == 359_000


def test_anomalies_of_the_source_are_taken_over_once() -> None:
    note = Anomaly("termination_unknown", 0, "told by the file")
    snapshot = Snapshot(["e2e4"], "resign", True, think_ms=[0], notes=(note,))
    assert judge(setup(), Snapshot([], notes=(note,)), snapshot, snapshot).anomalies == (note,)
