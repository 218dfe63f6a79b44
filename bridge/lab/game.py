"""The referee: one game of two contestants, judged by the ledger and nothing else."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import chess

from bridge.errors import EngineError, RecordError
from bridge.lab.contestant import Answer, Contestant, Task
from bridge.lab.timing import Noise, TimeModel, budget_ms, drawn_ms, nodes_for
from bridge.rules.budget import safe_platform_ms
from bridge.rules.endings import Outcome
from bridge.rules.events import Ended, Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset
from bridge.rules.position import read_move
from bridge.rules.snapshot import RECORD_END, Setup, TimeControl
from bridge.rules.verdict import Verdict, verdict

MOST_PLIES = 1_000


@dataclass(frozen=True, slots=True)
class Terms:
    """What the games of a match have in common. One of `nodes`, `depth`, `movetime_ms` is set."""

    rules: Ruleset
    time: TimeModel = "budget"
    nodes: int | None = None
    depth: int | None = None
    movetime_ms: int | None = None


@dataclass(slots=True)
class Played:
    """A finished game. `fault`: which side's engine failed (crash) or answered an illegal move, which loses.

    `nodes` and `tally` are by colour: black first, as a `chess.Color` indexes. `think_ms`: of every move, one that a
    flag came before included.
    """

    verdict: Verdict
    outcome: Outcome
    nodes: list[int] = field(default_factory=lambda: [0, 0])
    asked: list[int] = field(default_factory=lambda: [0, 0])
    tally: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    scores: list[int | None] = field(default_factory=list)
    think_ms: list[int] = field(default_factory=list)
    fault: tuple[chess.Color, str, str] | None = None
    wall_ms: int = 0


def play(
    white: Contestant,
    black: Contestant,
    terms: Terms,
    noise: Noise,
    fen: str | None,
    game_id: str,
    white_name: str = "",
    black_name: str = "",
    played_ms: Sequence[tuple[str, int]] = (),
) -> Played:
    """One game to its KiriChess end, or to an engine's fault; `played_ms`: plies it begins with, and their thinking."""
    platform = TimeControl(safe_platform_ms(terms.rules.dials), 0)
    setup = Setup(
        game_id,
        terms.rules,
        "think",
        0,
        start_fen=fen,
        time_control=platform,
        white=white_name,
        black=black_name,
    )
    ledger = Ledger(setup)
    played = Played(verdict(ledger, final=True), Outcome("unfinished"))
    sides: Mapping[chess.Color, Contestant] = {chess.WHITE: white, chess.BLACK: black}
    began = time.monotonic()
    spent_ms = [0, 0]
    for uci, think_ms in played_ms:
        spent_ms[ledger.turn] += think_ms
        played.think_ms.append(think_ms)
        ledger.apply(Moved(uci, think_ms, reading_ms=platform.initial_ms - spent_ms[ledger.turn]))
    for side, contestant in sides.items():
        try:
            contestant.new_game()
        except EngineError as error:
            played.fault = (side, "crash", str(error))
    while ledger.outcome is None and played.fault is None and len(ledger.moves) < MOST_PLIES:
        side = ledger.turn
        try:
            answer, think_ms = _ask(sides[side], ledger, terms, noise)
            uci = _legal(ledger, answer)
        except EngineError as error:
            played.fault = (side, "crash", str(error))
            continue
        except RecordError as error:
            played.fault = (side, "illegal", str(error))
            continue
        played.nodes[side] += answer.nodes
        played.asked[side] += 1
        played.tally[side].update(answer.tally)
        played.scores.append(answer.score_cp)
        played.think_ms.append(think_ms)
        spent_ms[side] += think_ms
        ledger.apply(Moved(uci, think_ms, reading_ms=platform.initial_ms - spent_ms[side]))
    played.outcome = _outcome(ledger, played)
    ledger.apply(Ended(RECORD_END))
    played.verdict = verdict(ledger, final=True)
    played.wall_ms = round((time.monotonic() - began) * 1000)
    return played


def _ask(contestant: Contestant, ledger: Ledger, terms: Terms, noise: Noise) -> tuple[Answer, int]:
    """A move and the thinking time it is charged."""
    dials, clock_ms = terms.rules.dials, ledger.clock_ms(ledger.turn)
    factor = noise.at(len(ledger.moves))
    if terms.time == "wall":
        began = time.monotonic_ns()
        answer = contestant.move(ledger, Task(0, terms.nodes, terms.depth, terms.movetime_ms))
        return answer, (time.monotonic_ns() - began) // 1_000_000
    think_ms, nodes = 0, terms.nodes
    if terms.time == "budget":
        think_ms = drawn_ms(budget_ms(dials, clock_ms), factor)
    elif terms.time == "own":
        think_ms = drawn_ms(contestant.plan_ms(ledger), factor)
        nodes = nodes_for(think_ms, dials, terms.nodes) if terms.nodes is not None else None
    return contestant.move(ledger, Task(think_ms, nodes, terms.depth, terms.movetime_ms)), think_ms


def _legal(ledger: Ledger, answer: Answer) -> str:
    move = read_move(ledger.board, answer.uci)
    return ledger.board.uci(move, chess960=ledger.chess960)


def _outcome(ledger: Ledger, played: Played) -> Outcome:
    if ledger.outcome is not None:
        return ledger.outcome
    if played.fault is not None:
        return Outcome("forfeit", not played.fault[0])
    return Outcome("unfinished")
