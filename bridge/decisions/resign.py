"""Whether a game is given up by what the engine has said of it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResignTerms:
    """Give up when the last `moves` scores are all at or below `score_cp`, from our side; `enabled` False: never."""

    enabled: bool = False
    score_cp: int = -1000
    moves: int = 3


def gives_up(scores_cp: Sequence[int | None], terms: ResignTerms) -> bool:
    """`scores_cp`: one for each move of ours, None where the engine gave none."""
    last = scores_cp[-terms.moves :]
    if not terms.enabled or len(last) < terms.moves:
        return False
    return all(score is not None and score <= terms.score_cp for score in last)
