"""Whether a game is given up by what the engine has said of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bridge.decisions.opponents import Opponents
from bridge.rules.ledger import Ledger


@dataclass(frozen=True, slots=True)
class ResignTerms:
    """Give up when the last `moves` scores are all at or below `score_cp`, from our side, after `min_moves` at the
    soonest, or, `by_tables`, when tables say that all is lost; `enabled` False: never."""

    enabled: bool = False
    score_cp: int = -1000
    moves: int = 3
    by_tables: bool = True
    min_moves: int = 0
    opponents: Opponents = field(default_factory=Opponents)

    def against(self, *, bot: bool, rating: int | None) -> "ResignTerms":
        """The same in a game with one opponent."""
        return replace(self, enabled=self.enabled and self.opponents.include(bot=bot, rating=rating))


def gives_up(ledger: Ledger, scores_cp: Sequence[int | None], terms: ResignTerms, wdl: int | None = None) -> bool:
    """`scores_cp`: one for each move of ours, None where the engine gave none. `wdl`: what tables say of the best move,
    2 to -2, where chess alone decides; None: nothing."""
    if terms.enabled and terms.by_tables and wdl == -2:
        return True
    last = scores_cp[-terms.moves :]
    if not terms.enabled or len(last) < terms.moves or len(ledger.moves) < 2 * terms.min_moves:
        return False
    return all(score is not None and score <= terms.score_cp for score in last)
