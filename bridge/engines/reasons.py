"""Why a move was chosen, for people: the candidates with centipawns and what each does to both clocks."""

from collections.abc import Mapping

import chess

from bridge.engines.line import Line
from bridge.engines.view import Candidate, Decision, Found, spelled
from bridge.rules.clock_text import clock_text

_MOST = 6


def explained(
    line: Line, found: Found, banned: Mapping[chess.Move, str], *, chess960: bool = False
) -> tuple[Candidate, ...]:
    """The chosen move first, then those the engine preferred before, then some that were ruled out."""
    weighed = [_candidate(line, one, "") for one in (found, *reversed(found.earlier))]
    named = {line.board.uci(move, chess960=chess960): note for move, note in banned.items()}
    ruled_out = [_candidate(line, Found(uci), note) for uci, note in named.items()]
    out: dict[str, Candidate] = {}
    for candidate in (*weighed, *ruled_out):
        if candidate is not None:
            known = out.get(candidate.uci)
            out[candidate.uci] = candidate if known is None else _noted(known, candidate.note)
    return tuple(list(out.values())[:_MOST])


def explain_choice(decision: Decision) -> str:
    """Some lines of text: the move and why, then every candidate."""
    lines = [f"{decision.uci}: {decision.why}"]
    for one in decision.candidates:
        score = "" if one.score_cp is None else f" {one.score_cp / 100:+.2f}"
        note = f" ({one.note})" if one.note else ""
        lines.append(f"  {one.uci}{score}, own clock {_change(one.own_ms)}, other {_change(one.other_ms)}{note}")
    return "\n".join(lines)


def _candidate(line: Line, one: Found, note: str) -> Candidate | None:
    move = spelled(line.board, one.uci)
    if move is None:
        return None
    me = line.board.turn
    before = line.clock_ms[me], line.clock_ms[not me]
    line.push(move)
    own_ms, other_ms = line.clock_ms[me] - before[0], line.clock_ms[not me] - before[1]
    line.pop()
    return Candidate(one.uci, one.score_cp, own_ms, other_ms, note)


def _noted(known: Candidate, note: str) -> Candidate:
    return Candidate(known.uci, known.score_cp, known.own_ms, known.other_ms, note or known.note)


def _change(ms: int) -> str:
    return clock_text(ms) if ms < 0 else f"+{clock_text(ms)}"
