"""Time as PGN writes it: TimeControl, `[%clk]` and `[%emt]` (rules §6)."""

import re
from collections.abc import Sequence
from decimal import Decimal

from bridge.rules.snapshot import TimeControl

_CLK = re.compile(r"\[%clk\s+([^\]]*)\]")
_EMT = re.compile(r"\[%emt\s+([^\]]*)\]")
_THINK = re.compile(r"\[%kthink\s+(\d{1,12})\s*\]")
_SPENT = re.compile(r"\[%kspent\s+(\d{1,12})/(\d{1,12})\s*\]")
_PART = re.compile(r"-?\d+(?:[.,]\d*)?")
_PLAIN_CONTROL = re.compile(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")

CLK_PRECISION_MS = 500
TENTHS_PRECISION_MS = 100
EMT_ERROR_MS = 500
"""What a move's time in whole seconds can be wrong by; it adds up."""


def parse_duration(text: str) -> tuple[int, bool] | None:
    """`h:mm:ss`, `m:ss` or seconds, with or without a fraction → (ms, whether it shows a fraction); None: unreadable.

    Broadcasts write overrun clocks as `0:00:-32`: a minus anywhere makes the whole negative.
    """
    parts = text.strip().split(":")
    if len(parts) > 3 or not all(_PART.fullmatch(part) for part in parts):
        return None
    seconds = Decimal(0)
    for part in parts:
        seconds = seconds * 60 + abs(Decimal(part.replace(",", ".")))
    if seconds > 10**9:
        return None
    milliseconds = int(seconds * 1000)
    return (-milliseconds if "-" in text else milliseconds), "." in text or "," in text


def parse_time_control(text: str) -> TimeControl | str:
    """TimeControl of one plain period (`300+3`, `300`, `10+0.05`), or why the game is judged on moves alone."""
    control = text.strip()
    plain = _PLAIN_CONTROL.fullmatch(control)
    if plain:
        initial, increment = Decimal(plain[1]), Decimal(plain[2] or 0)
        if initial <= 10**7 and increment <= 10**7:
            return TimeControl(int(initial * 1000), int(increment * 1000))
    return f"{_why_not(control)}: judged on moves alone"


def _why_not(control: str) -> str:
    if not control or control in "-?":
        return "no time control" if not control else f"no time control ({control!r})"
    if re.fullmatch(r"1/\d+", control):
        return f"correspondence ({control!r})"
    if re.search(r"\dd\b|\bd/?\d|delay|bronstein", control, re.IGNORECASE):
        return f"a delay control ({control!r})"
    if control.startswith("*"):
        return f"an hourglass control ({control!r})"
    if re.search(r"\d[/:;,]|SD", control):
        return f"a control of several periods ({control!r})"
    return f"unreadable time control {control!r}"


class ClockComments:
    """Collects a game's clock comments, ply by ply."""

    def __init__(self) -> None:
        self.clk_ms: list[int | None] = []
        self.emt_ms: list[int | None] = []
        self.spent_ms: dict[int, tuple[int, int]] = {}
        """By ply and colour: time spent on moves that were taken back after it."""
        self._think_ms: list[int | None] = []
        self._clk_fraction = False
        self._emt_fraction = False

    def next_ply(self) -> None:
        """A move was read: the comments that follow belong to it."""
        self.clk_ms.append(None)
        self.emt_ms.append(None)
        self._think_ms.append(None)

    def read(self, comment: str) -> None:
        """Take the last move's clock out of a comment; the first reading of a ply counts."""
        if "[%" not in comment:
            return
        if "[%k" in comment:
            self._read_ours(comment)
        if not self.clk_ms:
            return
        if self.clk_ms[-1] is None and (clk := _first(_CLK, comment)) is not None:
            self.clk_ms[-1], fraction = clk
            self._clk_fraction |= fraction
        if self.emt_ms[-1] is None and (emt := _first(_EMT, comment)) is not None and emt[0] >= 0:
            self.emt_ms[-1], fraction = emt
            self._emt_fraction |= fraction

    def _read_ours(self, comment: str) -> None:
        if spent := _SPENT.search(comment):
            white, black = spent.groups()
            self.spent_ms[len(self.clk_ms)] = (int(black), int(white))
        if self._think_ms and (think := _THINK.search(comment)):
            self._think_ms[-1] = int(think[1])

    @property
    def source(self) -> str:
        """`clk`, `think` (from `%emt` or our own `%kthink`, only where there is no `%clk`) or `none`."""
        if _any(self.clk_ms):
            return "clk"
        return "think" if _any(self.emt_ms) or _any(self._think_ms) else "none"

    @property
    def think_ms(self) -> Sequence[int | None] | None:
        """The times of moves themselves, by the source; our own PGN has some where `%clk` would tell another one."""
        if _any(self._think_ms):
            return self._think_ms
        return self.emt_ms if self.source == "think" else None

    @property
    def precision_ms(self) -> int | None:
        """The error of the source (rules §6); times in whole seconds add theirs up over a side's moves."""
        match self.source:
            case "clk":
                return TENTHS_PRECISION_MS if self._clk_fraction else CLK_PRECISION_MS
            case "think":
                timed = [sum(time is not None for time in self.emt_ms[side::2]) for side in (0, 1)]
                return 0 if self._emt_fraction or _any(self._think_ms) else EMT_ERROR_MS * max(timed)
        return None


def _any(times: Sequence[int | None]) -> bool:
    return any(time is not None for time in times)


def _first(pattern: re.Pattern[str], comment: str) -> tuple[int, bool] | None:
    found = pattern.search(comment)
    return parse_duration(found[1]) if found else None
