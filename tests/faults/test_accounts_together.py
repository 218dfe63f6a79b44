"""Several accounts in one process: one budget of engines, no challenges to each other, policy that changes for all."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bridge.arena import referee
from bridge.arena.challenges import ChallengeStatus, Wish
from bridge.arena.hall import control_of
from bridge.daemon import Daemon
from bridge.settings.models import Settings

WISH = Wish(control_of(540), "standard", None, False, "white", frozenset())
NAMES = {"Kiri": "tokenKiri", "Robot": "tokenRobot"}
STOCKFISH = {"kind": "uci", "path": "/usr/games/stockfish", "options": {"Hash": 16}, "nodes": 200}


def settings(table: Any, play: Mapping[str, object], **more: object) -> Settings:
    accounts = [
        {"platform": "lichess", "url": table.arena.url, "token": token, "play": table.settings(**play)}
        for token in NAMES.values()
    ]
    journal = {"url": f"sqlite:///{table.journal}"}
    return Settings.model_validate({"accounts": accounts, "engines": {"fake": STOCKFISH}, "journal": journal, **more})


@asynccontextmanager
async def together(table: Any, given: Settings) -> AsyncIterator[Daemon]:
    daemon = Daemon(given, sinks=[table.recorder], timings=table.QUICK)
    work = asyncio.create_task(daemon.run())

    def listening() -> bool:
        if work.done():
            work.result()
        return len([s for s in table.arena.hall.audience.open if s.name.kind == "event"]) == len(NAMES)

    try:
        await table.until(listening)
        yield daemon
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


def challenge(table: Any, name: str) -> Any:
    arena = table.arena
    return arena.desk.create(arena.account("Human"), arena.account(name), WISH)


@pytest.mark.parametrize("limits", [{"processes": 1}, {"memory_mb": 200}])
async def test_a_game_begins_only_when_the_engines_of_all_accounts_have_room(
    table: Any, limits: dict[str, int]
) -> None:
    play = {"challenge": {"max_queued": 1, "queue_s": 600}}
    async with together(table, settings(table, play, engine_limits=limits)):
        first = challenge(table, "Kiri")
        await table.until(lambda: first.id in table.arena.games)
        second, third = challenge(table, "Robot"), challenge(table, "Robot")
        await table.until(lambda: ChallengeStatus.DECLINED in (second.status, third.status))
        assert {second.status, third.status} == {ChallengeStatus.DECLINED, ChallengeStatus.CREATED}
        game = table.arena.games[first.id]
        table.arena.hall.happen(game, referee.abort(game, table.arena.hall.game_now_ms(game)))
        waited = second if second.status is ChallengeStatus.CREATED else third
        await table.until(lambda: waited.id in table.arena.games, what="the room that the other account gave back")


async def test_they_never_challenge_each_other(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.matchmaking._LOOK_S", 0.02)
    monkeypatch.setattr("bridge.decisions.matchmaking.BETWEEN_MS", 20)
    monkeypatch.setattr("bridge.matchmaking.due", lambda *args, **more: True)
    play = {"matchmaking": {"allow_matchmaking": True, "opponent_min_rating": 0}}
    async with together(table, settings(table, play)):
        asked = "/api/bot/online"
        await table.until(lambda: sum(line.path == asked for line in table.requests) >= 6)
        assert not table.arena.desk.challenges


async def test_another_policy_counts_for_the_next_challenge_and_running_games_go_on(table: Any) -> None:
    async with together(table, settings(table, {"concurrency": 1})) as daemon:
        first = challenge(table, "Kiri")
        await table.until(lambda: first.id in table.arena.games)
        daemon.reload(settings(table, {"concurrency": 2}))
        second = challenge(table, "Kiri")
        await table.until(lambda: second.id in table.arena.games)
        daemon.reload(settings(table, {"concurrency": 3, "challenge": {"only_bot": True}}))
        third = challenge(table, "Kiri")
        await table.until(lambda: third.status is ChallengeStatus.DECLINED)
        assert third.decline_reason == "onlyBot"
        for asked in (first, second):
            game = table.arena.games[asked.id]
            table.move(game, "e2e4")
            await table.until(lambda game=game: game.plies == 2)
