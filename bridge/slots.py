"""The slots of an account: who has one, from the acceptance of a challenge to the end of its game."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guest:
    """Whom a slot is for; `opponent` is an id, empty where it is not known."""

    opponent: str = ""
    is_bot: bool = False


class Slots:
    """A challenge's id becomes its game's: one id never has two slots. `freed` is called when one is given back."""

    def __init__(self) -> None:
        self.reserved: dict[str, Guest] = {}
        """For challenges that are accepted, or made, and no game yet."""
        self.games: dict[str, Guest] = {}
        self.parked: dict[str, Guest] = {}
        """By correspondence, and left until the opponent has moved: they take no slot."""
        self.freed: Callable[[], None] = lambda: None
        self.room: Callable[[], bool] = lambda: True
        """Whether the engines' budget lets one more game begin."""
        self._in_tournaments: dict[str, str] = {}
        """Games whose slot is the one reserved for their tournament."""

    @property
    def taken(self) -> int:
        """Slots that are not free."""
        return len(self._guests())

    def taken_of(self, concurrency: int) -> int:
        """Those of so many; all of them while the engines' budget has no room."""
        return self.taken if self.room() else max(self.taken, concurrency)

    @property
    def bots(self) -> int:
        """Those of them that bots have."""
        return sum(guest.is_bot for guest in self._guests().values())

    def with_opponent(self, opponent: str) -> int:
        """Those of them that this opponent has, and its games that are parked."""
        return sum(guest.opponent == opponent for guest in {**self.parked, **self._guests()}.values())

    def reserve(self, challenge_id: str, guest: Guest) -> None:
        """Before anything is sent."""
        self.reserved[challenge_id] = guest

    def started(self, game_id: str, guest: Guest) -> None:
        """A game has begun, by a challenge or otherwise; `guest` is what the platform says of the opponent."""
        guest = self.parked.pop(game_id, guest)
        self.games[game_id] = self.reserved.pop(game_id, guest)

    def park(self, game_id: str, guest: Guest) -> None:
        """A game is left for the time being; `guest` where the slot does not know."""
        held = self.games.pop(game_id, None)
        self.parked[game_id] = guest if held is None else held
        if held is not None:
            self.freed()

    def belongs(self, game_id: str, reserved: str) -> None:
        """A game takes the slot that is reserved for its tournament, not one more."""
        self._in_tournaments[game_id] = reserved

    def plays_in(self, reserved: str) -> bool:
        """Whether a game runs in the slot that is reserved under this name."""
        return reserved in {self._in_tournaments.get(game_id) for game_id in self.games}

    def release(self, challenge_id: str) -> None:
        """Nothing came of the challenge."""
        if self.reserved.pop(challenge_id, None) is not None:
            self.freed()

    def ended(self, game_id: str) -> None:
        """The platform's game is over."""
        self._in_tournaments.pop(game_id, None)
        if self.games.pop(game_id, None) is not None:
            self.freed()

    def _guests(self) -> dict[str, Guest]:
        played = {self._in_tournaments[game_id] for game_id in self.games if game_id in self._in_tournaments}
        waiting = {name: guest for name, guest in self.reserved.items() if name not in played}
        return {**waiting, **self.games}
