"""Every duration of the Lichess adapter in one place, so that tests can be quick."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds of wall time. Section numbers: notes on the Lichess API."""

    connect_s: float = 5.0
    silence_s: float = 16.0
    """Event and game streams are alive every 7 s (§1.3, §1.5): two keep-alives may be missed."""
    spectator_silence_s: float = 75.0
    """Spectator streams are alive every 50 s (§1.8)."""
    tv_silence_s: float = 300.0
    """The TV feed promises no keep-alive, and its players may think."""
    reopen_s: float = 0.5
    """Least time from one opening of a stream to the next one."""
    backoff_s: tuple[float, float] = (1.0, 30.0)
    """Between openings that brought nothing: the first wait, doubled each time up to the second figure."""
    release_s: float = 0.1
    """Least time from one stream of a game that is opened again to the next: ten a second."""
    believed_after: int = 3
    """A 404, or a move's 400, is believed when it is said so many times: a proxy may have said it once."""
    rate_limit_s: float = 60.0
    """After a 429 without a figure (§4)."""
    move_s: float = 5.0
    """Total time of one move request."""
    request_s: float = 10.0
    """Total time of any other request."""
    move_retry_s: tuple[float, float] = (0.2, 5.0)
    """Between tries after no answer, doubled each time."""
    move_holds_s: tuple[float, ...] = (5.0, 10.0, 20.0, 40.0, 60.0)
    """After a 429 without a figure on a move; the last one repeats."""
    poll_s: float = 5.0
    """Between two looks at what a user plays (§1.2: once per 5 s is fine)."""
    gather_s: float = 5.0
    """How long a finished game of a list waits for others to be downloaded with."""
    call_s: tuple[float, float] = (5.0, 20.0)
    """Connecting, and silence, of requests made through berserk."""
