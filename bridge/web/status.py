"""What the running program says of itself: the substance of /healthz, /readyz and /status."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Stream:
    """An account's event stream, a watched user, a sink. `detail` says what is wrong with it, fit to be shown.

    `vital` False: it is told, but is no part of the health; a webhook that is down must not have us restarted.
    """

    name: str
    alive: bool
    detail: str = ""
    vital: bool = True


@dataclass(frozen=True, slots=True)
class StatusReport:
    """`ready`: every account is known and every engine has started. `draining`: no new games are taken."""

    version: str
    up_ms: int
    ready: bool
    draining: bool = False
    streams: tuple[Stream, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether every vital stream is alive."""
        return all(stream.alive for stream in self.streams if stream.vital)

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return {**asdict(self), "healthy": self.healthy}
