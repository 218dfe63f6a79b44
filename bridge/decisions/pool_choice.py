"""Which KiriChess pool a game is played in: by opponent, by kind of challenge, or by its time control as Lichess shows
it, minutes+seconds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from bridge.rules.budget import safe_platform_ms
from bridge.rules.dials import Dials
from bridge.rules.snapshot import TimeControl

DEFAULT_BY_TIME_CONTROL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "1+0": "winder",
        "4+0": "ratchet",
        "5+0": "fulcrum",
        "6+0": "anchor",
        "9+0": "anchor",
        "10+0": "fulcrum",
        "15+0": "mainspring",
        "24+0": "eclipse",
        "25+0": "eclipse",
    }
)
"""Each pool's exact control, and its safe platform clock (rules §7) rounded up to what Lichess offers. Where two pools
claim one control the exact one has it (4+0), and Mainspring has 15+0, which is exact for two."""

_PARTS: Final = {"¼": "0.25", "½": "0.5", "¾": "0.75", "1/4": "0.25", "1/2": "0.5", "3/4": "0.75"}
_LABEL: Final = re.compile(r"(\d+(?:\.\d+)?)\+(\d+)")


def parse_time_control(label: str) -> TimeControl:
    """Read `10+0`, `0.5+1`, `½+0`: minutes of base time, then seconds of increment.

    Raises:
        ValueError: it is written some other way.
    """
    base, plus, increment = label.strip().partition("+")
    match = _LABEL.fullmatch(_PARTS.get(base, base) + plus + increment)
    if match is None:
        raise ValueError(f"a time control is minutes+seconds as Lichess shows it, such as 10+0, not {label!r}")
    return TimeControl(int(Fraction(match[1]) * 60_000), int(match[2]) * 1000)


def choose_pool(setting: str | Mapping[str, str], time_control: TimeControl | None) -> str | None:
    """The pool for a game: the named one, or the table's for this time control; None if the table has none.

    The keys of a table are labels that `parse_time_control` reads.
    """
    if isinstance(setting, str):
        return setting
    return next((pool for label, pool in setting.items() if parse_time_control(label) == time_control), None)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a pool is chosen by. `opponent` is an id: lower case; `variant` and `speed` as Lichess names them."""

    time_control: TimeControl | None
    opponent: str = ""
    from_bot: bool = False
    variant: str = "standard"
    speed: str = ""


Kind: TypeAlias = Literal["human", "bot"]


@dataclass(frozen=True, slots=True)
class ChallengeRule:
    """A pool for the games that fit; None: whatever it is."""

    pool: str
    variant: str | None = None
    speed: str | None = None
    opponent: Kind | None = None

    def fits(self, terms: Terms) -> bool:
        """Whether it is for this game."""
        kind = "bot" if terms.from_bot else "human"
        asked = ((self.variant, terms.variant), (self.speed, terms.speed), (self.opponent, kind))
        return all(wanted is None or wanted == given for wanted, given in asked)


@dataclass(frozen=True, slots=True)
class PoolRules:
    """The opponent's own pool, else that of the first rule that fits, else `otherwise`, as `choose_pool` takes it."""

    otherwise: str | Mapping[str, str]
    by_opponent: Mapping[str, str] = field(default_factory=dict)
    by_challenge: Sequence[ChallengeRule] = ()

    def choose(self, terms: Terms) -> str | None:
        """The pool, None for plain chess: so is every game without a clock."""
        if terms.time_control is None:
            return None
        if (own := self.by_opponent.get(terms.opponent)) is not None:
            return own
        fitting = next((rule.pool for rule in self.by_challenge if rule.fits(terms)), None)
        return choose_pool(self.otherwise, terms.time_control) if fitting is None else fitting


def safer_control(dials: Dials, control: TimeControl | None) -> str | None:
    """The safe platform clock of a pool, as Lichess shows it, where a game's is shorter; None where it is not."""
    safe_ms = safe_platform_ms(dials)
    if control is None or control.initial_ms >= safe_ms:
        return None
    return f"{-(-safe_ms // 60_000)}+0"
