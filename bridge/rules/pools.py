"""The six rated pools, the first-edition presets, and reading dials that a person or a file gives (rules §2, §3)."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from bridge.errors import DialError
from bridge.rules.dials import CASTLING, CHOICES, ECONOMIES, MULTIPLIERS, PIECES, Dials

DEFAULT_POOL = "anchor"


def _pool(base_s: int, economy: str, capture_multiplier: int) -> Dials:
    gain, loss = ECONOMIES[economy]
    return Dials(Fraction(base_s), gain=gain, loss=loss, capture_multiplier=Fraction(capture_multiplier))


def _first_edition(base_s: int, f_mode: int) -> Dials:
    n = Fraction(f_mode)
    return Dials(
        Fraction(base_s),
        capture_multiplier=n,
        toll_multiplier=n,
        chip_multiplier=n,
        f_mode=n,
        promotion_fee=Fraction(2),
    )


POOLS: Mapping[str, Dials] = {
    "winder": _pool(60, "bounty", 1),
    "ratchet": _pool(240, "burn", 1),
    "fulcrum": _pool(300, "steal", 2),
    "anchor": _pool(360, "steal", 1),
    "mainspring": _pool(900, "burn", 2),
    "eclipse": _pool(900, "steal", 4),
}
"""The rated pools (rules §2)."""

PRESETS: Mapping[str, Dials] = {
    "first-edition-eclipse": _first_edition(900, 4),
    "first-edition-fulcrum": _first_edition(300, 2),
}
"""Named custom games (rules §3), always unrated."""

NAMED: Mapping[str, Dials] = {**POOLS, **PRESETS}


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Dials with the name they answer to; `pool` is None when any dial differs from the named pool's.

    Not `scored`: the game was played as plain chess, and what these rules make of it is only noted.
    """

    dials: Dials
    pool: str | None
    scored: bool = True


def named(pool: str, pools: Mapping[str, Dials] = NAMED) -> Ruleset:
    """The rules of a pool by name, in any case.

    Raises:
        DialError: no such pool; names the nearest and all there are.
    """
    name = pool.lower()
    if name not in pools:
        raise DialError([_unknown("pool", pool, pools)])
    return Ruleset(pools[name], name)


def parse_dials(given: Mapping[str, object], pools: Mapping[str, Dials] = NAMED) -> Ruleset:
    """Read dials (interfaces, "Dials"): what is not given comes from the `pool`, or from Anchor without one.

    Raises:
        DialError: every unknown, impossible or contradictory dial, one line each.
    """
    reader = _Reader(given)
    pool = reader.pool(pools)
    start = pools[pool]
    changes: dict[str, object] = {}
    for name in ("base_s", "increment_s", "chip_s", "double_check_factor", "promotion_fee", *MULTIPLIERS):
        reader.into(changes, name, reader.number(name))
    for name in CHOICES:
        reader.into(changes, name, reader.choice(name))
    reader.into(changes, "values_s", reader.table("values_s", start.values_s))
    reader.into(changes, "tolls_s", reader.table("tolls_s", start.tolls_s))
    changes |= reader.economy()
    changes |= reader.f_mode(start)
    reader.unknown()
    if reader.problems:
        raise DialError(reader.problems)
    dials = replace(start, **changes)  # type: ignore[arg-type]  # every value was checked above
    return Ruleset(dials, pool if dials == start else None)


