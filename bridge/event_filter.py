"""Which events a follower of the journal wants: by type, account and pool."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from bridge.event_types import CHALLENGE_ACCEPTED, GAME_RULES, GAME_STARTED
from bridge.forgetting import forget_oldest
from bridge.interfaces import Entry, Journal
from bridge.records.pool_told import PLAIN, pool_told

_REMEMBERED = 1000
"""Games whose pool is kept; what is forgotten is looked up in the journal."""


class EventFilter:
    """`events`: type names with `*` for any part. `accounts`, `pools`: names, upper and lower case alike; none: all.

    With `pools` only what belongs to a game in one of them (`custom`: in none; `standard`: plain chess) is wanted; a
    challenge by the pool it was accepted for.
    """

    def __init__(
        self, events: Sequence[str] = ("kirichess.*",), accounts: Sequence[str] = (), pools: Sequence[str] = ()
    ) -> None:
        self.events = tuple(events)
        self.accounts = frozenset(name.lower() for name in accounts)
        self.pools = frozenset(name.lower() for name in pools)
        self._pool_of: dict[str, str] = {}

    @property
    def marks(self) -> list[str]:
        """What tells this filter from another one."""
        accounts = [f"account {name}" for name in sorted(self.accounts)]
        return [*sorted(self.events), *accounts, *(f"pool {name}" for name in sorted(self.pools))]

    def at_once(self, entry: Entry) -> bool | None:
        """What can be said without a journal; None: it must be asked for the game's pool."""
        if self.pools:
            self._learn(entry)
        if not any(fnmatchcase(entry.type, pattern) for pattern in self.events):
            return False
        if self.accounts and entry.account.lower() not in self.accounts:
            return False
        if not self.pools:
            return True
        if entry.subject and entry.subject not in self._pool_of:
            return None
        return self._pool_of.get(entry.subject) in self.pools

    async def wants(self, entry: Entry, journal: Journal | None = None) -> bool:
        """Whether an entry is wanted. The pool of a game that began long ago is asked of `journal`.

        Raises:
            JournalError: it cannot be read.
        """
        said = self.at_once(entry)
        return await self._pool(entry, journal) in self.pools if said is None else said

    def _learn(self, entry: Entry) -> None:
        if entry.subject and (pool := pool_in(entry)) is not None:
            self._pool_of.pop(entry.subject, None)
            self._pool_of[entry.subject] = pool
            forget_oldest(self._pool_of, _REMEMBERED)

    async def _pool(self, entry: Entry, journal: Journal | None) -> str | None:
        if entry.subject and entry.subject not in self._pool_of and journal is not None:
            for told in await journal.read(subject=entry.subject, types=(GAME_STARTED, GAME_RULES)):
                self._learn(told)
        return self._pool_of.get(entry.subject)


def pool_in(entry: Entry) -> str | None:
    """The pool that an entry itself names, in lower case, as `pool_told`; None: it says none."""
    verdict = entry.data.get("verdict")
    data: Mapping[str, object] = verdict if isinstance(verdict, Mapping) else entry.data
    if "pool" not in data:
        return PLAIN if entry.type == CHALLENGE_ACCEPTED else None
    return pool_told(data).lower()
