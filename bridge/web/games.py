"""The games of a journal, as far as a list of them says: a fold of its entries, newest state of each game."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

from bridge import event_types
from bridge.interfaces import Entry, Journal

RECENT = 100  # finished games that are kept; the journal has them all
NEWEST = 10_000
"""Entries that are read at the start: about as many as those games have. An older game is read when it moves."""
_OF_A_GAME = frozenset(
    {
        *(event_types.GAME_RULES, event_types.GAME_PLY, event_types.GAME_TAKEBACK, event_types.GAME_FINISHED),
        *(event_types.FLAG_PROVISIONAL, event_types.FLAG_WITHDRAWN, *event_types.VERDICTS),
    }
)


@dataclass(slots=True)
class GameSummary:
    """A game as the list shows it, brought on by `fold`: clock facts only while it runs, None where one is not known.

    `fen` is the position after `ply`, whose turn began at `turn_ms` on the wall clock; `base_ms`: the KiriChess clocks
    at the start; not `scored`: plain chess is played, KiriChess only noted; `delayed`: lines come later than the moves
    are made, so no clock ticks here. `flag` is the side whose flag fell provisionally (R12); `verdict` the one-line
    text, `result`, `reason` and `fallen` (its flag) as in `kirichess.verdict/1`, empty before a verdict; `judged_seq`:
    the number of the entry with the final one.
    """

    id: str
    account: str = ""
    white: str = ""
    black: str = ""
    pool: str | None = None
    scored: bool = True
    url: str = ""
    seat: str = ""
    initial_ms: int | None = None
    increment_ms: int | None = None
    base_ms: int | None = None
    started_ms: int = 0
    updated_ms: int = 0
    turn_ms: int = 0
    running: bool = True
    ply: int = 0
    fen: str = ""
    last_uci: str = ""
    last_san: str = ""
    delayed: bool = False
    white_ms: int | None = None
    black_ms: int | None = None
    platform_white_ms: int | None = None
    platform_black_ms: int | None = None
    flag: str = ""
    verdict: str = ""
    result: str = ""
    reason: str = ""
    fallen: Mapping[str, object] | None = None
    final: bool = False
    judged_seq: int | None = None

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return asdict(self)


def fold(game: GameSummary | None, entry: Entry) -> GameSummary | None:
    """A game after one more entry about it, changed in place; None for a game whose start is not known."""
    if entry.type == event_types.GAME_STARTED:
        return _started(entry) if game is None else game
    if game is None:
        return None
    game.updated_ms = entry.time_ms
    match entry.type:
        case event_types.GAME_RULES:
            _move(game, entry.data)
            game.pool, game.base_ms = _text(entry.data, "pool") or None, _number(entry.data, "base_ms")
            game.scored = entry.data.get("scored") is not False
        case event_types.GAME_PLY | event_types.GAME_TAKEBACK:
            _move(game, entry.data)
            game.turn_ms = entry.time_ms
        case event_types.FLAG_PROVISIONAL:
            game.flag = _text(entry.data, "side")
        case event_types.FLAG_WITHDRAWN:
            game.flag = ""
        case event_types.GAME_FINISHED:
            _move(game, entry.data)
            game.running = False
        case event_types.VERDICT_FINAL:
            _judge(game, entry.data)
            game.judged_seq = entry.seq
        case event_types.VERDICT_PROVISIONAL | event_types.VERDICT_CHANGED:
            _judge(game, entry.data)
    return game


def _started(entry: Entry) -> GameSummary:
    data = entry.data
    control = _table(data, "time_control")
    game = GameSummary(
        id=entry.subject,
        account=entry.account,
        white=_text(data, "white"),
        black=_text(data, "black"),
        pool=_text(data, "pool") or None,
        scored=data.get("scored") is not False,
        url=_text(data, "url"),
        seat=_text(data, "seat"),
        delayed=data.get("delayed") is True,
        initial_ms=_number(control, "initial_ms"),
        increment_ms=_number(control, "increment_ms"),
        base_ms=_number(data, "white_ms"),
        started_ms=entry.time_ms,
        updated_ms=entry.time_ms,
        turn_ms=entry.time_ms,
    )
    _move(game, data)
    return game


def _move(game: GameSummary, data: Mapping[str, object]) -> None:
    """The clocks, and what else the data brings; a takeback says how many plies are left."""
    plies, ply = _number(data, "plies"), _number(data, "ply")
    if plies is not None or ply is not None:
        game.ply = ply or plies or 0
    game.fen = _text(data, "fen") or game.fen
    game.last_uci = _text(data, "uci") or ("" if plies is not None else game.last_uci)
    game.last_san = _text(data, "san") or ("" if plies is not None else game.last_san)
    game.pool = _text(data, "pool") or game.pool
    game.white_ms = _newer(data, "white_ms", game.white_ms)
    game.black_ms = _newer(data, "black_ms", game.black_ms)
    game.platform_white_ms = _newer(data, "platform_white_ms", game.platform_white_ms)
    game.platform_black_ms = _newer(data, "platform_black_ms", game.platform_black_ms)


def _judge(game: GameSummary, data: Mapping[str, object]) -> None:
    verdict = _table(data, "verdict")
    game.verdict = _text(data, "text")
    game.result, game.reason = _text(verdict, "result"), _text(verdict, "reason")
    game.fallen = _table(verdict, "flag") or None
    game.white_ms = _newer(verdict, "white_ms", game.white_ms)
    game.black_ms = _newer(verdict, "black_ms", game.black_ms)
    game.flag = ""
    game.final = verdict.get("final") is True
    game.running = game.running and not game.final


class Games:
    """The running games of a journal and the last finished ones, kept current by following its newest entries."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._games: dict[str, GameSummary] = {}
        self._without_start: set[str] = set()
        """Pruned games that still move: looked for once, not at each of their entries."""
        self._seq = 0
        self._moved_on = asyncio.Event()

    async def follow(self) -> None:
        """Keep the list current until cancelled. Raises JournalError."""
        self._seq = max(0, await self._journal.last_seq() - NEWEST)
        async for entry in self._journal.follow(self._seq):
            known = entry.subject in self._games or entry.subject in self._without_start
            if entry.type in _OF_A_GAME and not known:
                await self._catch_up(entry)
            self._take(entry)

    async def _catch_up(self, entry: Entry) -> None:
        """Fold what the game was before: it began before we did, or was forgotten."""
        game: GameSummary | None = None
        after = 0
        while after < entry.seq and (page := await self._journal.read(subject=entry.subject, after=after)):
            after = page[-1].seq
            for earlier in page:
                if earlier.seq < entry.seq:
                    game = fold(game, earlier)
        if game is None:
            self._without_start.add(entry.subject)
        else:
            self._games[entry.subject] = game

    def _take(self, entry: Entry) -> None:
        known = self._games.pop(entry.subject, None)
        ran = known is None or known.running
        if entry.subject and (game := fold(known, entry)) is not None:
            self._games[entry.subject] = game
            if known is None or (ran and not game.running):
                self._forget()
        self._seq = entry.seq
        self._moved_on.set()

    def _forget(self) -> None:
        finished = [game.id for game in self._games.values() if not game.running]
        for game_id in finished[:-RECENT]:
            del self._games[game_id]

    async def current(self, within_s: float = 2.0) -> list[GameSummary]:
        """Running games, then the others, the latest first; what the journal holds now is waited for."""
        last = await self._journal.last_seq()
        # A journal too long to be read in that time: what is known so far is shown, and the next look shows more.
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self._seq < last:
                    self._moved_on.clear()
                    await self._moved_on.wait()
        latest = list(reversed(self._games.values()))
        return [game for game in latest if game.running] + [game for game in latest if not game.running]


def _text(data: Mapping[str, object], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _number(data: Mapping[str, object], name: str) -> int | None:
    value = data.get(name)
    return value if type(value) is int else None  # a bool is none


def _newer(data: Mapping[str, object], name: str, known: int | None) -> int | None:
    value = _number(data, name)
    return known if value is None else value


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}
