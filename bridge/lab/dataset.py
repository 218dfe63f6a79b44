"""Games as positions with both clocks: what weights are fitted on."""

from collections.abc import Iterator
from typing import cast

from bridge.lab.pgn import replayed
from bridge.lab.results import GameLine, Json
from bridge.rules.position import read_move, start_board


def positions(pool: str, game: GameLine) -> Iterator[Json]:
    """Every counted position of a kept game, in order, with the game's end in each."""
    verdict = replayed(game)
    board = start_board(verdict.start_fen)
    base_ms = verdict.setup.rules.dials.prices.base_ms
    clocks = [base_ms, base_ms]
    for row, score in zip(verdict.rows, game.scores, strict=False):
        side, uci = row.side, cast(str, row.uci)
        clocks[side] -= row.think_ms or 0
        yield {
            "pool": pool,
            "game": verdict.setup.game_id,
            "ply": row.ply,
            "fen": board.fen(),
            "uci": uci,
            "score_cp": score,
            "own_ms": clocks[side],
            "other_ms": clocks[not side],
            "result": verdict.outcome.result,
            "reason": verdict.outcome.reason,
        }
        board.push(read_move(board, uci))
        clocks[True], clocks[False] = row.white_ms, row.black_ms
