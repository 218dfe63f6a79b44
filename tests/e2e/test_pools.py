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

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not STOCKFISH.exists(), reason="needs Debian's stockfish: apt install stockfish"),
]


def config(bot: Callable[..., Mapping[str, object]], pool: str, **play: object) -> dict[str, object]:
    weak = {"kind": "uci", "path": str(STOCKFISH), "nodes": 1000, "options": {"Skill Level": 0}}
    return {
        "accounts": [bot("Fish", "fish", pool=pool, **play), bot("Kiri", "kiri", pool=pool, **play)],
        "engines": {"fish": weak, "kiri": {"kind": "kiri", "builtin": True}},
        "journal": {"url": "sqlite://"},
    }


async def adjudicated(run_command: Any, arena: Arena, game_id: str, *rules: str) -> dict[str, Any]:
    address = f"{arena.url}/{game_id}"
    status, out, err = await run_command("adjudicate", address, *rules, "--format", "jsonl", "--ledger")
    assert status == 0, err
    verdict: dict[str, Any] = json.loads(out)
    return verdict


def differences(live: Mapping[str, Any], again: Mapping[str, Any]) -> dict[str, object]:
    """What the export does not confirm; its clocks lose three bits, so they may differ by 40 ms."""
    same = {name: live[name] == again[name] for name in ("result", "reason", "flag", "ended_at_ply")}
    same |= {name: abs(live[name] - again[name]) <= 40 for name in ("white_ms", "black_ms")}
    return {name: (live[name], again[name]) for name, is_same in same.items() if not is_same}


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
    if live["certain"]:
        again = await adjudicated(run_command, arena, game_id, "--pool", pool)
        # What the export's coarser clocks cannot tell, they cannot contradict.
        assert not again["certain"] or differences(live, again) == {}, [
            (a["ply"], a["think_ms"], b["think_ms"])
            for a, b in zip(live["ledger"], again["ledger"], strict=False)
            if a["think_ms"] is None or abs(a["think_ms"] - b["think_ms"]) > 20
        ]


@pytest.mark.parametrize("rules", [{"pool": "winder"}, {"pool": "winder", "base_s": 15}], ids=["winder", "custom"])
async def test_flags_are_forced_and_the_loser_resigns(
    rules: dict[str, Any], arena: Arena, run_bridge: Any, run_command: Any, bot: Any, tmp_path: Path
) -> None:
    own = {name: value for name, value in rules.items() if name != "pool"}
    async with run_bridge(config(bot, "winder", **({"rules": own} if own else {})), kill=True) as bridge:
        live = await forced_flag(arena, bridge)
    assert live["platform"] == {"result": live["result"], "status": "resign"}
    (file := tmp_path / "rules.json").write_text(json.dumps(rules))
    assert differences(live, await adjudicated(run_command, arena, live["id"], "--rules", str(file))) == {}


async def forced_flag(arena: Arena, bridge: Any) -> dict[str, Any]:
    """The first verdict by a forced flag, of several games at once."""
    for _ in range(10):
        for white, black in (("Fish", "Kiri"), ("Kiri", "Fish")) * 2:
            arena.pair(white, black, SAFE_CLOCK_S["winder"])
        for _ in range(4):
            live: dict[str, Any] = await bridge.recorder.final()
            if live["reason"] == "flag" and live["flag"]["forced"]:
                return live
    raise AssertionError("no forced flagfall in 40 games")
