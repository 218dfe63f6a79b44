"""What the running program says of itself: the substance of /healthz, /readyz and /status."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Stream:
    """Something that has to be alive: an account's event stream, a watched user, a sink. `detail` says what is wrong
    with it, in words fit to be shown; never a secret."""

    name: str
    alive: bool
    detail: str = ""


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
        """Whether every stream is alive."""
        return all(stream.alive for stream in self.streams)

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return {**asdict(self), "healthy": self.healthy, "streams": [asdict(stream) for stream in self.streams]}
