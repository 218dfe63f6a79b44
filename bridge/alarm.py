"""A timer that is put off far more often than it rings: to put it off costs nothing."""

import asyncio
from collections.abc import Callable


class Alarm:
    """`rings` is called, once, when the loop's clock has come to what was `set` last."""

    def __init__(self, rings: Callable[[], None]) -> None:
        self._rings = rings
        self._at_s: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def set(self, at_s: float) -> None:
        """Ring then, in place of whatever was set before."""
        self._at_s = at_s
        # A timer that is due before looks again then.
        if self._timer is None or at_s < self._timer.when():
            self._wait(at_s)

    def off(self) -> None:
        """Do not ring, until it is set again."""
        self._at_s = None

    def close(self) -> None:
        """Off for good. Whoever was called is let go of, so that they do not keep each other."""
        self._at_s, self._rings = None, _nobody
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, at_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(at_s, self._look)

    def _look(self) -> None:
        self._timer, at_s = None, self._at_s
        if at_s is None:
            return
        if at_s > asyncio.get_running_loop().time():
            self._wait(at_s)
        else:
            self._at_s = None
            self._rings()


def _nobody() -> None:
    """It is off for good."""
