"""The games of a match as PGN: the plain clock (`%clk`) and the KiriChess one after every ply, and the scores."""

from collections.abc import Iterable
from pathlib import Path
from typing import cast

from bridge.lab.results import GameLine, Json, PairLine
from bridge.records.evaluations import Evaluation
from bridge.records.pgn_writer import to_pgn
from bridge.rules.budget import safe_platform_ms
from bridge.rules.endings import Outcome
from bridge.rules.events import Ended, Moved
from bridge.rules.ledger import Ledger
from bridge.rules.pools import parse_dials
from bridge.rules.snapshot import RECORD_END, Setup, TimeControl
from bridge.rules.verdict import Verdict, verdict


def write_pgn(path: Path, pairs: Iterable[PairLine]) -> None:
    """Every game of every pair, in the order they were finished."""
    with path.open("w", encoding="utf-8") as out:
        for line in pairs:
            for game in line.games:
                verdict = replayed(game)
                scored = enumerate(zip(verdict.moves, game.scores, strict=False), 1)
                thought = [Evaluation(ply, uci, score) for ply, (uci, score) in scored if score is not None]
                out.write(to_pgn(verdict, event="KiriChess match", evaluations=thought) + "\n")


def replayed(game: GameLine) -> Verdict:
    """A kept game judged again; the plain clock starts at the pool's safe one and falls by thinking alone."""
    record = game.record
    rules = parse_dials(cast(Json, record["rules"]))
    control = TimeControl(safe_platform_ms(rules.dials), 0)
    fen, white, black = record["start_fen"], str(record["white"]), str(record["black"])
    setup = Setup(
        str(record["id"]),
        rules,
        "think",
        0,
        start_fen=None if fen is None else str(fen),
        time_control=control,
        white=white,
        black=black,
    )
    ledger = Ledger(setup)
    left_ms = [control.initial_ms, control.initial_ms]
    for uci, think_ms in zip(cast(list[str], record["moves"]), cast(list[int], record["think_ms"]), strict=True):
        side = ledger.turn
        left_ms[side] -= think_ms
        ledger.apply(Moved(uci, think_ms, reading_ms=left_ms[side]))
    ledger.apply(_end(game, ledger.outcome))
    return verdict(ledger, final=True)


def _end(game: GameLine, outcome: Outcome | None) -> Ended:
    """The match as the platform: it ends a game by KiriChess rules, and forfeits one of an engine that failed."""
    if game.fault is not None:
        loser_is_white = game.fault[0] == game.first_is_white
        return Ended("cheat", not loser_is_white)
    if outcome is None:
        return Ended(RECORD_END)
    return Ended("draw") if outcome.winner is None else Ended("variantEnd", outcome.winner)
