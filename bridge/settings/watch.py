"""What is followed without playing: one section for each of the five forms of a `watch:` entry."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag

from bridge.rules.pools import Ruleset
from bridge.settings.base import Dials, Many, Text, TimeControlLabel, one_of_form
from bridge.settings.pool_names import NamesPools, PoolName

GameId: TypeAlias = Annotated[
    str, AfterValidator(one_of_form(r"[A-Za-z0-9]{8}([A-Za-z0-9]{4})?", "a game id is eight letters and digits"))
]

SUBJECTS = ("game", "games", "user", "tv", "account")
"""What a `watch:` entry can name; exactly one of them."""


class _Watched(NamesPools):
    pool: PoolName | None = Field(default=None, description="The pool that the games are judged in.")
    rules: Dials = Field(default_factory=dict, description="Dials instead of a pool, or where they differ from it.")

    def ruleset(self) -> Ruleset:
        """The rules that the games are judged by."""
        return self.rules_of(self.rules if self.pool is None else {**self.rules, "pool": self.pool})


class WatchGame(_Watched):
    """One game, as spectators see it."""

    game: GameId = Field(description="The game's id: the eight letters and digits in its address.")


class WatchGames(_Watched):
    """Many games, of a league's round say: each is judged, with live clocks for as many as one may read at a time."""

    games: Many[GameId] = Field(min_length=1, max_length=1000, description="The ids of the games.")


class WatchUser(_Watched):
    """Every game that somebody plays from now on, as spectators see it."""

    user: Text = Field(description="The user's name.")
    time_control: TimeControlLabel | None = Field(
        default=None, description="Only games with this time control, minutes+seconds."
    )
    rated: bool | None = Field(default=None, description="Only rated (true) or only casual (false) games.")


class WatchTv(_Watched):
    """The games that a TV channel shows, one after the other."""

    tv: Text = Field(description="The channel's name: best, bullet, blitz, rapid, classical, …")


class WatchAccount(_Watched):
    """An account's own games, read from its board stream: exact and undelayed. Nothing is ever sent to it."""

    account: Text = Field(description="The account's name in this file; me: the only one there is.")


def _form(value: object) -> str | None:
    if isinstance(value, dict):
        named = [subject for subject in SUBJECTS if subject in value]
        return f"<{named[0]}>" if named else None
    return next((f"<{subject}>" for subject in SUBJECTS if hasattr(value, subject)), None)


WatchEntry: TypeAlias = Annotated[
    Annotated[WatchGame, Tag("<game>")]
    | Annotated[WatchGames, Tag("<games>")]
    | Annotated[WatchUser, Tag("<user>")]
    | Annotated[WatchTv, Tag("<tv>")]
    | Annotated[WatchAccount, Tag("<account>")],
    Discriminator(_form),
]
