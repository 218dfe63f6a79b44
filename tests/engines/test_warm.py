"""Programs kept for the next game: one game at a time, never after a fault, none left behind."""

import shutil
from collections.abc import AsyncIterator, Callable

import pytest

from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec
from bridge.engines.warm import WarmEngines
from bridge.errors import EngineError
from bridge.interfaces import Limit
from bridge.rules.ledger import Ledger

SPEC = EngineSpec("uci", "stockfish", {"Hash": 16})
Game = Callable[..., Ledger]
Limits = Callable[..., Limit]
Children = Callable[[], list[int]]
pytestmark = pytest.mark.skipif(shutil.which("stockfish", path="/usr/games:/usr/bin") is None, reason="no stockfish")


@pytest.fixture
async def warm() -> AsyncIterator[WarmEngines]:
    found = WarmEngines(1, build_engine)
    yield found
    await found.close()


def programs(children: Children) -> set[int]:
    return set(children())


async def test_the_next_game_has_the_same_program(
    warm: WarmEngines, game: Game, limit: Limits, children: Children
) -> None:
    before = programs(children)
    seen = []
    for game_id in ("one", "two"):
        engine = warm.lend(SPEC)
        await engine.start()
        await engine.think(game(game_id=game_id), limit(nodes=100))
        seen.append(programs(children) - before)
        await engine.close()
    assert seen[0] == seen[1]
    assert seen[0]
    await warm.close()
    assert not programs(children) - before


async def test_two_games_never_share_and_no_more_wait_than_may(
    warm: WarmEngines, game: Game, limit: Limits, children: Children
) -> None:
    before = programs(children)
    first, second = warm.lend(SPEC), warm.lend(SPEC)
    await first.start()
    alone = programs(children) - before
    await second.start()
    assert programs(children) - before > alone
    await first.close()
    await second.close()
    assert programs(children) - before == alone
    other = warm.lend(EngineSpec("uci", "stockfish", {"Hash": 32}))
    await other.start()
    assert not (programs(children) - before) & alone
    await other.close()


async def test_one_that_failed_does_not_come_back(
    warm: WarmEngines, game: Game, limit: Limits, children: Children
) -> None:
    before = programs(children)
    engine = warm.lend(SPEC)
    await engine.start()
    with pytest.raises(EngineError):
        await engine.think(game("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), limit())  # stalemate: nothing to ask
    await engine.close()
    assert not programs(children) - before


async def test_after_the_end_what_comes_back_ends(warm: WarmEngines, children: Children) -> None:
    before = programs(children)
    engine = warm.lend(SPEC)
    await engine.start()
    await warm.close()
    await engine.close()
    assert not programs(children) - before
