"""The error tree.

BridgeError                     everything this program says on purpose
├── UsageError                  exit 2: command line, configuration, token
│   ├── DialError               a dial that does not exist or cannot be (rules §3)
│   └── SettingsError           the configuration file, every finding at once
├── RecordError                 a game, or a file of games, that cannot be read; says where
├── PlatformError               a platform said no, or could not be reached
│   ├── Refused                 4xx: the request will never work as it is
│   ├── RateLimited             429: wait `retry_after_s`
│   │   └── DailyLimit          too many games against bots today
│   └── Unreachable             network, timeout, 5xx: may work later
│       └── ServerError         5xx: something answers, and the server behind it does not
├── EngineError                 an engine that is missing, dies, is silent or plays an illegal move
├── JournalError                the journal file: locked, full, read-only
│   └── JournalDamaged          its content is not what was written
└── SinkError                   an entry of the journal could not be delivered; it is tried again
"""

from collections.abc import Sequence


class BridgeError(Exception):
    """Base of all errors that are told in one line; `str()` of it is that line."""


class UsageError(BridgeError):
    """The person who started the program can mend it: exit status 2."""


class DialError(UsageError):
    """A dial is unknown, impossible, or contradicts another (rules §3); `problems` holds one line each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


class SettingsError(UsageError):
    """The configuration cannot be used; `problems` holds `file:line:column: text` lines, all of them."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class RecordError(BridgeError):
    """A game cannot be read or replayed; `place` names file, game and line as far as they are known."""

    def __init__(self, message: str, *, place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.place = place


class PlatformError(BridgeError):
    """A request to a platform failed. The message never holds a token."""


class Refused(PlatformError):
    """The platform answered 4xx (429 excepted): asking again the same way is pointless."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class RateLimited(PlatformError):
    """The platform answered 429; `retry_after_s` is the figure it gave, or None."""

    def __init__(self, message: str, *, retry_after_s: float | None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DailyLimit(RateLimited):
    """Too many games against bots today: `retry_after_s` until the next one, games with people excepted.

    `ours`: the limit is our account's, else the opponent's (Lichess API, limits).
    """

    def __init__(self, message: str, *, retry_after_s: float | None, ours: bool) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.ours = ours


class Unreachable(PlatformError):
    """No answer, a broken one, or 5xx: the same request may work later."""


class ServerError(Unreachable):
    """5xx, or a page for a stream: something answers, be it a proxy, and the server behind it does not."""


class EngineError(BridgeError):
    """An engine is missing, not executable, died, kept silent past its deadline, or answered nonsense."""


class JournalError(BridgeError):
    """The journal cannot be read or written; the message names the file, the cause and the cure."""


class JournalDamaged(JournalError):
    """The journal's file is damaged: what is written to it may be lost."""


class SinkError(BridgeError):
    """An entry could not be delivered: the address does not answer, the folder cannot be written. Never a secret."""
