"""The notation stored ply by ply serves verdict and PGN: both are the same as worked out anew from the moves."""

import io
import random

import chess
import chess.pgn
import pytest

from bridge.interfaces import GameInfo, Player
from bridge.journal import SqlJournal
from bridge.records.pgn_writer import to_pgn
from bridge.records.verdict_json import verdict_object
from bridge.rules.pools import named
from bridge.rules.snapshot import Snapshot, TimeControl
from bridge.rules.verdict import verdict
from bridge.tracker import Tracker

INFO = GameInfo("game0001", Player("a", "A"), Player("b", "B"), time_control=TimeControl(240_000, 0), url="https://x/g")
CASTLED = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1g1", "f6e4")
MATED = ("f2f3", "e7e5", "g2g4", "d8h4")


def by_lot(plies: int) -> tuple[str, ...]:
    dice, board = random.Random(5), chess.Board()
    for _ in range(plies):
        board.push(dice.choice(list(board.legal_moves)))
    return tuple(move.uci() for move in board.move_stack)


async def told(
    journal: SqlJournal, lines: list[tuple[str, ...]], status: str, restart_after: int
) -> tuple[Tracker, str]:
    """Play the lines in, from a new tracker after so many of them; the tracker and the PGN that it stored."""
    tracker = Tracker(INFO.id, "A", journal, lambda: 0)
    await tracker.open(INFO, named("anchor"), source="stream", precision_ms=10)
    for number, moves in enumerate(lines):
        if number == restart_after:
            tracker = Tracker(INFO.id, "A", journal, lambda: 0)
            await tracker.resume()
        await tracker.take(Snapshot(moves, "started", None, 200_000, 200_000))
    await tracker.take(Snapshot(lines[-1], status, chess.WHITE, 200_000, 200_000))
    judged = verdict(tracker.ledger, final=True)
    await tracker.conclude(judged)
    final = (await journal.read(types=["kirichess.verdict.final"]))[0]
    assert final.data["verdict"] == verdict_object(judged, ledger=True)
    return tracker, str(final.data["pgn"])


@pytest.mark.parametrize("restart_after", [-1, 3])
@pytest.mark.parametrize("moves", [CASTLED, MATED, by_lot(60)], ids=["castled", "mated", "by lot"])
async def test_what_was_stored_is_what_would_be_worked_out(moves: tuple[str, ...], restart_after: int) -> None:
    async with SqlJournal("sqlite://") as journal:
        lines = [moves[:plies] for plies in range(1, len(moves) + 1)]
        tracker, pgn = await told(journal, lines, "resign", restart_after)
        date = pgn.split('[Date "', 1)[1][:10]
        assert pgn == to_pgn(verdict(tracker.ledger, final=True), date=date)


async def test_a_takeback_leaves_no_notation_of_moves_that_are_gone() -> None:
    async with SqlJournal("sqlite://") as journal:
        lines = [CASTLED[:4], CASTLED[:2], (*CASTLED[:2], "d2d4"), (*CASTLED[:2], "d2d4", "e5d4")]
        _, pgn = await told(journal, lines, "resign", -1)
        game = chess.pgn.read_game(io.StringIO(pgn))
        assert game is not None
        assert [move.uci() for move in game.mainline_moves()] == list(lines[-1])
