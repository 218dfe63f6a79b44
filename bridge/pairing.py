"""How an account comes to games by itself: other bots, challenges of its own, arena tournaments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from bridge.rules.snapshot import TimeControl


@dataclass(frozen=True, slots=True)
class RatedBot:
    """A bot; `id` is lower case. Ratings and numbers of games by perf: blitz, chess960, …"""

    id: str
    ratings: Mapping[str, int] = field(default_factory=dict)
    games: Mapping[str, int] = field(default_factory=dict)


ArenaStatus: TypeAlias = Literal["created", "started", "finished"]


@dataclass(frozen=True, slots=True)
class ArenaEvent:
    """An arena tournament. `starts_in_s` is 0 once it has started; `bots_allowed` None: not told here."""

    id: str
    name: str
    status: ArenaStatus
    starts_in_s: int = 0
    bots_allowed: bool | None = None
    time_control: TimeControl | None = None
    variant: str = "standard"
    rated: bool = True


class Pairing(Protocol):
    """What an account asks of its platform to get games. Every method raises PlatformError."""

    async def me(self) -> RatedBot:
        """The account itself."""
        ...

    async def online_bots(self) -> Sequence[RatedBot]:
        """The bots that can be challenged now, among them perhaps the account itself."""
        ...

    async def is_free(self, name: str) -> bool:
        """Whether somebody is online, plays nothing and does not block us."""
        ...

    async def challenge(
        self,
        name: str,
        *,
        rated: bool,
        time_control: TimeControl | None,
        days: int | None,
        color: str,
        variant: str,
    ) -> str:
        """Challenge somebody; the challenge's id, which becomes the game's. Raises DailyLimit: ours or theirs."""
        ...

    async def take_back(self, challenge_id: str) -> bool:
        """Take back a challenge of ours. False: it is a game by now, and stays one."""
        ...

    async def arenas(self, team: str = "") -> Sequence[ArenaEvent]:
        """The tournaments that the platform shows, or those of a team."""
        ...

    async def arena(self, tournament_id: str) -> ArenaEvent:
        """One tournament."""
        ...

    async def join_arena(self, tournament_id: str, *, team: str = "", password: str = "") -> None:
        """Take part from now on; may be said again."""
        ...

    async def leave_arena(self, tournament_id: str) -> None:
        """Take no more games there."""
        ...
