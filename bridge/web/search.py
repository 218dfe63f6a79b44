"""Games of the whole journal by player, pool, result and the like, the newest first, a page at a time.

The journal is read backwards in windows of its numbers, so a question costs the same however long the journal is, and
nothing of it is kept in memory.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from bridge import event_types
from bridge.errors import UsageError
from bridge.interfaces import Entry, Journal
from bridge.records.pool_told import pool_told
from bridge.web.games import GameSummary, fold

WINDOW = 2_000
"""Entries that are looked through at a time."""
MOST_WINDOWS = 100
"""An answer that has not filled its page by then says where to go on."""
PAGE = 30
MOST = 200
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
STATES = ("running", "finished")
_TEXTS = ("player", "pool", "result", "reason", "account", "state")
_JUDGED = (event_types.VERDICT_FINAL, event_types.VERDICT_CHANGED)
_MOVING = (event_types.GAME_PLY, event_types.GAME_TAKEBACK)
_TELLING = (event_types.GAME_RULES, event_types.GAME_FINISHED, *_JUDGED)


@dataclass(frozen=True, slots=True)
class GameQuery:
    """What is looked for; empty: anything. `player` is part of a name; `before` the number where a page goes on."""

    player: str = ""
    pool: str = ""
    result: str = ""
    reason: str = ""
    account: str = ""
    state: str = ""
    before: int | None = None
    limit: int = PAGE

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "GameQuery":
        """From an address's query; other names are left to others. Raises UsageError: an impossible value."""
        given = {name: value for name in _TEXTS if (value := query.get(name, "").strip())}
        _one_of("result", given.get("result"), RESULTS)
        _one_of("state", given.get("state"), STATES)
        before, limit = _number(query, "before"), _number(query, "limit")
        return cls(**given, before=before, limit=min(max(1, PAGE if limit is None else limit), MOST))

    @staticmethod
    def names() -> tuple[str, ...]:
        """What an address can ask."""
        return (*_TEXTS, "before", "limit")

    @property
    def narrows(self) -> bool:
        """Whether it asks for some games and not for any."""
        return self != GameQuery(before=self.before, limit=self.limit)

    def words(self) -> dict[str, str]:
        """What it asks for, as an address says it; without `before`."""
        asked = {name: getattr(self, name) for name in _TEXTS}
        if self.limit != PAGE:
            asked["limit"] = str(self.limit)
        return {name: value for name, value in asked.items() if value}


@dataclass(frozen=True, slots=True)
class Found:
    """A page of games; `before` is where the next one goes on, None at the journal's beginning."""

    games: tuple[GameSummary, ...]
    before: int | None


class Archive:
    """The games of a journal. Questions take turns: what is played waits for one of them at most."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._turn = asyncio.Lock()

    async def search(self, query: GameQuery, known: Iterable[GameSummary] = ()) -> Found:
        """One page, in the order of the games' starts. `known`: games as they stand now, running ones among them.
        Raises JournalError."""
        current = {game.id: game for game in known}

        async def matching(start: Entry) -> GameSummary | None:
            game = await _matching(self._journal, start, query, current.get(start.subject))
            if game is not None and game.id not in current:
                end = game.judged_seq or await self._journal.last_seq()
                last = await _last_move(self._journal, game.id, start.seq, end)
                if last is not None:
                    game.last_uci, game.last_san = (str(last.data.get(name, "")) for name in ("uci", "san"))
            return game

        async with self._turn:
            return await _backwards(self._journal, event_types.GAME_STARTED, matching, query.before, query.limit)

    async def judged(self, before: int | None = None, limit: int = PAGE) -> Found:
        """One page of the games with a final verdict, the last judged first. Raises JournalError."""

        async def of(final: Entry) -> GameSummary | None:
            types = (event_types.GAME_STARTED,)
            started = await self._journal.read(subject=final.subject, types=types, limit=1)
            return await _matching(self._journal, started[0], GameQuery()) if started else None

        async with self._turn:
            return await _backwards(self._journal, event_types.VERDICT_FINAL, of, before, limit)


async def _backwards(
    journal: Journal,
    kind: str,
    game_of: Callable[[Entry], Awaitable[GameSummary | None]],
    before: int | None,
    most: int,
) -> Found:
    """The games that the entries of one kind tell of, as far as `game_of` wants them."""
    found: list[GameSummary] = []
    end = await journal.last_seq() + 1
    end = end if before is None else min(end, before)
    for _ in range(MOST_WINDOWS):
        if end <= 1:
            return Found(tuple(found), None)
        begin = max(1, end - WINDOW)
        for entry in reversed(await journal.read(types=(kind,), after=begin - 1, before=end, limit=WINDOW)):
            if (game := await game_of(entry)) is not None:
                found.append(game)
                if len(found) == most:
                    return Found(tuple(found), entry.seq if entry.seq > 1 else None)
        end = begin
    return Found(tuple(found), end)


async def _matching(
    journal: Journal, start: Entry, query: GameQuery, current: GameSummary | None = None
) -> GameSummary | None:
    game = current or fold(None, start)
    if game is None or not _starts_like(game, query):
        return None
    if current is None:
        began = _half_moves(game.fen)
        # A game has few of these; its plies, which are many, say little that a list shows. Verdicts are long: a first
        # one is read only where it is the only one.
        for types in (_TELLING, (event_types.VERDICT_PROVISIONAL,)):
            if not game.result:
                for entry in await journal.read(subject=start.subject, types=types, after=start.seq, limit=50):
                    fold(game, entry)
        game.ply = _half_moves(game.fen) - began if began else 0
    return game if _ends_like(game, query) else None


async def _last_move(journal: Journal, game_id: str, start: int, end: int) -> Entry | None:
    """None: there is none, or it was taken back. It lies shortly before `end`: the plies before it are not read."""
    near = 50
    while True:
        after = max(start, end - near)
        moves = await journal.read(subject=game_id, types=_MOVING, after=after, before=end + 1)
        if moves or after == start:
            return moves[-1] if moves and moves[-1].type == event_types.GAME_PLY else None
        near *= 8


def _half_moves(fen: str) -> int:
    """Counted as the FEN counts its moves; 0 where there is none."""
    return 2 * int(fen.split(" ")[5]) + (fen.split(" ")[1] == "b") if fen else 0


def _starts_like(game: GameSummary, query: GameQuery) -> bool:
    names = f"{game.white}\n{game.black}".casefold()
    return query.player.casefold() in names and query.account.casefold() in ("", game.account.casefold())


def _ends_like(game: GameSummary, query: GameQuery) -> bool:
    return (
        query.result in ("", game.result)
        and query.pool.casefold() in ("", pool_told(game.to_json()).casefold())
        and query.reason in ("", game.reason)
        and query.state in ("", "running" if game.running else "finished")
    )


def _one_of(name: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise UsageError(f"{name} is one of {', '.join(allowed)} (got {value[:40]!r})")


def _number(query: Mapping[str, str], name: str) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise UsageError(f"{name} is a whole number (got {text[:40]!r})")
    return int(text)
