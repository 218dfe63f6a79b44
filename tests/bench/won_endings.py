"""Whether won endings are won on the clock: an engine against Stockfish, both clocks short, no thinking time.

    python -m tests.bench.won_endings ENGINE... [--nodes 2000] [--each 4]

An engine is named as `match` does. Anchor's prices; the positions are drawn by lot, the same for every engine.
"""

import argparse
import random

import chess

from bridge.lab.entry import Entry
from bridge.lab.game import Played, Terms, play
from bridge.lab.timing import Noise
from bridge.rules.pools import parse_dials

ENDINGS = ("KQk", "KRk", "KQkp", "KRPkn", "KQPkb", "KRkb")
BASES_S = (25, 50)


def ending(men: str, seed: int) -> str:
    """White to move, nothing to be taken at once, nobody in check."""
    lot = random.Random(seed)
    while True:
        board = chess.Board(None)
        for man, square in zip(men, lot.sample(range(64), len(men)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        if board.is_valid() and not board.is_check() and not any(map(board.is_capture, board.legal_moves)):
            return board.fen()


def played(engine: str, fen: str, base_s: int, nodes: int) -> Played:
    """One game: the engine has White."""
    white, black = Entry.parse(engine).build(), Entry.parse("stockfish").build()
    terms = Terms(parse_dials({"pool": "anchor", "base_s": base_s}), "none", nodes=nodes)
    try:
        white.start()
        black.start()
        return play(white, black, terms, Noise.of(1, 0, sigma=0.0), fen, "ending")
    finally:
        white.close()
        black.close()


def main() -> None:
    """Print a line for every ending and engine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engines", nargs="+")
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--each", type=int, default=4)
    given = parser.parse_args()
    for men in ENDINGS:
        for base_s in BASES_S:
            for engine in given.engines:
                games = [played(engine, ending(men, seed), base_s, given.nodes) for seed in range(given.each)]
                won = sum(game.outcome.winner is chess.WHITE for game in games)
                left = ", ".join(f"{game.outcome.reason} {game.verdict.white_ms / 1000:.0f} s" for game in games)
                print(f"{men} {base_s} s  {engine}: {won} of {given.each} won ({left})", flush=True)


if __name__ == "__main__":
    main()
