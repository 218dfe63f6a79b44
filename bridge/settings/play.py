"""How an account plays: engine, pools, and the few habits it has."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag

from bridge.decisions.pool_choice import DEFAULT_BY_TIME_CONTROL, choose_pool, parse_time_control
from bridge.rules.pools import NAMED, Ruleset, parse_dials
from bridge.rules.snapshot import TimeControl
from bridge.settings.base import Dials, Many, Section, Text
from bridge.settings.problems import unknown

Variant: TypeAlias = Literal["standard", "chess960", "fromPosition"]


def _pool_name(value: str) -> str:
    if value.lower() not in NAMED:
        raise ValueError(unknown("pool", value, NAMED))
    return value.lower()


def _time_control(value: str) -> str:
    parse_time_control(value)
    return value


PoolName: TypeAlias = Annotated[str, AfterValidator(_pool_name)]
TimeControlLabel: TypeAlias = Annotated[str, AfterValidator(_time_control)]


class PoolTable(Section):
    """A pool for each time control; challenges with any other one are declined."""

    by_time_control: dict[TimeControlLabel, PoolName] = Field(
        default_factory=lambda: dict(DEFAULT_BY_TIME_CONTROL),
        min_length=1,
        description="Time control as Lichess shows it, minutes+seconds, to pool.",
    )


def _pool_form(value: object) -> str:
    return "<table>" if isinstance(value, dict | PoolTable) else "<name>"


PoolSetting: TypeAlias = Annotated[
    Annotated[PoolName, Tag("<name>")] | Annotated[PoolTable, Tag("<table>")], Discriminator(_pool_form)
]


class ChallengeSettings(Section):
    """Which challenges are accepted. Rated ones never are: KiriChess acts only in casual games."""

    variants: Many[Variant] = Field(
        default=("standard", "chess960", "fromPosition"), min_length=1, description="Variants that are played."
    )
    accept_bot: bool = Field(default=True, description="Whether challenges of BOT accounts are accepted.")
    only_bot: bool = Field(default=False, description="Whether only those are.")


class Play(Section):
    """Left out for an account that only watches. The account must have the title BOT."""

    engine: Text = Field(description="One of the engines below, by its name.")
    pool: PoolSetting = Field(
        default_factory=PoolTable,
        description="One pool for every game, or a table by_time_control; left out: each pool at its own control.",
    )
    rules: Dials = Field(
        default_factory=dict, description="Dials that differ from the pool's; the games are custom games then."
    )
    concurrency: int = Field(default=1, ge=1, le=200, description="Games played at the same time, at most.")
    move_overhead: int = Field(
        default=200, ge=0, le=60_000, description="Milliseconds kept back from every move for network and machine."
    )
    abort_time: int = Field(
        default=30, ge=1, le=3600, description="Seconds to wait for the opponent's first move before aborting."
    )
    greeting: bool = Field(default=True, description="Whether pool and rules are told in chat at the start of a game.")
    challenge: ChallengeSettings = Field(
        default_factory=ChallengeSettings, description="Which challenges are accepted."
    )

    @property
    def pools(self) -> str | Mapping[str, str]:
        """The pool setting as `choose_pool` takes it."""
        return self.pool if isinstance(self.pool, str) else self.pool.by_time_control

    def ruleset(self, time_control: TimeControl | None) -> Ruleset | None:
        """The rules of a game with this time control; None: it is not one that is played here."""
        pool = choose_pool(self.pools, time_control)
        return None if pool is None else parse_dials({**self.rules, "pool": pool})
