"""What counts as a fault of a game against a peer; with KIRICHESS_PEERS, games against the peers themselves.

KIRICHESS_PEERS is a folder with the checkouts `lichess-bot` and `BotLi`, and beside them `lichess-bot.venv` and
`BotLi.venv`, environments that have their requirements.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest

from bridge import event_types
from bridge.arena import referee
from bridge.arena.control import TimeControl
from bridge.arena.game import Game, Seat
from tests.peers.all_pools import play_group
from tests.peers.contenders import our_daemon, their_bot
from tests.peers.pool_check import Witnessed
from tests.peers.pool_groups import GROUPS, OURS, PEER
from tests.peers.pool_table import Row

FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")
MATE = {"result": "0-1", "reason": "checkmate", "flag": None, "ended_at_ply": 4, "certain": True}
FLAG = {"side": "black", "cause": "toll", "forced": True}
FLAGGED = {"result": "1-0", "reason": "flag", "flag": FLAG, "ended_at_ply": 2, "certain": True}


def played(moves: tuple[str, ...] = FOOLS_MATE) -> Game:
    """We have Black."""
    game = Game(
        id="abcdefgh",
        white=Seat(PEER, "BOT"),
        black=Seat(OURS, "BOT"),
        control=TimeControl(240, 0),
        created_at_ms=0,
    )
    for uci in moves:
        referee.move(game, game.turn, uci, 0)
    return game


def resigned(moves: tuple[str, ...]) -> Game:
    game = played(moves)
    referee.resign(game, chess.BLACK, 0)
    return game


def aborted() -> Game:
    game = played(FOOLS_MATE[:1])
    referee.abort(game, 0)
    return game


def told(verdict: Mapping[str, Any], pool: str = "ratchet") -> list[dict[str, Any]]:
    return [
        {"type": event_types.GAME_STARTED, "data": {"pool": pool}},
        {"type": event_types.VERDICT_FINAL, "data": {"verdict": verdict}},
    ]


def witnessed(game: Game, verdict: Mapping[str, Any] = MATE, pool: str | None = "ratchet") -> Witnessed:
    asked = ["/api/bot/game/stream/abcdefgh", "/api/bot/game/abcdefgh/move/e7e5", "/api/challenge/abcdefgh/accept"]
    return Witnessed(game, chess.BLACK, pool, told(verdict), verdict, asked, [])


def test_a_game_that_is_as_it_should_be_has_no_fault() -> None:
    game = witnessed(played())
    assert (game.end, game.reason, game.faults()) == ("mate, won", "checkmate", [])
    assert witnessed(played(), pool=None).faults() == []
    in_doubt = {**MATE, "ended_at_ply": 3, "certain": False}
    assert replace(witnessed(played()), judged=in_doubt).faults() == []
    drawn = {**FLAGGED, "result": "1/2-1/2", "reason": "flag_insufficient_material"}
    assert witnessed(played(), drawn).faults() == []
    fallen = witnessed(resigned(FOOLS_MATE[:2]), FLAGGED)
    assert (fallen.end, fallen.reason, fallen.faults()) == ("we resigned", "flag, ours (toll)", [])


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: witnessed(aborted()), "the platform says aborted"),
        (lambda: witnessed(played(FOOLS_MATE[:3])), "the platform says started"),
        (lambda: witnessed(resigned(FOOLS_MATE[:2])), "resigned without a flag"),
        (lambda: witnessed(played(), FLAGGED), "played on after our own flag"),
        (lambda: replace(witnessed(played()), pool="anchor"), "the pool was ratchet"),
        (lambda: replace(witnessed(played()), events=told(MATE)[:1]), "no final verdict"),
        (lambda: replace(witnessed(played()), judged=None), "adjudicate gave no verdict"),
        (
            lambda: replace(witnessed(played()), judged={**MATE, "ended_at_ply": 3}),
            "told 0-1 by checkmate at ply 4, adjudicate",
        ),
        (lambda: witnessed(resigned(FOOLS_MATE[:2]), FLAGGED, None), "resigned a rated game"),
        (lambda: replace(witnessed(played(), pool=None), said=["Ratchet pool"]), "said 'Ratchet pool'"),
        (
            lambda: replace(witnessed(played(), pool=None), requests=["/api/bot/game/abcdefgh/draw/yes"]),
            "a rated game saw /api/bot/game/abcdefgh/draw/yes",
        ),
    ],
)
def test_a_fault_is_told_with_its_game(make: Callable[[], Witnessed], fault: str) -> None:
    assert [told for told in make().faults() if told.startswith(f"abcdefgh: {fault}")]


def test_a_row_counts_ends_verdicts_scores_and_faults() -> None:
    games = [witnessed(played()), witnessed(played()), witnessed(resigned(FOOLS_MATE[:2]), FLAGGED)]
    line = Row("BotLi", GROUPS[2], games, ["a challenge became no game"]).line()
    assert "| BotLi | ratchet | 4+0 | 3 | 2–0–1 | mate, won 2; we resigned 1 | 2–0–1 |" in line
    assert "checkmate 2; flag, ours (toll) 1 | 2–4 | 1 |" in line


@pytest.mark.parametrize("name", ["lichess-bot", "BotLi"])
async def test_the_peer_itself_plays_casual_and_rated(name: str, tmp_path: Path) -> None:
    peers = Path(os.environ.get("KIRICHESS_PEERS", "nowhere"))
    python = peers / f"{name}.venv/bin/python"
    if not python.exists():
        pytest.skip(f"KIRICHESS_PEERS names no folder with {name} and {name}.venv")
    ours, peer = our_daemon(tmp_path), their_bot(f"{peers / name}={python}", tmp_path)
    for group in (GROUPS[2], GROUPS[7]):
        row = await play_group(ours, peer, group, 1, tmp_path / group.name)
        assert (len(row.games), row.faults) == (1, [])
