"""Where several accounts play, a line of the log says whose stream or game it is about."""

import json
from typing import Any

import pytest

from bridge.cli.logs import set_up_logs


async def test_what_is_lost_is_told_with_its_account_and_game(table: Any, capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(log_format="json")
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    for kind in ("event", "game"):
        table.faults.drop(kind)
    await table.play(game, 6)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    lost = {line["stream"]: (line.get("account"), line.get("game")) for line in told if line["event"] == "stream_lost"}
    assert lost == {
        "/api/stream/event": ("Kiri", None),
        f"/api/bot/game/stream/{game.id}": ("Kiri", game.id),
    }
