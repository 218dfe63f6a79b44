"""Live replay with full clocks against the obvious python-chess code, on the same games.

Ours, for each stream line: the platform's cumulative state as a snapshot, `diff`, `apply`: position, legality, both
KiriChess clocks, effects, endings; takebacks and lost lines included. Two obvious codes ask `is_checkmate()`,
`outcome()` and `is_repetition()` at each line and know no clocks:

- rebuild: a new board, every move of the line parsed and pushed (takebacks and lost lines come right);
- last move: only the line's last move parsed and pushed (both would break it; moves are not checked for legality).

Interleaved game by game; the figures are medians of the games' ratios, obvious time / our time.

usage: python tests/bench/live_replay.py [PGN] [--rounds N] [--games N] [--profile]
"""

import argparse
import cProfile
import platform
import pstats
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chess
import chess.pgn

sys.path.insert(0, str(Path(__file__).parents[2]))

from bridge.rules.diff import diff
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup, Snapshot, TimeControl

CONTROL = TimeControl(900_000, 2_000)
PLIES = 80


def generated(count: int, seed: int = 1) -> list[list[str]]:
    """Games of legal moves, captures and checks preferred by half of the players, none over before `PLIES`."""
    rng = random.Random(seed)
    found: list[list[str]] = []
    while len(found) < count:
        board = chess.Board()
        eager = len(found) % 2
        while board.ply() < PLIES and not board.is_game_over() and not board.is_repetition(3):
            moves = list(board.legal_moves)
            sharp = [move for move in moves if board.is_capture(move) or board.gives_check(move)]
            board.push(rng.choice(sharp if sharp and eager and rng.random() < 0.4 else moves))
        if board.ply() == PLIES:
            found.append([move.uci() for move in board.move_stack])
    return found


def from_pgn(path: Path, count: int) -> list[list[str]]:
    """The first games of a file, standard chess only."""
    found: list[list[str]] = []
    with path.open(encoding="utf-8", errors="replace") as text:
        while len(found) < count and (game := chess.pgn.read_game(text)) is not None:
            moves = [move.uci() for move in game.mainline_moves()]
            if moves and not game.errors and game.board().fen() == chess.STARTING_FEN:
                found.append(moves)
    return found


def lines(moves: list[str]) -> list[tuple[list[str], int, int]]:
    """What a stream says after each ply: all moves so far as new strings, and both clocks; 1 s a move."""
    text = [" ".join(moves[:ply]) for ply in range(1, len(moves) + 1)]
    clocks = [CONTROL.initial_ms + 1_000 * max(0, (ply - 1) // 2) for ply in range(len(moves) + 2)]
    return [(line.split(" "), clocks[ply + 1], clocks[ply]) for ply, line in enumerate(text, 1)]


def ours(states: list[tuple[list[str], int, int]]) -> int:
    """The bridge's line; returns White's clock so that nothing is left undone."""
    setup = Setup("g", named("eclipse"), "stream", 10, time_control=CONTROL, free_first_moves=True)
    ledger = Ledger(setup)
    for at_ms, (moves, white_ms, black_ms) in enumerate(states):
        for event in diff(ledger, Snapshot(moves, white_ms=white_ms, black_ms=black_ms, at_ms=at_ms)):
            ledger.apply(event)
    assert ledger.moves == states[-1][0]
    return ledger.white_ms


def rebuild(states: list[tuple[list[str], int, int]]) -> int:
    """What one writes first for lines that hold the whole game."""
    ended = 0
    for moves, _, _ in states:
        board = chess.Board()
        for uci in moves:
            board.push(chess.Move.from_uci(uci))
        ended += board.is_checkmate() or board.outcome() is not None or board.is_repetition()
    return ended


def last_move(states: list[tuple[list[str], int, int]]) -> int:
    """The least one can write: every line is trusted to bring exactly one new, legal move."""
    board = chess.Board()
    ended = 0
    for moves, _, _ in states:
        board.push(chess.Move.from_uci(moves[-1]))
        ended += board.is_checkmate() or board.outcome() is not None or board.is_repetition()
    return ended


def seconds(run: Callable[[list[tuple[list[str], int, int]]], int], states: list[tuple[list[str], int, int]]) -> float:
    start = time.perf_counter()
    run(states)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pgn", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    games = from_pgn(options.pgn, options.games) if options.pgn else generated(options.games)
    states = [lines(moves) for moves in games]
    if options.profile:
        profile = cProfile.Profile()
        profile.runcall(lambda: [ours(game) for game in states])
        pstats.Stats(profile).sort_stats("tottime").print_stats(30)
        return
    ratios: dict[str, list[float]] = {"rebuild": [], "last move": []}
    for game in states:
        rounds = [
            (seconds(rebuild, game), seconds(ours, game), seconds(last_move, game)) for _ in range(options.rounds)
        ]
        ratios["rebuild"].append(statistics.median(theirs / mine for theirs, mine, _ in rounds))
        ratios["last move"].append(statistics.median(theirs / mine for _, mine, theirs in rounds))
    name = options.pgn.name if options.pgn else "generated"
    cells = [
        f"{statistics.median(figures):.2f} ({min(figures):.2f} – {max(figures):.2f})" for figures in ratios.values()
    ]
    version = f"CPython {platform.python_version()}, chess {chess.__version__}"
    sys.stdout.write(f"| {name} | {len(games)} | {sum(map(len, games))} | {' | '.join(cells)} | {version} |\n")


if __name__ == "__main__":
    main()
