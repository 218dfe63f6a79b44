"""Getting a move: what was looked up comes before the engine."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from bridge.errors import EngineError
from bridge.interfaces import Choice, Limit, RootMoves
from bridge.rules.ledger import Ledger
from bridge.thinker import Thinker

Game = Callable[..., Ledger]
Limits = Callable[..., Limit]


class Scripted:
    """An engine that plays the first of the moves it is left."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...] | None] = []
        self.pondered: list[str] = []

    async def start(self) -> None:
        pass

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        self.asked.append(limit.root_moves)
        return Choice("e2e4" if limit.root_moves is None else limit.root_moves[-1])

    def ponder(self, ledger: Ledger, uci: str) -> None:
        self.pondered.append(uci)

    async def close(self) -> None:
        pass


class Knows:
    """A source that leaves these moves."""

    def __init__(self, *moves: str) -> None:
        self.moves: Sequence[str] = moves

    async def find(self, ledger: Ledger, limit: Limit) -> RootMoves:
        return RootMoves(tuple(self.moves), "tables", 0)

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(("moves", "asked"), [(("d2d4",), 0), (("e2e4", "d2d4"), 1)])
async def test_one_move_that_is_left_is_played_at_once(
    game: Game, limit: Limits, moves: tuple[str, ...], asked: int
) -> None:
    engine = Scripted()
    thinker = Thinker(engine, Scripted(), lambda cause: None, Knows(*moves))
    choice = await thinker.choose(game(), limit)
    assert (choice.uci, choice.wdl, len(engine.asked)) == ("d2d4", 0, asked)
    await thinker.close()


@pytest.mark.parametrize("plain", [True, False])
async def test_what_was_looked_up_is_pondered_on_where_no_clock_of_ours_moves(
    game: Game, limit: Limits, plain: bool
) -> None:
    engine = Scripted()
    thinker = Thinker(engine, Scripted(), lambda cause: None, Knows("d2d4"))
    await thinker.start()
    await thinker.choose(game(), lambda: replace(limit(), plain=plain))
    assert engine.pondered == (["d2d4"] if plain else [])
    await thinker.close()


class Hangs(Scripted):
    """An engine whose program hangs when it is started."""

    def __init__(self, for_s: float) -> None:
        super().__init__()
        self.starts = 0
        self._for_s = for_s

    async def start(self) -> None:
        self.starts += 1
        await asyncio.sleep(self._for_s)
        raise EngineError("did not get ready")


@pytest.mark.parametrize(("ahead", "for_s"), [(True, 0.05), (False, 0.05), (False, 60)])
async def test_a_program_that_hangs_at_its_start_is_not_waited_for_again_and_again(
    game: Game, limit: Limits, ahead: bool, for_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.thinker._WHOLE_MS", 100)
    monkeypatch.setattr("bridge.thinker._SHARE", 50)
    engine, fallback, told = Hangs(for_s), Scripted(), list[str]()
    thinker = Thinker(engine, fallback, told.append)
    if ahead:
        await thinker.start()
    for _ in range(3):
        assert (await thinker.choose(game(), limit)).uci == "e2e4"
    assert (engine.starts, len(fallback.asked)) == (2, 3)
    assert told, "it is told"
    other = Scripted()
    await thinker.change(other)
    await thinker.choose(game(), limit)
    assert len(other.asked) == 1, "another engine is another matter"
    await thinker.close()
