"""Whether one move, and the reply to it, may flag us: sources that know of no clock are not asked then."""

import pytest

from bridge.decisions.near_flag import near_flag
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup


@pytest.mark.parametrize(
    ("fen", "near"),
    [("8/1P2k3/8/8/8/5B2/6K1/8 w - - 0 1", True), ("8/4k3/1P6/8/8/5B2/6K1/8 w - - 0 1", False)],
)
def test_a_pawn_that_promotes_may_be_taken_as_the_queen_that_it_has_become(fen: str, near: bool) -> None:
    ledger = Ledger(Setup("x", named("eclipse"), "think", 0, start_fen=fen))
    assert near_flag(ledger, 90_000, 90_000) is near
