"""The sources in their order, each behind its gate: the first that knows the position answers.

One that fails, hangs or lies costs its share of the time, never a move: then the next is asked, and at last the engine.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from bridge.decisions.near_flag import near_flag
from bridge.errors import RecordError
from bridge.interfaces import Choice, Limit, MoveSource, RootMoves
from bridge.rules.ledger import Ledger
from bridge.rules.position import read_move
from bridge.sources.repeats import repeats
from bridge.sources.site import Resting

log = structlog.get_logger("kirichess_sources")

_SHARE = 10
"""All sources together may use a tenth of what is left for the move."""
_REMEMBERED = 1_000
BOOK = "polyglot"
"""The name of the books, for those that are asked only without them."""


@dataclass(frozen=True, slots=True)
class Gate:
    """When a source is asked: our clock, at most what a game may begin with, and how long it may take; milliseconds.

    `out_of_book`: not any more in a game where it has known nothing so many times; None: always. `max_moves`: of ours.
    `max_answers`: that it has given in one game. `only_without_book`: not where a book has known a move in the game.
    `may_repeat`: whether a move of it counts that repeats a position.
    """

    min_ms: int = 0
    max_ms: int | None = None
    timeout_ms: int = 500
    out_of_book: int | None = None
    max_moves: int | None = None
    max_answers: int | None = None
    only_without_book: bool = False
    may_repeat: bool = True


@dataclass(frozen=True, slots=True)
class Gated:
    """A source with its name and gate."""

    name: str
    source: MoveSource
    gate: Gate = Gate()


class Chain:
    """A source made of several."""

    def __init__(self, sources: Sequence[Gated] = ()) -> None:
        self._sources = tuple(sources)
        self._misses = _Count()
        self._answers = _Count()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._sources)

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | RootMoves | None:
        """A legal move, or legal moves; None: the engine decides alone, as it does wherever a flag is near."""
        if not self._sources or (not limit.plain and near_flag(ledger, limit.white_ms, limit.black_ms)):
            return None
        loop = asyncio.get_running_loop()
        end_s = loop.time() + limit.deadline_ms / _SHARE / 1000
        for gated in self._sources:
            if not self._is_open(gated, ledger, limit) or loop.time() >= end_s:
                continue
            try:
                found = await self._ask(gated, ledger, limit, end_s)
            except Resting:
                continue  # it was not asked, so it has not missed
            game_id = ledger.setup.game_id
            if found is not None:
                log.info("source_answered", game=game_id, source=gated.name, why=found.why)
                self._answers.add(game_id, gated.name)
                return found
            self._misses.add(game_id, gated.name)
        return None

    def _is_open(self, gated: Gated, ledger: Ledger, limit: Limit) -> bool:
        gate, own_ms = gated.gate, limit.white_ms if ledger.turn else limit.black_ms
        game_id, control = ledger.setup.game_id, ledger.setup.time_control
        return (
            gate.min_ms <= own_ms
            and (gate.max_ms is None or control is None or control.initial_ms <= gate.max_ms)
            and (gate.out_of_book is None or self._misses.of(game_id, gated.name) < gate.out_of_book)
            and (gate.max_moves is None or ledger.board.ply() < 2 * gate.max_moves)
            and (gate.max_answers is None or self._answers.of(game_id, gated.name) < gate.max_answers)
            and not (gate.only_without_book and self._answers.of(game_id, BOOK))
        )

    async def _ask(self, gated: Gated, ledger: Ledger, limit: Limit, end_s: float) -> Choice | RootMoves | None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(min(end_s, loop.time() + gated.gate.timeout_ms / 1000)):
                found = await gated.source.find(ledger, limit)
            return None if found is None else _allowed(ledger, found, gated.gate)
        except Resting:
            raise
        except Exception as error:  # noqa: BLE001 it is told, and the next one asked
            # Whatever is wrong with it, the engine can play without.
            cause = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
            log.warning("source_failed", game=ledger.setup.game_id, source=gated.name, cause=cause)
            return None

    async def close(self) -> None:
        """Close all of them."""
        for gated in self._sources:
            await gated.source.close()


class _Count:
    """How often, by game and source; what was counted longest ago is forgotten."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, str], int] = OrderedDict()

    def of(self, game_id: str, source: str) -> int:
        return self._found.get((game_id, source), 0)

    def add(self, game_id: str, source: str) -> None:
        self._found[game_id, source] = self.of(game_id, source) + 1
        while len(self._found) > _REMEMBERED:
            self._found.popitem(last=False)


def _allowed(ledger: Ledger, found: Choice | RootMoves, gate: Gate) -> Choice | RootMoves | None:
    """None: a move that repeats a position. Raises RecordError: one that is not legal."""
    found = _legal(ledger, found)
    if gate.may_repeat or isinstance(found, RootMoves):
        return found
    return None if repeats(ledger.board.copy(), read_move(ledger.board, found.uci)) else found


def _legal(ledger: Ledger, found: Choice | RootMoves) -> Choice | RootMoves:
    """Raises RecordError: it named a move that is not legal."""

    def spelled(uci: str) -> str:
        return ledger.board.uci(read_move(ledger.board, uci), chess960=ledger.chess960)

    if isinstance(found, Choice):
        return replace(found, uci=spelled(found.uci))
    if not found.moves:
        raise RecordError("it left no move at all")
    return replace(found, moves=tuple(map(spelled, found.moves)))
