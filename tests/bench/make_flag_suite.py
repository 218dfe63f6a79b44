"""Make `tests/data/flag_tactics.jsonl`: positions with both clocks, and which moves are right by the ledger alone.

    python tests/bench/make_flag_suite.py GAMES.jsonl... > tests/data/flag_tactics.jsonl

From real play (results files of `match`) and from random endings. The ledger judges every legal move and every reply;
nothing of the engine's own code is used. `best`: one of these must be played; `avoid`: none of these.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess

from bridge.engines.answer import private_copy
from bridge.lab.results import read_results
from bridge.rules.endings import Outcome
from bridge.rules.events import Moved, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.pools import POOLS, named
from bridge.rules.position import start_board
from bridge.rules.snapshot import Setup

SEED = 41
PLAYED_EACH = {"flag now": 50, "about to be flagged": 65, "both": 35, "own toll": 4}
MADE_EACH = {
    "mate with an empty clock": 20,
    "stalemate trap": 12,
    "dead-position escape": 15,
    "stalemate escape": 10,
    "guarded move": 20,
    "guarded check": 10,
}


@dataclass(frozen=True)
class Case:
    """A position with its clocks: what one line of the file holds before it is judged."""

    pool: str
    fen: str
    moves: tuple[str, ...]
    white_ms: int
    black_ms: int

    def ledger(self) -> Ledger:
        """The game with these clocks: what is missing from them was spent, as after a takeback (R5)."""
        ledger = Ledger(Setup("suite", named(self.pool), "think", 0, start_fen=self.fen))
        for uci in self.moves:
            ledger.apply(Moved(uci, 0))
        spent = ledger.white_ms - self.white_ms, ledger.black_ms - self.black_ms
        ledger.apply(TakenBack(len(self.moves), *spent))
        return ledger


def after(ledger: Ledger, uci: str) -> Ledger:
    """The ledger one move later, made at once."""
    copy = private_copy(ledger)
    copy.apply(Moved(uci, 0))
    return copy


def legal(ledger: Ledger) -> list[str]:
    return sorted(move.uci() for move in ledger.board.legal_moves)


@dataclass(frozen=True)
class Judged:
    """Every legal move: those that win at once, lose at once, draw at once, and let the opponent flag at once."""

    moves: list[str]
    wins: list[str]
    losses: list[str]
    draws: list[str]
    exposed: list[str]
    outcomes: dict[str, Outcome]


def judge(ledger: Ledger) -> Judged:
    me = ledger.turn
    moves = legal(ledger)
    wins: list[str] = []
    losses: list[str] = []
    draws: list[str] = []
    exposed: list[str] = []
    outcomes: dict[str, Outcome] = {}
    for uci in moves:
        then = after(ledger, uci)
        if then.outcome is not None:
            outcomes[uci] = then.outcome
            (draws if then.outcome.winner is None else wins if then.outcome.winner == me else losses).append(uci)
        elif any(loses(after(then, reply), me) for reply in legal(then)):
            exposed.append(uci)
    return Judged(moves, wins, losses, draws, exposed, outcomes)


def loses(ledger: Ledger, side: chess.Color) -> bool:
    """Whether a game is over and lost on time; mates are the wrapped engine's business."""
    return ledger.outcome is not None and ledger.outcome.reason == "flag" and ledger.outcome.winner == (not side)


def played_cases(paths: list[str]) -> Iterator[Case]:
    """Positions of real games, near a flag, in an order of their own."""
    lot = random.Random(SEED)
    found = []
    for path in paths:
        for pair in read_results(Path(path))[1]:
            record = pair.games[0].record
            ledger = Ledger(Setup("x", named(pair.pool), "think", 0, start_fen=pair.opening))
            moves, thinks = record["moves"], record["think_ms"]
            assert isinstance(moves, list) and isinstance(thinks, list)
            for uci, think_ms in zip(moves, thinks, strict=True):
                if min(ledger.white_ms, ledger.black_ms) < 30_000 and ledger.outcome is None:
                    found.append(Case(pair.pool, ledger.board.fen(), (), ledger.white_ms, ledger.black_ms))
                ledger.apply(Moved(uci, think_ms))
    lot.shuffle(found)
    yield from found


def family_of_play(judged: Judged) -> str | None:
    bad = judged.losses + judged.exposed
    if any(judged.outcomes[uci].reason == "checkmate" for uci in judged.wins):
        return None
    if judged.wins:
        return "both" if judged.exposed else "flag now"
    if bad and len(bad) < len(judged.moves):
        return "own toll" if judged.losses and not judged.exposed else "about to be flagged"
    return None


MEN = ("Q", "R", "RR", "QP", "BN", "BB", "RP", "PP", "RN", "QN", "BP", "NP")
FOES = ("", "p", "n", "b", "r", "pp", "np", "rp", "q")


