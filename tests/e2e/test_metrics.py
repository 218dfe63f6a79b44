"""/metrics of a daemon that has played a game."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from bridge.arena import Arena
from tests.e2e.conftest import Config, RunBridge


async def scrape(url: str) -> dict[tuple[str, str], float]:
    """(name, label values joined by a blank) → value."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}metrics") as response:
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        families = list(text_string_to_metric_families(await response.text()))
    return {
        (sample.name, " ".join(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


async def test_a_game_is_found_in_the_figures(
    arena: Arena, run_bridge: RunBridge, bot: Callable[..., Config], tmp_path: Path
) -> None:
    config = {
        "accounts": [bot("Fish", "built-in", pool="winder"), bot("Kiri", "built-in", pool="winder")],
        "engines": {"built-in": {"kind": "kiri", "builtin": True}},
        "journal": {"url": f"sqlite:///{tmp_path / 'journal.db'}"},
        "monitor": {"listen": "127.0.0.1:0"},
    }
    async with run_bridge(config, think_cap_ms=20) as running:
        assert running.daemon.monitor is not None
        url = running.daemon.monitor.url
        async with asyncio.timeout(30):
            while (await scrape(url)).get(("kirichess_stream_age_seconds", "Kiri event")) is None:
                await asyncio.sleep(0.02)
        before = await scrape(url)
        assert before["kirichess_ready", ""] == 1
        assert before["kirichess_streams", "Fish event"] == 1
        assert before["kirichess_rate_limited_total", "Fish move"] == 0
        arena.pair("Fish", "Kiri", 60, 0)
        verdict = await running.recorder.final()
        counted = ("kirichess_verdicts_total", f"winder {verdict['reason']}")
        async with asyncio.timeout(30):
            while not (after := await scrape(url)).get(counted):
                await asyncio.sleep(0.02)
        entries = tuple(running.recorder.entries)
    assert after[counted] == 1
    plies = sum(entry.type == "kirichess.game.ply" for entry in entries)
    assert after["kirichess_events_total", "kirichess.game.ply"] == plies
    moves = after["kirichess_line_to_move_seconds_count", ""]
    assert plies - 1 <= moves <= plies + 2, "a last move may have come too late to count, or be sent after the end"
    assert after["kirichess_engine_think_seconds_count", ""] >= moves
    assert after["kirichess_journal_sequence", ""] >= plies
    assert after["kirichess_sink_working", "recorder"] == 1
    assert 0 <= after["kirichess_stream_age_seconds", "Fish event"] < 60
