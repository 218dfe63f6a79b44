"""The dials of a KiriChess game: every figure the clocks depend on (rules §2, §3).

A dial is a decimal, held exactly as a `Fraction`; `Prices` holds the products, rounded down to whole
milliseconds once (rules, preamble).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

import chess

PIECES: Mapping[str, chess.PieceType] = {
    "pawn": chess.PAWN,
    "knight": chess.KNIGHT,
    "bishop": chess.BISHOP,
    "rook": chess.ROOK,
    "queen": chess.QUEEN,
    "king": chess.KING,
}
"""Piece names as a person writes them in `values_s` and `tolls_s`."""

CASTLING = "castling"
ECONOMIES: Mapping[str, tuple[Fraction, Fraction]] = {
    "steal": (Fraction(1), Fraction(1)),
    "bounty": (Fraction(1), Fraction(0)),
    "burn": (Fraction(0), Fraction(1)),
}
"""Economy name → (gain, loss), shares of the captured piece's value (rule 1)."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "double_flag": ("stack", "mover_loses", "draw"),
    "berserk": ("ignore", "halve"),
    "dead_position": ("material", "exact"),
    "platform_timeout": ("loses", "unfinished"),
}
"""Settings that are words, with their values; the first is the default (R1, R3, R7, R6)."""

_VALUES = {"pawn": 5, "knight": 10, "bishop": 10, "rook": 15, "queen": 25}
_TOLLS = {"pawn": 1, "knight": 2, "bishop": 2, "rook": 3, "queen": 4, "king": 1, CASTLING: 3}


def _fractions(figures: Mapping[str, int]) -> Mapping[str, Fraction]:
    return {name: Fraction(seconds) for name, seconds in figures.items()}


def floor_ms(seconds: Fraction) -> int:
    """Seconds → whole milliseconds, rounded down."""
    return (seconds * 1000).__floor__()


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What every event costs, in whole milliseconds, indexed by `chess.PieceType` (index 0 unused).

    Compared by identity, so that what depends on it can be kept; compare the dials instead.
    """

    base_ms: int
    increment_ms: int
    gain_ms: tuple[int, ...]
    loss_ms: tuple[int, ...]
    toll_ms: tuple[int, ...]
    castling_ms: int
    fee_ms: tuple[int, ...]
    chip_ms: int
    double_chip_ms: int


_priced = lru_cache(maxsize=256)(Prices)
"""Equal prices are one object, else every game had its own in what is kept of them."""


@dataclass(frozen=True)
class Dials:
    """One economy. Seconds and factors are exact; `f_mode` is None unless set (rules §3)."""

    base_s: Fraction
    increment_s: Fraction = Fraction(0)
    gain: Fraction = Fraction(1)
    loss: Fraction = Fraction(1)
    capture_multiplier: Fraction = Fraction(1)
    toll_multiplier: Fraction = Fraction(1)
    chip_multiplier: Fraction = Fraction(1)
    f_mode: Fraction | None = None
    values_s: Mapping[str, Fraction] = field(default_factory=lambda: _fractions(_VALUES))
    tolls_s: Mapping[str, Fraction] = field(default_factory=lambda: _fractions(_TOLLS))
    chip_s: Fraction = Fraction(2)
    double_check_factor: Fraction = Fraction(2)
    promotion_fee: Fraction = Fraction(0)
    double_flag: str = "stack"
    berserk: str = "ignore"
    dead_position: str = "material"
    platform_timeout: str = "loses"

    @property
    def economy(self) -> str | None:
        """`steal`, `bounty` or `burn`; None for other shares."""
        shares = (self.gain, self.loss)
        return next((name for name, pair in ECONOMIES.items() if pair == shares), None)

    @cached_property
    def prices(self) -> Prices:
        """The products in milliseconds; the promotion fee scales with F and never with C (step 4.2)."""
        fee_scale = Fraction(1) if self.f_mode is None else self.f_mode
        chip_s = self.chip_s * self.chip_multiplier

        def table(scale: Fraction, figures: Mapping[str, Fraction]) -> tuple[int, ...]:
            return (0, *(floor_ms(scale * figures.get(name, Fraction(0))) for name in PIECES))

        return _priced(
            base_ms=floor_ms(self.base_s),
            increment_ms=floor_ms(self.increment_s),
            gain_ms=table(self.gain * self.capture_multiplier, self.values_s),
            loss_ms=table(self.loss * self.capture_multiplier, self.values_s),
            toll_ms=table(self.toll_multiplier, self.tolls_s),
            castling_ms=floor_ms(self.toll_multiplier * self.tolls_s[CASTLING]),
            fee_ms=table(self.promotion_fee * fee_scale, self.values_s),
            chip_ms=floor_ms(chip_s),
            double_chip_ms=floor_ms(chip_s * self.double_check_factor),
        )

    def to_mapping(self) -> dict[str, object]:
        """Every dial as JSON values for `parse_dials`; with `f_mode` set the three multipliers are left out."""
        multipliers = {} if self.f_mode is not None else {name: _number(getattr(self, name)) for name in MULTIPLIERS}
        return {
            "base_s": _number(self.base_s),
            "increment_s": _number(self.increment_s),
            "economy": self.economy or {"gain": _number(self.gain), "loss": _number(self.loss)},
            **multipliers,
            "f_mode": None if self.f_mode is None else _number(self.f_mode),
            "values_s": {name: _number(seconds) for name, seconds in self.values_s.items()},
            "tolls_s": {name: _number(seconds) for name, seconds in self.tolls_s.items()},
            "chip_s": _number(self.chip_s),
            "double_check_factor": _number(self.double_check_factor),
            "promotion_fee": _number(self.promotion_fee),
            **{name: getattr(self, name) for name in CHOICES},
        }

    def warnings(self) -> list[str]:
        """What is possible but looks like a slip: a share of 5 or more is most likely seconds per point."""
        return [
            f"economy {name} {_number(share)} is a share of the piece's value, not seconds per point: did you mean 1?"
            for name, share in (("gain", self.gain), ("loss", self.loss))
            if share >= 5
        ]


MULTIPLIERS = ("capture_multiplier", "toll_multiplier", "chip_multiplier")


def _number(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
