"""Games in a pool that only the configuration knows: chosen by it or in chat, over a restart, judged by its dials."""

from typing import Any

import pytest

from bridge import event_types

POOLS = {"sprint": {"pool": "winder", "base_s": 200, "economy": "steal"}, "crawl": {"base_s": 500}}
MORE = {"pools": POOLS}


def sprint(verdict: dict[str, Any]) -> bool:
    rules = verdict["rules"]
    return bool(verdict["pool"] == "sprint" and (rules["base_s"], rules["economy"]) == (200, "steal"))


async def test_the_time_control_chooses_it_and_it_outlasts_a_restart(table: Any) -> None:
    own = {"by_time_control": {"9+0": "sprint"}}
    await table.run(more=MORE, pool=own, greeting=True)
    game = table.pair()
    await table.play(game, 4)
    await table.settled(game)
    (started,) = table.recorder.of(event_types.GAME_STARTED, game.id)
    assert started.data["pool"] == "sprint"
    await table.until(lambda: any("pool Sprint (3:20+0 Steal)" in line for line in table.said(game)))
    await table.kill()
    await table.run(pool="anchor")  # the file has it no more
    await table.play(game, 8)
    await table.resign(game)
    verdict = await table.final(game)
    assert sprint(verdict)
    (final,) = table.recorder.of(event_types.VERDICT_FINAL, game.id)
    assert '[KiriPool "sprint"]' in str(final.data["pgn"])


@pytest.mark.parametrize("said", ["!pool sprint", "!POOL Sprint"])
async def test_the_opponent_chooses_it_in_chat(table: Any, said: str) -> None:
    await table.run(more=MORE)
    game = table.pair(bot_is_white=True)
    hall = table.arena.hall
    await table.until(lambda: game.plies == 1)
    hall.say(game, "player", "Human", "!pool sprnt")
    await table.until(lambda: any("sprint" in line and "crawl" in line for line in table.said(game)))
    hall.say(game, "player", "Human", said)
    await table.until(lambda: table.recorder.of(event_types.GAME_RULES, game.id))
    await table.play(game, 6)
    await table.resign(game)
    assert sprint(await table.final(game))
