"""What an engine of ours thought of the moves it chose: kept while a game runs, told in its PGN once it is over."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import chess
import chess.engine

from bridge.errors import RecordError

MATE_CP = 100_000
"""A mate in n is ±(MATE_CP − n); MATE_CP itself is a win of another kind, such as a forced flagfall."""
_MOST_PLIES_TO_MATE = 500


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`score_cp` is the mover's, of the position before the ply, which is that of its best move; `depth` in plies;
    `trusted`: whether draws and resignations go by it."""

    ply: int
    uci: str
    score_cp: int
    depth: int | None = None
    trusted: bool = True

    def after(self, mover: chess.Color) -> chess.engine.PovScore:
        """The same for the position that the move leads to, as PGN tells it."""
        mate_in = MATE_CP - abs(self.score_cp)
        if not 0 < mate_in < _MOST_PLIES_TO_MATE:
            return chess.engine.PovScore(chess.engine.Cp(self.score_cp), mover)
        moves = mate_in - 1 if self.score_cp > 0 else -mate_in
        return chess.engine.PovScore(chess.engine.Mate(moves) if moves else chess.engine.MateGiven, mover)

    def for_white(self, mover: chess.Color) -> str:
        """The same from White's side, as a PGN's `[%eval]` has it, with its sign: `+0.31`, `#-3`."""
        score = self.after(mover).white()
        mate, cp = score.mate(), score.score()
        return f"#{mate}" if cp is None else f"{cp / 100:+.2f}"


def to_line(evaluation: Evaluation) -> bytes:
    """As it is kept."""
    return json.dumps(asdict(evaluation), separators=(",", ":")).encode()


def from_line(line: bytes) -> Evaluation:
    """What was kept; later versions may have kept more. Raises RecordError: it is none."""
    try:
        given = json.loads(line)
        return Evaluation(given["ply"], given["uci"], given["score_cp"], given.get("depth"), given.get("trusted", True))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"an engine's evaluation cannot be read: {line[:80]!r}") from error


def by_ply(evaluations: Iterable[Evaluation], moves: Sequence[str]) -> Mapping[int, Evaluation]:
    """Those of the moves that stand: what was thought of others, taken back or never made, is left out."""
    return {each.ply: each for each in evaluations if tuple(moves[each.ply - 1 : each.ply]) == (each.uci,)}
