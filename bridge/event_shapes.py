"""What the `data` of each event holds: times in ms, None where something is not known, keys that may be absent marked.

The JSON Schemas of `events schema` are made from these types; readers must allow keys that a newer version adds.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from bridge import event_types

Side: TypeAlias = Literal["white", "black"]
Result: TypeAlias = Literal["1-0", "0-1", "1/2-1/2", "*"]


class TimeControl(TypedDict):
    """The platform's clock at the start, and what a move adds."""

    initial_ms: int
    increment_ms: int


class Capture(TypedDict):
    """What a capture moved between the clocks."""

    piece: str
    gain_ms: int
    loss_ms: int


class Flag(TypedDict):
    """The flag that decided a game."""

    side: Side
    cause: str
    forced: bool


class Fact(TypedDict):
    """The fact itself as the ledger replays it: `event` names its kind, further keys are its own."""

    event: str


class Position(TypedDict):
    """Where a game stands after an event; the effects are those of the last ply, where it counted.

    Not `scored`: plain chess is played, and what KiriChess makes of it is only noted.
    """

    white_ms: int | None
    black_ms: int | None
    platform_white_ms: int | None
    platform_black_ms: int | None
    fen: str
    pool: str | None
    scored: NotRequired[bool]
    counted: bool
    event: Fact
    capture: NotRequired[Capture | None]
    toll_ms: NotRequired[int]
    fee_ms: NotRequired[int]
    chip_ms: NotRequired[int]
    increment_ms: NotRequired[int]
    guarded: NotRequired[bool]


class GameStarted(Position):
    """Who plays what, where; `seat` is ours, empty where we watch."""

    seat: str
    clock_source: str
    precision_ms: int | None
    delayed: bool
    white: str
    black: str
    white_title: str
    black_title: str
    url: str
    rated: bool
    variant: str
    time_control: TimeControl | None


class GameRules(Position):
    """Other rules, or plain chess from now on; `base_ms` is on both KiriChess clocks."""

    base_ms: int


class GamePly(Position):
    """A ply; `think_ms` None: not known."""

    ply: int
    side: Side
    uci: str
    san: str
    think_ms: int | None


class GameTakeback(Position):
    """`plies` are left."""

    plies: int


class GameFinished(Position):
    """How the platform ended it."""

    status: str
    winner: Side | None


class FlagProvisional(TypedDict):
    """Whose flag fell, during which ply."""

    side: Side
    cause: str
    ply: int


class FlagWithdrawn(TypedDict):
    """Whose flag it was, and what it has left."""

    side: Side
    left_ms: int | None


class Row(TypedDict):
    """A ply that counted. `uci`, `san` None: time spent on moves that were taken back."""

    ply: int
    side: Side
    uci: str | None
    san: str | None
    think_ms: int | None
    capture: Capture | None
    toll_ms: int
    fee_ms: int
    chip_ms: int
    increment_ms: int
    guarded: bool
    white_ms: int | None
    black_ms: int | None


class Anomalous(TypedDict):
    """Something that does not add up."""

    kind: str
    ply: int | None
    note: str


class PlatformEnd(TypedDict):
    """The platform's own ending."""

    result: Result
    status: str


class VerdictObject(TypedDict):
    """`scored` is there where plain chess was played: the verdict is only noted."""

    schema: Literal["kirichess.verdict/1"]
    id: str
    site: str
    white: str
    black: str
    pool: str | None
    rules: dict[str, object]
    clock_source: str
    precision_ms: int | None
    certain: bool
    final: bool
    result: Result
    reason: str
    flag: Flag | None
    ended_at_ply: int
    white_ms: int | None
    black_ms: int | None
    anomalies: list[Anomalous]
    platform: PlatformEnd | None
    platform_plies: int
    scored: NotRequired[Literal[False]]
    ledger: NotRequired[list[Row]]


class VerdictTold(TypedDict):
    """`text` says it in one line; `pgn` is the annotated game, of the final ones only."""

    verdict: VerdictObject
    text: str
    pgn: NotRequired[str]


class Outcome(TypedDict):
    """What was told of a game's end before."""

    result: Result
    reason: str
    flag: Flag | None
    ended_at_ply: int


class VerdictChanged(VerdictTold):
    """The new verdict, the old outcome, and why."""

    previous: Outcome
    cause: str


class Anomaly(TypedDict):
    """What does not add up; where it is a fact of the ledger, the position too."""

    kind: str
    note: str
    ply: NotRequired[int | None]
    event: NotRequired[Fact]


class ChallengeReceived(TypedDict):
    """Who wants to play what; `days` a move in correspondence, `rematch_of` the game before."""

    challenger: str
    title: str
    variant: str
    rated: bool
    time_control: TimeControl | None
    days: NotRequired[int]
    rematch_of: NotRequired[str]


class ChallengeAccepted(TypedDict):
    """`pool` is absent where plain chess is played."""

    pool: NotRequired[str]


class Reason(TypedDict):
    """Why, in the platform's word or ours."""

    reason: str


class ChallengeSent(TypedDict):
    """What we propose to whom."""

    opponent: str
    kind: str
    perf: str
    variant: str
    rated: bool
    color: str
    days: int | None
    time_control: TimeControl | None


class ChallengeAnswered(ChallengeSent):
    """What became of it; `wait_ms`: nothing more is proposed to them for so long."""

    outcome: Literal["accepted", "declined", "lapsed", "refused", "limit"]
    wait_ms: int
    reason: str


class AccountState(TypedDict):
    """`reason` where there is one."""

    reason: NotRequired[str]


class EngineFailed(TypedDict):
    """What went wrong."""

    cause: str


class ChatSent(TypedDict):
    """Our line, and the room: `player` or `spectator`."""

    text: str
    room: str


class ControlUsed(TypedDict):
    """Who asked for what: `by` loopback, token or session, from where; `forwarded_for` as a proxy says it."""

    action: str
    by: str
    address: str
    forwarded_for: NotRequired[str]


SHAPES: Final[Mapping[str, type]] = MappingProxyType(
    {
        event_types.GAME_STARTED: GameStarted,
        event_types.GAME_RULES: GameRules,
        event_types.GAME_PLY: GamePly,
        event_types.GAME_TAKEBACK: GameTakeback,
        event_types.GAME_FINISHED: GameFinished,
        event_types.FLAG_PROVISIONAL: FlagProvisional,
        event_types.FLAG_WITHDRAWN: FlagWithdrawn,
        event_types.VERDICT_PROVISIONAL: VerdictTold,
        event_types.VERDICT_FINAL: VerdictTold,
        event_types.VERDICT_CHANGED: VerdictChanged,
        event_types.ANOMALY: Anomaly,
        event_types.CHALLENGE_RECEIVED: ChallengeReceived,
        event_types.CHALLENGE_ACCEPTED: ChallengeAccepted,
        event_types.CHALLENGE_DECLINED: Reason,
        event_types.CHALLENGE_SENT: ChallengeSent,
        event_types.CHALLENGE_ANSWERED: ChallengeAnswered,
        event_types.ACCOUNT_ONLINE: AccountState,
        event_types.ACCOUNT_OFFLINE: AccountState,
        event_types.ENGINE_FAILED: EngineFailed,
        event_types.CHAT_SENT: ChatSent,
        event_types.CONTROL_USED: ControlUsed,
    }
)
"""Event type → what its data holds."""
