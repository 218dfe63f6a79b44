"""Many games by their ids: each gets its verdict, whether it was read live or is over before anybody could."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bridge import event_types
from bridge.arena import Account, Arena, ArenaSettings, RequestLine, referee
from bridge.arena.game import Game

GAMES = 24


class League:
    """Games that are played by themselves, each to a resignation."""

    def __init__(self, arena: Arena, log: list[RequestLine]) -> None:
        self.arena = arena
        self.log = log
        self._dice = random.Random(4)

    def pair(self) -> Game:
        return self.arena.games[self.arena.pair("Ann", "Ben", 300, 0)]

    async def play(self, game: Game, plies: int, every_s: float = 0.0) -> None:
        for _ in range(plies):
            if game.over:
                return
            self.arena.hall.move(game, game.turn, self._dice.choice(list(game.board.legal_moves)).uci())
            await asyncio.sleep(every_s)

    def end(self, game: Game) -> None:
        """By resignation, or as aborted where hardly anything was played."""
        hall = self.arena.hall
        hall.happen(game, referee.resign(game, game.turn, hall.game_now_ms(game)))

    def requests(self) -> Counter[str]:
        return Counter(line.path.split("kirichess")[0] for line in self.log)


@pytest.fixture
async def league() -> AsyncIterator[League]:
    log: list[RequestLine] = []
    settings = ArenaSettings(list_ids_a_call=10, listed_per_s=200, exported_per_s=200, seed=5)
    async with Arena([Account("Ann", "lip_Ann"), Account("Ben", "lip_Ben")], settings, request_log=log) as arena:
        yield League(arena, log)


def config(arena: Arena, games: list[Game], journal: str = "sqlite://") -> dict[str, object]:
    watch = [{"games": [game.id for game in games], "pool": "anchor"}]
    return {"accounts": [{"platform": "lichess", "url": arena.url}], "watch": watch, "journal": {"url": journal}}


@pytest.fixture(autouse=True)
def few_ids_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.platforms.lichess.listing._IDS_A_CALL", 10)


async def finished(work: "asyncio.Task[None]") -> None:
    async with asyncio.timeout(30):
        await asyncio.shield(work)


async def test_every_game_of_a_list_gets_its_verdict(run_bridge: Any, league: League) -> None:
    games = [league.pair() for _ in range(GAMES)]
    for game, plies in zip(games, itertools.cycle((0, 1, 12, 30)), strict=False):
        await league.play(game, plies)
    over, running = games[:8], games[8:]
    for game in over:
        league.end(game)
    async with run_bridge(config(league.arena, games)) as bridge:
        await asyncio.gather(*(league.play(game, 20, 0.05) for game in running))
        for game in running:
            league.end(game)
        await finished(bridge.work)
    finals = {entry.subject: entry.data["verdict"] for entry in bridge.recorder.of(event_types.VERDICT_FINAL)}
    assert {game: verdict["platform_plies"] for game, verdict in finals.items()} == {
        game.id: game.plies for game in games if game.status.key != "aborted"
    } | {game.id: 0 for game in games if game.status.key == "aborted"}
    assert len(finals) == len(bridge.recorder.of(event_types.VERDICT_FINAL)) == GAMES


async def test_one_stream_tells_of_all_and_downloads_are_shared(run_bridge: Any, league: League) -> None:
    games = [league.pair() for _ in range(GAMES)]
    async with run_bridge(config(league.arena, games)) as bridge:
        await asyncio.gather(*(league.play(game, 20, 0.05) for game in games))
        for game in games:
            league.end(game)
        await finished(bridge.work)
    asked = league.requests()
    assert asked["/api/stream/games/"] == 3, "opened once, and added to twice"
    assert asked["/api/games/export/_ids"] <= 3
    live = {line.path for line in league.log if line.path.startswith("/api/stream/game/")}
    assert 1 <= len(live) <= 8
    assert not [line for line in league.log if line.status >= 400]


async def test_a_list_that_was_cut_off_misses_no_end(run_bridge: Any, league: League) -> None:
    games = [league.pair() for _ in range(GAMES)]
    async with run_bridge(config(league.arena, games)) as bridge:
        await asyncio.gather(*(league.play(game, 20, 0.05) for game in games))
        league.arena.faults.drop("games")
        for game in games:
            league.end(game)
        await finished(bridge.work)
    assert len(bridge.recorder.of(event_types.VERDICT_FINAL)) == GAMES


async def test_after_a_restart_only_what_was_not_judged_is_looked_at(
    run_bridge: Any, league: League, tmp_path: Any
) -> None:
    games = [league.pair() for _ in range(4)]
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    for game in games:
        await league.play(game, 10)
        league.end(game)
    async with run_bridge(config(league.arena, games[:3], url)) as bridge:
        await finished(bridge.work)
    league.log.clear()
    async with run_bridge(config(league.arena, games, url)) as bridge:
        await finished(bridge.work)
    assert [entry.subject for entry in bridge.recorder.of(event_types.VERDICT_FINAL)] == [games[3].id]