def _unknown(what: str, given: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(given.lower(), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {given!r}{hint} (known: {', '.join(names)})"


class _Reader:
    """Takes dials out of a mapping and collects what is wrong, so that all of it is told at once."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self.given = given
        self.problems: list[str] = []
        self._taken: set[str] = set()

    @staticmethod
    def into(changes: dict[str, object], name: str, value: object | None) -> None:
        if value is not None:
            changes[name] = value

    def _take(self, name: str) -> object | None:
        self._taken.add(name)
        return self.given.get(name)

    def pool(self, pools: Mapping[str, Dials]) -> str:
        given = self._take("pool")
        if given is None:
            return DEFAULT_POOL
        if isinstance(given, str) and given.lower() in pools:
            return given.lower()
        self.problems.append(_unknown("pool", str(given), pools))
        return DEFAULT_POOL

    def number(self, name: str) -> Fraction | None:
        if name not in self.given:
            return None
        return self._fraction(name, self._take(name), above_zero=name == "base_s")

    def _fraction(self, name: str, value: object, *, above_zero: bool = False) -> Fraction | None:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            self.problems.append(f"{name} must be a number, not {value!r}")
            return None
        decimal = Decimal(str(value))
        if not decimal.is_finite() or decimal < 0 or (above_zero and decimal == 0):
            self.problems.append(f"{name} must be {'above 0' if above_zero else '0 or more'}, not {value}")
            return None
        if above_zero and decimal * 1000 < 1:
            self.problems.append(f"{name} must be a millisecond (0.001) at least, not {value}")
            return None
        if decimal > 10**9:
            self.problems.append(f"{name} is too large: {value}")
            return None
        return Fraction(decimal)

    def choice(self, name: str) -> str | None:
        if name not in self.given:
            return None
        value = self._take(name)
        if value not in CHOICES[name]:
            self.problems.append(f"{name} must be one of {', '.join(CHOICES[name])}, not {value!r}")
            return None
        return str(value)

    def table(self, name: str, start: Mapping[str, Fraction]) -> Mapping[str, Fraction] | None:
        if name not in self.given:
            return None
        value = self._take(name)
        if not isinstance(value, Mapping):
            self.problems.append(f"{name} must be a table of piece: seconds, not {value!r}")
            return None
        merged = dict(start)
        for piece, seconds in value.items():
            if piece not in start:
                self.problems.append(_unknown(f"piece in {name}", str(piece), start))
            elif (fraction := self._fraction(f"{name}.{piece}", seconds)) is not None:
                merged[str(piece)] = fraction
        return merged

    def economy(self) -> dict[str, object]:
        if "economy" not in self.given:
            return {}
        value = self._take("economy")
        if isinstance(value, str) and value.lower() in ECONOMIES:
            gain, loss = ECONOMIES[value.lower()]
            return {"gain": gain, "loss": loss}
        if isinstance(value, Mapping) and set(value) == {"gain", "loss"}:
            shares = {name: self._fraction(f"economy.{name}", share) for name, share in value.items()}
            return {str(name): share for name, share in shares.items() if share is not None}
        if isinstance(value, str):
            self.problems.append(_unknown("economy", value, ECONOMIES))
        else:
            self.problems.append(f"economy must be one of {', '.join(ECONOMIES)} or {{gain, loss}}, not {value!r}")
        return {}

    def f_mode(self, pool: Dials) -> dict[str, object]:
        """F-mode sets the multipliers, so none can stand beside it, be it given or a preset's; null ends a preset's."""
        value = self._take("f_mode")
        explicit = [name for name in MULTIPLIERS if name in self.given]
        kept = pool.f_mode is not None and "f_mode" not in self.given
        if explicit and (value is not None or kept):
            mend = "or set f_mode: null" if kept else "or f_mode"
            self.problems.append(f"f_mode sets the multipliers itself: leave out {', '.join(explicit)}, {mend}")
        if value is None:
            return {"f_mode": None} if explicit else {}
        n = self._fraction("f_mode", value)
        return {} if n is None else {"f_mode": n, **dict.fromkeys(MULTIPLIERS, n)}

    def unknown(self) -> None:
        known = ["pool", "economy", "f_mode", *_NUMBERS, *CHOICES, "values_s", "tolls_s"]
        for name in self.given:
            if name not in self._taken:
                self.problems.append(_unknown("dial", str(name), known))


_NUMBERS = ("base_s", "increment_s", *MULTIPLIERS, "chip_s", "double_check_factor", "promotion_fee")
assert set(PIECES) | {CASTLING} == set(Dials(Fraction(1)).tolls_s)
