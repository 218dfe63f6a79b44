"""Stockfish and the built-in engine play each other over HTTP to KiriChess endings, in every pool."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bridge.arena import Arena

STOCKFISH = Path("/usr/games/stockfish")
SAFE_CLOCK_S = {"winder": 240, "ratchet": 240, "fulcrum": 600, "anchor": 540, "mainspring": 900, "eclipse": 1440}
KIRICHESS_ENDINGS = {
    "checkmate",
    "flag",
    "flag_insufficient_material",
    "stalemate",
    "threefold",
    "fifty_moves",
    "insufficient_material",
}

pytestmark = pytest.mark.skipif(not STOCKFISH.exists(), reason="needs Debian's stockfish: apt install stockfish")


def config(bot: Callable[..., Mapping[str, object]], pool: str) -> dict[str, object]:
    weak = {"kind": "uci", "path": str(STOCKFISH), "nodes": 1000, "options": {"Skill Level": 0}}
    return {
        "accounts": [bot("Fish", "fish", pool=pool), bot("Kiri", "kiri", pool=pool)],
        "engines": {"fish": weak, "kiri": {"kind": "kiri"}},
        "journal": {"url": "sqlite://"},
    }


async def adjudicated(run_command: Any, arena: Arena, game_id: str, pool: str) -> dict[str, Any]:
    address = f"{arena.url}/{game_id}"
    status, out, err = await run_command("adjudicate", address, "--pool", pool, "--format", "jsonl")
    assert status == 0, err
    verdict: dict[str, Any] = json.loads(out)
    return verdict


def same_judgement(live: Mapping[str, Any], again: Mapping[str, Any]) -> bool:
    """What the export confirms; its clocks lose three bits, so they may differ by 40 ms."""
    return all(live[name] == again[name] for name in ("result", "reason", "flag", "ended_at_ply")) and all(
        abs(live[name] - again[name]) <= 40 for name in ("white_ms", "black_ms")
    )


@pytest.mark.parametrize("pool", SAFE_CLOCK_S)
async def test_a_game_ends_by_kirichess_and_its_export_confirms_it(
    pool: str, arena: Arena, run_bridge: Any, run_command: Any, bot: Any
) -> None:
    async with run_bridge(config(bot, pool)) as bridge:
        game_id = arena.pair("Fish", "Kiri", SAFE_CLOCK_S[pool])
        live = await bridge.recorder.final()
    assert live["id"] == game_id
    assert live["reason"] in KIRICHESS_ENDINGS
    assert live["clock_source"] == "stream"
    assert live["anomalies"] == []
    assert not live["certain"] or same_judgement(live, await adjudicated(run_command, arena, game_id, pool))


async def test_flags_are_forced_and_the_loser_resigns(
    arena: Arena, run_bridge: Any, run_command: Any, bot: Any
) -> None:
    forced: list[dict[str, Any]] = []
    async with run_bridge(config(bot, "winder")) as bridge:
        for number in range(40):
            white, black = ("Fish", "Kiri") if number % 2 else ("Kiri", "Fish")
            arena.pair(white, black, SAFE_CLOCK_S["winder"])
            live = await bridge.recorder.final()
            if live["reason"] == "flag" and live["flag"]["forced"]:
                forced.append(live)
            if len(forced) == 2:
                break
    assert len(forced) == 2, "no two forced flagfalls in 40 games"
    for live in forced:
        assert live["platform"] == {"result": live["result"], "status": "resign"}
        assert same_judgement(live, await adjudicated(run_command, arena, live["id"], "winder"))
