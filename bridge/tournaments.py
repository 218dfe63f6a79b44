"""Arena tournaments of one account: joined shortly before they start, joined again after a restart, left when draining
or when the settings want them no more.

Nothing is stored: the platform knows who takes part, and joining twice is joining once. A tournament holds one slot
from its joining to its end; its games are played in that slot.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from bridge.errors import PlatformError, RateLimited
from bridge.interfaces import AccountEvent, GameStarted
from bridge.lobby import Lobby
from bridge.pairing import ArenaEvent, Pairing
from bridge.slots import Guest

log = structlog.get_logger("kirichess_tournaments")

_LOOK_S = 30.0
"""Between looks at what there is to join, at most: one that is due is looked at in time."""
_JOIN_AGAIN_MS = 55_000
"""Lichess pairs somebody whose page is not open for a minute after a join (API §1.7)."""
_LEAVE_S = 5.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A tournament to join by name."""

    id: str
    team: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class TournamentPolicy:
    """What to join: these, all of these teams, all that the platform shows. `early_s`: before the start."""

    entries: tuple[Entry, ...] = ()
    teams: tuple[str, ...] = ()
    listed: bool = False
    early_s: int = 60


class Tournaments:
    """Takes part in tournaments for one account. `policy` None: in none."""

    def __init__(
        self, lobby: Lobby, pairing: Pairing, policy: TournamentPolicy | None, clock: Callable[[], int]
    ) -> None:
        self._lobby = lobby
        self._pairing = pairing
        self._clock = clock
        self._joined: dict[str, Entry] = {}
        self._joined_ms: dict[str, int] = {}
        self._wanted: set[str] = set()
        """Those that a policy has wanted since the one before it was replaced."""
        self._wanted_by: TournamentPolicy | None = None
        self._refused: set[str] = set()
        self._no_bots: set[str] = set()
        self._ending = False
        self._now = asyncio.Event()
        self._due_s = _LOOK_S
        """From a look to the next one."""
        self.policy = policy
        lobby.listeners.append(self._hear)

    async def run(self) -> None:
        """Look for tournaments for ever; leave them when draining."""
        while not self._ending:
            self._due_s = _LOOK_S
            if self.policy is not None or self._joined:
                try:
                    await self._look(self.policy or TournamentPolicy())
                except PlatformError as error:
                    log.warning("tournaments_not_seen", account=self._lobby.name, cause=str(error))
                except Exception:
                    # One look's fault must not be the last look.
                    log.exception("tournaments_crashed", account=self._lobby.name)
            self._now.clear()
            try:
                await asyncio.wait_for(self._now.wait(), self._due_s)
            except TimeoutError:
                continue
        for tournament_id in tuple(self._joined):
            await self._leave(tournament_id)

    def drain(self) -> None:
        """Leave every tournament, and join none."""
        self._ending = True
        # Without this a slot that waits for its next pairing would be waited for.
        for tournament_id in tuple(self._joined):
            self._lobby.slots.release(_slot(tournament_id))
        self._now.set()

    def _hear(self, event: AccountEvent) -> None:
        """A game tells of its tournament: joined by us before a restart, or by somebody else in our name."""
        if not isinstance(event, GameStarted) or not event.tournament:
            return
        if event.tournament not in self._joined and not self._ending:
            self._hold(Entry(event.tournament))
        self._lobby.slots.belongs(event.game_id, _slot(event.tournament))

    def _hold(self, entry: Entry) -> None:
        self._joined[entry.id] = entry
        self._lobby.slots.reserve(_slot(entry.id), Guest(is_bot=True))

    # -- one look ------------------------------------------------------------------------------------------------

    async def _look(self, policy: TournamentPolicy) -> None:
        wanted = {entry.id: entry for entry in policy.entries}
        for event in await self._shown(policy):
            wanted.setdefault(event.id, Entry(event.id))
        if policy != self._wanted_by:
            for tournament_id in (self._wanted & self._joined.keys()) - wanted.keys():
                await self._leave(tournament_id)
            self._wanted, self._wanted_by = set(), policy
        self._wanted |= wanted.keys()
        for entry in (self._joined | wanted).values():
            if entry.id not in self._no_bots and not self._ending:
                await self._consider(entry, policy)

    async def _shown(self, policy: TournamentPolicy) -> Sequence[ArenaEvent]:
        shown: list[ArenaEvent] = []
        if policy.listed:
            shown += await self._pairing.arenas()
        for team in policy.teams:
            shown += await self._pairing.arenas(team)
        return [
            event for event in shown if event.status != "finished" and event.starts_in_s <= policy.early_s + _LOOK_S
        ]

    async def _consider(self, entry: Entry, policy: TournamentPolicy) -> None:
        try:
            event = await self._pairing.arena(entry.id)
            if event.status == "finished":
                self._over(entry.id)
            elif not event.bots_allowed:
                log.warning("tournament_without_bots", account=self._lobby.name, tournament=entry.id)
                self._no_bots.add(entry.id)
            elif event.status == "started" or event.starts_in_s <= policy.early_s:
                await self._join(entry)
            else:
                self._due_s = min(self._due_s, event.starts_in_s - policy.early_s)
        except RateLimited:
            raise
        except PlatformError as error:
            if entry.id not in self._refused:
                log.warning("tournament_not_joined", tournament=entry.id, cause=str(error))
            self._refused.add(entry.id)

    async def _join(self, entry: Entry) -> None:
        """Again and again while no game of it runs: whoever does not show up is not paired."""
        joined = entry.id in self._joined
        if not joined and not self._lobby.doorkeeper.may_join():
            return
        recently = self._clock() - self._joined_ms.get(entry.id, -_JOIN_AGAIN_MS) < _JOIN_AGAIN_MS
        if joined and (recently or self._lobby.slots.plays_in(_slot(entry.id))):
            return
        self._hold(entry)
        self._joined_ms[entry.id] = self._clock()
        try:
            await self._pairing.join_arena(entry.id, team=entry.team, password=entry.password)
        except PlatformError:
            if not joined:
                self._over(entry.id)
            raise
        if not joined:
            log.info("tournament_joined", account=self._lobby.name, tournament=entry.id)

    def _over(self, tournament_id: str) -> None:
        self._joined.pop(tournament_id, None)
        self._joined_ms.pop(tournament_id, None)
        self._lobby.slots.release(_slot(tournament_id))

    async def _leave(self, tournament_id: str) -> None:
        """As far as the platform can be reached: it pairs nobody who does not show up."""
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self._pairing.leave_arena(tournament_id)
        except (PlatformError, TimeoutError) as error:
            log.warning("tournament_not_left", tournament=tournament_id, cause=str(error))
        self._over(tournament_id)


def _slot(tournament_id: str) -> str:
    return f"tournament {tournament_id}"
