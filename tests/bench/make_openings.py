"""Make `bridge/lab/openings.txt` again: python tests/bench/make_openings.py 400 > bridge/lab/openings.txt"""

import sys
from itertools import islice

from bridge.lab.openings import NODES, SEED, generate
from bridge.lab.uci_pipe import UciPipe


def main(count: int) -> None:
    """One FEN a line, with the score of the side to move."""
    with UciPipe("stockfish", {"Threads": 1, "Hash": 16}) as engine:

        def score_cp(fen: str) -> int | None:
            engine.new_game()
            return engine.search(f"fen {fen}", f"nodes {NODES}")[0].score_cp

        print(f"# {engine.name}, {NODES} nodes, seed {SEED}; the first half is for tuning, the second held out")
        for fen, score in islice(generate(SEED, score_cp), count):
            print(f"{fen} ; {score:+}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