def random_case(lot: random.Random, *, history: bool) -> Case | None:
    """A random ending with low clocks; with a there-and-back history where the guard is wanted."""
    men = ["K", "k", *lot.choice(MEN), *lot.choice(FOES)]
    board = chess.Board(None)
    squares = lot.sample(range(64), len(men))
    if not history and lot.random() < 0.7:
        # A king at the edge with the other one near: where mates and stalemates are.
        squares[1] = lot.choice([square for square in range(64) if chess.BB_SQUARES[square] & chess.BB_BACKRANKS])
        squares[0] = lot.choice([square for square in range(64) if chess.square_distance(square, squares[1]) == 2])
    if len(set(squares)) < len(squares):
        return None
    for man, square in zip(men, squares, strict=True):
        if man in "Pp" and not 8 <= square < 56:
            return None
        board.set_piece_at(square, chess.Piece.from_symbol(man))
    board.turn = lot.choice(chess.COLORS)
    if not board.is_valid():
        return None
    clocks = lot.choice([300, 900, 1_500, 2_500, 3_900, 6_000, 9_000]), lot.choice([800, 1_800, 4_500, 9_500, 14_000])
    fen = board.fen()
    moves: tuple[str, ...] = ()
    if history:
        there = shuffle_back(board, lot)
        if there is None:
            return None
        moves = there
    own, other = clocks if lot.random() < 0.7 else clocks[::-1]
    turn = board.turn if len(moves) % 2 == 0 else not board.turn
    white, black = (own, other) if turn else (other, own)
    return Case(lot.choice(sorted(POOLS)), fen, moves, white, black)


def shuffle_back(board: chess.Board, lot: random.Random) -> tuple[str, ...] | None:
    """Three quiet moves, after which the fourth can bring the start position back."""
    line = board.copy()
    made: list[chess.Move] = []
    for _ in range(2):
        quiet = [m for m in line.legal_moves if not line.is_zeroing(m)]
        if not quiet:
            return None
        made.append(lot.choice(quiet))
        line.push(made[-1])
    back = chess.Move(made[0].to_square, made[0].from_square)
    if not line.is_legal(back):
        return None
    line.push(back)
    last = chess.Move(made[1].to_square, made[1].from_square)
    return (made[0].uci(), made[1].uci(), back.uci()) if line.is_legal(last) else None


def family_of_ending(case: Case, ledger: Ledger, judged: Judged) -> tuple[str, list[str], list[str]] | None:
    own_ms = ledger.clock_ms(ledger.turn)
    mates = [uci for uci in judged.wins if judged.outcomes[uci].reason == "checkmate"]
    if case.moves:
        return family_of_guard(ledger, judged)
    if mates and len(mates) == len(judged.wins) and own_ms <= 4_000:
        others = [uci for uci in judged.moves if uci not in mates]
        if all(after(ledger, uci).clock_ms(ledger.turn) <= 0 for uci in mates) and others:
            return "mate with an empty clock", mates, []
    stale = [uci for uci in judged.draws if judged.outcomes[uci].reason == "stalemate"]
    dead = [uci for uci in judged.draws if judged.outcomes[uci].reason == "insufficient_material"]
    if judged.wins and stale and not mates:
        return "stalemate trap", judged.wins, stale
    bad = judged.losses + judged.exposed
    if not judged.wins and len(bad) + len(judged.draws) == len(judged.moves) and bad:
        if dead:
            return "dead-position escape", judged.draws, bad
        if stale:
            return "stalemate escape", judged.draws, bad
    return None


def family_of_guard(ledger: Ledger, judged: Judged) -> tuple[str, list[str], list[str]] | None:
    me = ledger.turn
    free = [uci for uci in judged.moves if after(ledger, uci).rows[-1].effects.guarded]
    bad = judged.losses + judged.exposed
    if not free or set(judged.wins) & set(free):
        return None
    checks = [uci for uci in free if after(ledger, uci).board.is_check()]
    if checks and ledger.clock_ms(not me) <= 2_000 and judged.wins:
        return "guarded check", judged.wins, checks
    safe = [uci for uci in judged.moves if uci not in bad]
    if not judged.wins and safe and set(safe) <= set(free) and judged.losses:
        return "guarded move", safe, bad
    return None


def line(family: str, case: Case, best: list[str], avoid: list[str], source: str) -> str:
    start_board(case.fen)
    return json.dumps(
        {
            "family": family,
            "source": source,
            "pool": case.pool,
            "fen": case.fen,
            "moves": list(case.moves),
            "white_ms": case.white_ms,
            "black_ms": case.black_ms,
            "best": best,
            "avoid": avoid,
        }
    )


def main(paths: list[str]) -> None:
    """Print the suite."""
    have: Counter[str] = Counter()
    for case in played_cases(paths):
        judged = judge(case.ledger())
        family = family_of_play(judged)
        if family is None or have[family] >= PLAYED_EACH[family]:
            continue
        have[family] += 1
        avoid = [] if judged.wins else judged.losses + judged.exposed
        print(line(family, case, judged.wins, avoid, "play"), flush=True)
        if all(have[name] >= wanted for name, wanted in PLAYED_EACH.items()):
            break
    made: Counter[str] = Counter()
    lot = random.Random(SEED)
    for number in range(60_000):
        made_case = random_case(lot, history=number % 2 == 1)
        if made_case is None or (ledger := made_case.ledger()).outcome is not None:
            continue
        told = family_of_ending(made_case, ledger, judge(ledger))
        if told is None or made[told[0]] >= MADE_EACH[told[0]]:
            continue
        made[told[0]] += 1
        print(line(told[0], made_case, told[1], told[2], "made"), flush=True)
        if all(made[name] >= wanted for name, wanted in MADE_EACH.items()):
            break
    print(dict(have), dict(made), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
