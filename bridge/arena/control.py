"""Time controls, speeds and variants as Lichess names them (Lichess API §1.3, §1.6)."""

from dataclasses import dataclass

SPEEDS = ("ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence")
"""From the fastest to the slowest; also the keys of the standard perfs."""

_UPPER_BOUND_S = {"ultraBullet": 30, "bullet": 180, "blitz": 480, "rapid": 1500}
_FRACTIONS = {15: "¼", 30: "½", 45: "¾", 90: "1.5"}

VARIANTS = {
    "standard": ("Standard", "Std"),
    "chess960": ("Chess960", "960"),
    "fromPosition": ("From Position", "FEN"),
}
"""Key to name and short name of the variants the arena plays."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A clock of `limit_s` for each side and `increment_s` a move."""

    limit_s: int
    increment_s: int

    @property
    def estimate_s(self) -> int:
        """What a side is expected to use in a game of 40 moves; decides the speed."""
        return self.limit_s + 40 * self.increment_s

    @property
    def speed(self) -> str:
        return next((name for name, bound_s in _UPPER_BOUND_S.items() if self.estimate_s < bound_s), "classical")

    @property
    def show(self) -> str:
        """Minutes and seconds as Lichess writes them: `5+2`, `½+0`."""
        return f"{_FRACTIONS.get(self.limit_s, f'{self.limit_s / 60:g}')}+{self.increment_s}"

    @property
    def tag(self) -> str:
        """The PGN tag's value: seconds."""
        return f"{self.limit_s}+{self.increment_s}"


@dataclass(frozen=True, slots=True)
class Correspondence:
    """`days` for each move; None for as long as it takes."""

    days: int | None = None

    @property
    def speed(self) -> str:
        return "correspondence"

    @property
    def tag(self) -> str:
        return "-"


Control = TimeControl | Correspondence


def perf_key(variant: str, speed: str) -> str:
    """The key of the rating that counts: the speed's, or the variant's."""
    return speed if variant in ("standard", "fromPosition") else variant


def perf_name(key: str) -> str:
    return {"ultraBullet": "UltraBullet"}.get(key, key[:1].upper() + key[1:])
