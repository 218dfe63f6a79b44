"""The JSON shapes that Lichess sends, as far as we read them (Lichess API §1); unknown fields are ignored.

`check` is where untyped JSON ends: what comes out is a shape, or a WireError that says what is wrong with it.
"""

from collections.abc import Mapping
from typing import Annotated, TypeAlias, TypeVar

import pydantic_core
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bridge.errors import Unreachable

Json: TypeAlias = Mapping[str, object]

_MAX_SHOWN = 120


class WireError(Unreachable):
    """A line or answer that is not what Lichess sends, and says how. Of a stream the line alone is skipped."""


def read_object(line: bytes) -> Json:
    """The JSON object on a line.

    Raises:
        WireError: no JSON, or no object.
    """
    try:
        found = pydantic_core.from_json(line, cache_strings="keys")  # else it keeps every short text, 16,384 of them
    except ValueError as error:
        raise WireError(f"not JSON ({error}): {shown(line)}") from None
    if not isinstance(found, dict):
        raise WireError(f"not a JSON object: {shown(line)}")
    return found


def shown(line: bytes) -> str:
    """The start of a line, fit for a log."""
    text = line[:_MAX_SHOWN].decode("utf-8", "backslashreplace")
    return repr(text) + ("…" if len(line) > _MAX_SHOWN else "")


class Shape(BaseModel):
    """Base of all shapes."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


S = TypeVar("S", bound=Shape)


def check(shape: type[S], found: object, what: str) -> S:
    """`found` as a shape; `what` names it in the error.

    Raises:
        WireError: a field is missing or of the wrong type.
    """
    try:
        return shape.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise WireError(f"{what}: {place or 'all of it'}: {first['msg']}") from None


def _key(value: object) -> object:
    """Variants and statuses come as a word or as an object with its key or name."""
    if isinstance(value, Mapping):
        return value.get("key") or value.get("name")
    return value


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Flag = Annotated[bool, BeforeValidator(lambda value: False if value is None else value)]
Word = Annotated[str, BeforeValidator(_key)]


class User(Shape):
    """`name` on game streams and challenges, `username` elsewhere."""

    id: Text = ""
    name: Text = ""
    username: Text = ""
    title: Text = ""
    rating: int | None = None
    ai_level: int | None = Field(default=None, alias="aiLevel")


class Clock(Shape):
    """Milliseconds on game streams, seconds in challenges (there `limit`), exports and lists."""

    initial: int
    increment: int


class State(Shape):
    moves: Text
    wtime: int | None = None
    btime: int | None = None
    status: Word = "started"
    winner: Text = ""
    wdraw: Flag = False
    bdraw: Flag = False
    wtakeback: Flag = False
    btakeback: Flag = False


class Game(Shape):
    """gameFull without its type."""

    id: str
    variant: Word = "standard"
    rated: Flag = False
    speed: Text = ""
    white: User = User()
    black: User = User()
    initial_fen: str | None = Field(default=None, alias="initialFen")
    clock: Clock | None = None
    tournament_id: Text = Field(default="", alias="tournamentId")
    swiss_id: Text = Field(default="", alias="swissId")
    state: State


class Chat(Shape):
    username: Text = ""
    text: Text = ""
    room: Text = "player"


class Gone(Shape):
    gone: bool
    claim_in_s: int | None = Field(default=None, alias="claimWinInSeconds")


class TimeControlShape(Shape):
    type: Text = ""
    limit: int | None = None
    increment: int = 0
    days: int | None = Field(default=None, alias="daysPerTurn")


class ChallengeShape(Shape):
    id: str
    challenger: User | None = None
    dest_user: User | None = Field(default=None, alias="destUser")
    variant: Word = "standard"
    rated: Flag = False
    speed: Text = ""
    time_control: TimeControlShape = Field(default=TimeControlShape(), alias="timeControl")
    color: Text = "random"
    initial_fen: str | None = Field(default=None, alias="initialFen")
    decline_reason: Text = Field(default="", alias="declineReasonKey")
    direction: Text = ""
    rematch_of: Text = Field(default="", alias="rematchOf")


class GameRef(Shape):
    """A game as the event stream and the list of games in progress name it; a bot's name follows its title there."""

    id: Text = ""
    game_id: Text = Field(default="", alias="gameId")
    color: Text = ""
    opponent: User | None = None
    tournament_id: Text = Field(default="", alias="tournamentId")
    speed: Text = ""
    is_my_turn: Flag = Field(default=False, alias="isMyTurn")
    seconds_left: int | None = Field(default=None, alias="secondsLeft")


class Token(Shape):
    user_id: str = Field(alias="userId")
    scopes: Text = ""
    expires: int | None = None


class UserStatus(Shape):
    id: str
    playing_id: Text = Field(default="", alias="playingId")


class TvData(Shape):
    id: Text = ""


class SaidLine(Shape):
    """One line of a room, as it is listed."""

    text: Text = ""
    user: Text = ""


class TvLine(Shape):
    t: str
    d: TvData = TvData()


class WatchedPlayer(Shape):
    user: User | None = None
    name: Text = ""
    rating: int | None = None
    ai_level: int | None = Field(default=None, alias="aiLevel")


class ListedPlayer(Shape):
    """A player of a listed game: an id and no name."""

    user_id: Text = Field(default="", alias="userId")
    rating: int | None = None
    ai: int | None = None

    def as_user(self) -> User:
        """As other places describe a player."""
        return User(id=self.user_id, name=self.user_id, rating=self.rating, aiLevel=self.ai)


class ListedPlayers(Shape):
    white: ListedPlayer = ListedPlayer()
    black: ListedPlayer = ListedPlayer()


class ListedGame(Shape):
    """A line of a stream of games by ids; the clock in seconds, `status` there being a number."""

    id: str
    variant: Word = "standard"
    rated: Flag = False
    speed: Text = ""
    players: ListedPlayers = ListedPlayers()
    initial_fen: str | None = Field(default=None, alias="initialFen")
    clock: Clock | None = None
    status: Word = Field(default="started", alias="statusName")
    winner: Text = ""


class WatchedPlayers(Shape):
    white: WatchedPlayer = WatchedPlayer()
    black: WatchedPlayer = WatchedPlayer()


class WatchedGame(Shape):
    """First and last object of a spectator stream, and the head of an export (there with a clock in seconds)."""

    id: str
    variant: Word = "standard"
    rated: Flag = False
    speed: Text = ""
    players: WatchedPlayers = WatchedPlayers()
    initial_fen: str | None = Field(default=None, alias="initialFen")
    clock: Clock | None = None
    tournament: Text = ""
    tournament_id: Text = Field(default="", alias="tournamentId")
    swiss: Text = ""
    status: Word = "started"
    winner: Text = ""


class Position(Shape):
    """One position of a spectator stream; `wc` and `bc` in seconds."""

    fen: str
    lm: Text = ""
    wc: int | None = None
    bc: int | None = None
