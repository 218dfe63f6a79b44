"""Other rules agreed on before the second ply: the ledger is the one the game would have had by them from the start."""

from dataclasses import replace

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import RecordError
from bridge.records.events import decode, encode
from bridge.rules.events import Agreed, Berserked, Event, Moved, Started, TakenBack, TimeGiven
from bridge.rules.ledger import Ledger
from bridge.rules.pools import NAMED, Ruleset, named, parse_dials
from bridge.rules.snapshot import Setup, TimeControl

FEN = "r3k2r/pppq1ppp/2n5/3pp3/3PP3/2N5/PPPQ1PPP/R3K2R w KQkq - 0 1"
RULES = st.sampled_from([named(name) for name in NAMED] + [parse_dials({"pool": "anchor", "berserk": "halve"})])
THINK_MS = st.integers(0, 30_000)


def setup(rules: Ruleset) -> Setup:
    return Setup("g", rules, "stream", 10, start_fen=FEN, time_control=TimeControl(600_000, 2000))


@given(
    first=RULES,
    second=RULES,
    opening=st.lists(st.sampled_from(["berserk", "gift", "back"]), max_size=3),
    uci=st.sampled_from(["d4e5", "e1g1", "a2a3", "d2h6"]),
    moved=st.booleans(),
    think_ms=THINK_MS,
    later_ms=THINK_MS,
)
def test_it_is_as_if_the_game_had_begun_by_them(
    first: Ruleset, second: Ruleset, opening: list[str], uci: str, moved: bool, think_ms: int, later_ms: int
) -> None:
    before: list[Event] = []
    for what in opening:
        if what == "gift":
            before.append(TimeGiven(chess.BLACK, 15_000))
        elif what == "berserk" and not any(isinstance(event, Berserked) for event in before):
            before.append(Berserked(chess.WHITE, 300_000))
        elif what == "back":
            before += [Moved("a2a4", 1000, 600_000, 2000), TakenBack(0, 700, 0, 599_300, 600_000)]
    before += [Moved(uci, think_ms, 602_000 - think_ms, 2000)] * moved
    rest = [Moved("a7a6", later_ms, None, 2000)] if moved else [Moved("a2a3", later_ms, None, 2000)]

    agreed = Ledger.replay([Started(setup(first)), *before, Agreed(second), *rest])
    begun = Ledger.replay([Started(setup(second)), *before, *rest])

    assert agreed.rows == begun.rows
    assert agreed.moves == begun.moves
    assert agreed.outcome == begun.outcome
    assert agreed.board.fen() == begun.board.fen()
    assert (agreed.white_ms, agreed.black_ms, agreed.certain) == (begun.white_ms, begun.black_ms, begun.certain)
    assert list(agreed.left_ms) == list(begun.left_ms)
    assert agreed.readings_ms == begun.readings_ms
    assert agreed.anomalies == begun.anomalies


def test_after_the_second_ply_it_is_too_late() -> None:
    ledger = Ledger.replay([Started(setup(named("anchor"))), Moved("a2a3", 0), Moved("a7a6", 0)])
    with pytest.raises(RecordError, match="before the second ply"):
        ledger.apply(Agreed(named("winder")))
    assert ledger.setup.rules == named("anchor")


def test_it_is_stored_with_every_dial_and_the_name_of_that_day() -> None:
    rules = replace(parse_dials({"pool": "anchor", "chip_s": 9}), pool="mine")
    assert decode(encode(Agreed(rules))) == Agreed(rules)
