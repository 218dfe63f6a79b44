"""What the journal remembers of an account's games: those still to be finished, the day's games against bots, the
challenges that were accepted, and the draws that were offered."""

from collections.abc import Mapping
from dataclasses import dataclass

from bridge import event_types
from bridge.interfaces import Entry, Journal

_PAGE = 200
"""Entries read at a time: final verdicts are long."""


def _done_mark(account: str) -> str:
    return f"lobby {account}"


async def unfinished(journal: Journal, account: str) -> dict[str, bool]:
    """Games of the account without a final verdict: still running, or over since we looked last; with each, whether it
    has a clock.

    Raises JournalError.
    """
    started: dict[str, bool] = {}
    types = (event_types.GAME_STARTED, event_types.VERDICT_FINAL)
    after = await journal.cursor(_done_mark(account))
    while page := await journal.read(types=types, after=after, limit=_PAGE):
        after = page[-1].seq
        for entry in page:
            if entry.type == event_types.VERDICT_FINAL:
                started.pop(entry.subject, None)
            elif entry.account == account:
                started[entry.subject] = entry.data.get("time_control") is not None
    return started


async def all_finished(journal: Journal, account: str, seq: int) -> None:
    """Every game of the account that began up to `seq` is finished: a restart need not look at it.

    Raises JournalError.
    """
    await journal.advance(_done_mark(account), seq)


async def bot_games_ms(journal: Journal, account: str, after_ms: int) -> list[int]:
    """When the account's games against bots began, on the wall clock: the platform limits them a day.

    Raises JournalError.
    """
    found: list[int] = []
    after = await _last_before(journal, after_ms)
    while page := await journal.read(types=(event_types.GAME_STARTED,), after=after):
        after = page[-1].seq
        found += [
            entry.time_ms
            for entry in page
            if entry.time_ms > after_ms
            and entry.data.get("white_title") == entry.data.get("black_title") == "BOT"
            and account in (entry.data.get("white"), entry.data.get("black"))
        ]
    return found


async def challenges_answered(journal: Journal, account: str, after_ms: int) -> list[Entry]:
    """What became of the account's own challenges, in the order of time.

    Raises JournalError.
    """
    found: list[Entry] = []
    after = await _last_before(journal, after_ms)
    while page := await journal.read(types=(event_types.CHALLENGE_ANSWERED,), after=after):
        after = page[-1].seq
        found += [entry for entry in page if entry.account == account and entry.time_ms > after_ms]
    return found


@dataclass(frozen=True, slots=True)
class Accepted:
    """A challenge that was accepted; `challenger` is an id, `at_ms` by the wall clock."""

    id: str
    challenger: str
    at_ms: int
    rematch_of: str = ""


async def accepted(journal: Journal, account: str, after_ms: int) -> list[Accepted]:
    """The challenges that the account has accepted since then, in order.

    Raises JournalError.
    """
    received: dict[str, Mapping[str, object]] = {}
    found: list[Accepted] = []
    types = (event_types.CHALLENGE_RECEIVED, event_types.CHALLENGE_ACCEPTED)
    after = await _last_before(journal, after_ms)
    while page := await journal.read(types=types, after=after):
        after = page[-1].seq
        for entry in page:
            if entry.account != account:
                continue
            if entry.type == event_types.CHALLENGE_RECEIVED:
                received[entry.subject] = entry.data
            elif (data := received.pop(entry.subject, None)) is not None:
                challenger, rematch_of = str(data["challenger"]).lower(), str(data.get("rematch_of", ""))
                found.append(Accepted(entry.subject, challenger, entry.time_ms, rematch_of))
    return found


async def _last_before(journal: Journal, time_ms: int) -> int:
    """The number after which entries are younger: they stand in the order of their times."""
    before, behind = 0, await journal.last_seq()
    while before < behind:
        middle = (before + behind) // 2
        page = await journal.read(after=middle, limit=1)
        if page and page[0].time_ms <= time_ms:
            before = page[0].seq
        else:
            behind = middle
    return before


async def draw_offered(journal: Journal, account: str, game_id: str) -> bool:
    """Whether a draw of the account's has stood in the game. Raises JournalError."""
    return await journal.cursor(_draw_mark(account, game_id)) > 0


async def remember_draw(journal: Journal, account: str, game_id: str) -> None:
    """A draw of the account's stands in the game. Raises JournalError."""
    await journal.advance(_draw_mark(account, game_id), 1)


def _draw_mark(account: str, game_id: str) -> str:
    return f"draw {account} {game_id}"
