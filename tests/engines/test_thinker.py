"""Getting a move: what was looked up comes before the engine."""

from collections.abc import Callable, Sequence

import pytest

from bridge.interfaces import Choice, Limit, RootMoves
from bridge.rules.ledger import Ledger
from bridge.thinker import Thinker

Game = Callable[..., Ledger]
Limits = Callable[..., Limit]


class Scripted:
    """An engine that plays the first of the moves it is left."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...] | None] = []

    async def start(self) -> None:
        pass

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        self.asked.append(limit.root_moves)
        return Choice("e2e4" if limit.root_moves is None else limit.root_moves[-1])

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
