"""How long one game's moves take, measured on their way; whoever counts gets the figures, and nothing waits for it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Measures(Protocol):
    """Takes what was measured; must not wait and must not raise."""

    def thought(self, seconds: float) -> None:
        """An engine was asked for a move and has answered, or was called off."""

    def answered(self, seconds: float) -> None:
        """A move was handed to the platform so long after the line it answers, the engine's thinking left out."""


class Unmeasured:
    """Nobody counts."""

    def thought(self, seconds: float) -> None:
        """Forgotten."""

    def answered(self, seconds: float) -> None:
        """Forgotten."""


class Stopwatch:
    """From a line of the game's stream to the move that answers it."""

    def __init__(self, measures: Measures) -> None:
        self._measures = measures
        self._came_s = 0.0
        self._line_s: float | None = None
        self._thought_s = 0.0

    def line(self) -> None:
        """A line has come."""
        self._came_s = time.perf_counter()

    def turn(self) -> None:
        """It has given us the turn."""
        self._line_s, self._thought_s = self._came_s, 0.0

    @contextmanager
    def thinking(self) -> Iterator[None]:
        """While the engine has the word."""
        begun_s = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - begun_s
            self._thought_s += seconds
            self._measures.thought(seconds)

    def sending(self) -> None:
        """The move is on its way; said again for the same line, it is a repeat and counts no more."""
        if self._line_s is not None:
            self._measures.answered(time.perf_counter() - self._line_s - self._thought_s)
            self._line_s = None
