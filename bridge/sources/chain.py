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
from bridge.sources.site import Resting

log = structlog.get_logger("kirichess_sources")

_SHARE = 10
"""All sources together may use a tenth of what is left for the move."""
_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Gate:
    """When a source is asked: our clock, and how long it may take; milliseconds.

    `out_of_book`: not any more in a game where it has known nothing so many times; None: always. `max_moves`: of ours.
    """

    min_ms: int = 0
    max_ms: int | None = None
    timeout_ms: int = 500
    out_of_book: int | None = None
    max_moves: int | None = None


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
        self._misses: OrderedDict[tuple[str, str], int] = OrderedDict()

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
            if found is not None:
                log.info("source_answered", game=ledger.setup.game_id, source=gated.name, why=found.why)
                return found
            key = (ledger.setup.game_id, gated.name)
            self._misses[key] = self._misses.get(key, 0) + 1
            while len(self._misses) > _REMEMBERED:
                self._misses.popitem(last=False)
        return None

    def _is_open(self, gated: Gated, ledger: Ledger, limit: Limit) -> bool:
        gate, own_ms = gated.gate, limit.white_ms if ledger.turn else limit.black_ms
        misses = self._misses.get((ledger.setup.game_id, gated.name), 0)
        return (
            gate.min_ms <= own_ms
            and (gate.max_ms is None or own_ms <= gate.max_ms)
            and (gate.out_of_book is None or misses < gate.out_of_book)
            and (gate.max_moves is None or ledger.board.ply() < 2 * gate.max_moves)
        )

    async def _ask(self, gated: Gated, ledger: Ledger, limit: Limit, end_s: float) -> Choice | RootMoves | None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(min(end_s, loop.time() + gated.gate.timeout_ms / 1000)):
                found = await gated.source.find(ledger, limit)
            return None if found is None else _legal(ledger, found)
        except Resting:
            raise
        except Exception as error:  # noqa: BLE001 it is told, and the next one asked
            # Whatever is wrong with it, the engine can play without.
            cause = str(error) or type(error).__name__
            log.warning("source_failed", game=ledger.setup.game_id, source=gated.name, cause=cause)
            return None

    async def close(self) -> None:
        """Close all of them."""
        for gated in self._sources:
            await gated.source.close()


def _legal(ledger: Ledger, found: Choice | RootMoves) -> Choice | RootMoves:
    """Raises RecordError: it named a move that is not legal."""

    def spelled(uci: str) -> str:
        return ledger.board.uci(read_move(ledger.board, uci), chess960=ledger.chess960)

    if isinstance(found, Choice):
        return replace(found, uci=spelled(found.uci))
    if not found.moves:
        raise RecordError("it left no move at all")
    return replace(found, moves=tuple(map(spelled, found.moves)))
