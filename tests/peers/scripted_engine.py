"""A UCI engine that answers at once: the moves of a fixed line, by how many have been played.

Reads its orders from `orders.json` beside it: `line`, `think` (seconds by number of moves played), and how often to
fail from which number of moves on (`fail_from`): `crashes`, or `hangs`.
"""

import json
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    orders = json.loads((HERE / "orders.json").read_text(encoding="utf-8"))
    moves: list[str] = []
    for text in sys.stdin:
        words = text.split()
        if words[:1] == ["uci"]:
            tell("id name Scripted\nid author nobody\nuciok")
        elif words == ["isready"]:
            tell("readyok")
        elif words[:1] == ["position"]:
            moves = words[words.index("moves") + 1 :] if "moves" in words else []
        elif words[:1] == ["go"]:
            fail_when_told(orders, len(moves))
            time.sleep(orders["think"].get(str(len(moves)), 0))
            tell(f"info depth 1 score cp 20\nbestmove {answer(orders['line'], moves)}")
        elif words == ["quit"]:
            return


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def fail_when_told(orders: dict[str, int], played: int) -> None:
    """Counted over restarts, in a file."""
    file = HERE / "failures"
    failures = file.stat().st_size if file.exists() else 0
    if played < orders["fail_from"] or failures >= orders["crashes"] + orders["hangs"]:
        return
    with file.open("a", encoding="utf-8") as count:
        count.write("x")
    if failures < orders["crashes"]:
        raise SystemExit(3)
    time.sleep(3600)


def answer(line: list[str], moves: list[str]) -> str:
    """Off the line, any move that does not end the game."""
    if moves == line[: len(moves)] and len(moves) < len(line):
        return line[len(moves)]
    return quiet_move(moves)


def quiet_move(moves: list[str]) -> str:
    """Any move after which the game goes on, if there is one; the same one each time."""
    import chess  # takes a tenth of a second, and the engine seldom needs it

    board = chess.Board()
    for uci in moves:
        board.push_uci(uci)
    legal = [move.uci() for move in board.legal_moves]
    random.Random(len(moves)).shuffle(legal)
    for uci in legal:
        board.push_uci(uci)
        over = board.is_game_over() or board.is_repetition(2)
        board.pop()
        if not over:
            return uci
    return legal[0]


if __name__ == "__main__":
    main()
