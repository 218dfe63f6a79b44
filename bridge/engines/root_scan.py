"""Every legal move looked at one ply deep, and one reply: what wins, flags ourselves, draws, or lets us be flagged."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import chess

from bridge.engines.flag_search import FlagSearch, Spent
from bridge.engines.line import Line
from bridge.rules.endings import Outcome

_FLAG_DRAWS = ("flag_insufficient_material", "double_flag")


@dataclass(frozen=True, slots=True)
class Scan:
    """`banned`: moves that should not be played, with the reason; never all of them.

    `wins`: moves that win at once. `flag_draws`: moves that draw by a flag, which no chess engine knows of; among the
    banned unless nothing else is left. `hopeless`: every move can be answered by our flag.
    """

    banned: dict[chess.Move, str] = field(default_factory=dict)
    wins: tuple[chess.Move, ...] = ()
    flag_draws: tuple[chess.Move, ...] = ()
    hopeless: bool = False


def scan(line: Line, legal: Sequence[chess.Move], most_nodes: int) -> Scan:
    """Look at all moves; where the nodes do not suffice, the rest counts as safe."""
    me = line.board.turn
    alone = {move: _outcome(line, move) for move in legal}
    wins = tuple(move for move, outcome in alone.items() if outcome and outcome.winner == me)
    if wins:
        return Scan(wins=wins)
    lost = {move: "flags ourselves" for move, outcome in alone.items() if outcome and outcome.winner == (not me)}
    draws = tuple(move for move, outcome in alone.items() if outcome and outcome.reason in _FLAG_DRAWS)
    exposed = _exposed(line, [move for move in legal if alone[move] is None], most_nodes)
    banned = lost | exposed | dict.fromkeys(draws, "draws by a flag")
    if len(banned) < len(legal):
        return Scan(banned, flag_draws=draws)
    if draws:
        return Scan(lost | exposed, flag_draws=draws)
    return Scan(lost if len(lost) < len(legal) else {}, hopeless=True)


def _outcome(line: Line, move: chess.Move) -> Outcome | None:
    outcome = line.push(move)
    line.pop()
    return outcome


def _exposed(line: Line, moves: Sequence[chess.Move], most_nodes: int) -> dict[chess.Move, str]:
    search, height = FlagSearch(line, most_nodes), line.height
    found = {}
    try:
        for move in moves:
            if search.refuted(move, 0):
                found[move] = "lets us be flagged"
    except Spent:
        while line.height > height:
            line.pop()
    return found
