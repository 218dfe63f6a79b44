"""The two clocks of this machine, and a day: everything else is given its time."""

import time
from typing import Final

DAY_MS: Final = 86_400_000


def steady_ms() -> int:
    """Whole milliseconds of a clock that never jumps."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """The date, as whole milliseconds since 1970."""
    return time.time_ns() // 1_000_000
