"""Programs kept for the next game: one game at a time, never after a fault, none left behind."""

import shutil
from collections.abc import AsyncIterator, Callable

import pytest

from bridge.account_engines import AccountEngines
from bridge.engines.build import build_engine
from bridge.engines.spec import EngineSpec
from bridge.engines.warm import WarmEngines
from bridge.errors import EngineError
from bridge.interfaces import Limit, Player
from bridge.rules.ledger import Ledger
from bridge.settings.models import Settings

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


async def test_one_of_another_kind_ends_only_where_there_is_no_room_beside_it(children: Children) -> None:
    before = programs(children)
    other = EngineSpec("uci", "stockfish", {"Hash": 32})
    for most, stays in ((2, True), (1, False)):
        warm = WarmEngines(2, build_engine, lambda specs, most=most: len(specs) <= most)  # type: ignore[misc]
        await played(warm, SPEC)
        kept = programs(children) - before
        engine = warm.lend(other)
        await engine.start()
        assert kept and (kept <= programs(children)) is stays
        await engine.close()
        assert len(programs(children) - before) == len(kept) * (1 + stays)
        await warm.close()


async def test_the_kinds_that_are_played_are_the_ones_that_wait(children: Children) -> None:
    before, warm = programs(children), WarmEngines(2, build_engine)
    kinds = [EngineSpec("uci", "stockfish", {"Hash": size}) for size in (16, 32, 48)]
    await played(warm, kinds[0])
    one = programs(children) - before
    for kind in kinds[1:]:
        await played(warm, kind)
    waiting = programs(children) - before
    assert len(waiting) == 2 * len(one) and not waiting & one
    for kind in kinds[1:]:
        await played(warm, kind)
    assert programs(children) - before == waiting
    await warm.close()


async def played(warm: WarmEngines, spec: EngineSpec) -> None:
    engine = warm.lend(spec)
    await engine.start()
    await engine.close()


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


async def test_the_settings_bound_what_waits_beside_the_games(children: Children) -> None:
    before = programs(children)
    kinds = {
        name: {"kind": "uci", "path": "stockfish", "options": {"Hash": size}} for name, size in (("a", 1), ("b", 2))
    }
    limits = {"idle": 1, "processes": 1}
    engines = AccountEngines(Settings.model_validate({"engines": kinds, "engine_limits": limits}), build_engine)

    async def play(name: str) -> set[int]:
        engine = engines.lend("Kiri", {}, name, "abcdefgh", Player())
        await engine.start()
        running = programs(children) - before
        await engine.close()
        return running

    first, second = await play("a"), await play("b")
    assert first and not first & second
    engines.set_limits(Settings.model_validate({"engine_limits": {"idle": 2}}).engine_limits)
    assert await play("a") > second
    await engines.close()
    assert not programs(children) - before
