"""The PGN that the daemon writes is judged by `adjudicate` as the game was live, whatever server it was played on."""

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.arena import Arena

SAME = ("result", "reason", "flag", "ended_at_ply", "white_ms", "black_ms", "rules", "site", "platform_plies")


@pytest.mark.parametrize("increment_s", [0, 2])
async def test_a_written_game_is_judged_as_it_was_live(
    arena: Arena, run_bridge: Any, run_command: Any, bot: Any, tmp_path: Path, increment_s: int
) -> None:
    config = {
        "accounts": [bot("Fish", "any", pool="winder"), bot("Kiri", "any", pool="winder")],
        "engines": {"any": {"kind": "random"}},
        "journal": {"url": "sqlite://"},
        "pgn": {"folder": str(tmp_path)},
    }
    async with run_bridge(config) as bridge:
        game_id = arena.pair("Fish", "Kiri", 240, increment_s)
        live = await bridge.recorder.final()
    file = tmp_path / f"{game_id}.pgn"
    assert live["site"] == f"{arena.url}/{game_id}"
    status, out, err = await run_command("adjudicate", str(file), "--format", "jsonl")
    assert (status, err) == (0, "")
    again = json.loads(out)
    assert {name: again[name] for name in SAME} == {name: live[name] for name in SAME}
    assert '[Date "????' not in file.read_text()
