"""Other engines for some games, chosen by what the games are."""

from typing import Literal

from pydantic import Field

from bridge.decisions.engine_choice import EngineRule
from bridge.decisions.pool_choice import parse_time_control
from bridge.settings.base import Section, Text, TimeControlLabel


class EngineChoice(Section):
    """An engine for the games that are all of this; of several the longest counts."""

    engine: Text = Field(description="One of the engines below, by its name.")
    pool: Text | None = Field(default=None, description="Only in this pool; `standard`: only in plain chess.")
    speed: Literal["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"] | None = Field(
        default=None, description="Only at this speed."
    )
    variant: Literal["standard", "chess960", "fromPosition"] | None = Field(
        default=None, description="Only in this variant."
    )
    opponent: Literal["human", "bot"] | None = Field(default=None, description="Only against people, or bots.")
    min_rating: int | None = Field(default=None, ge=0, description="Opponents with this rating or more.")
    max_rating: int | None = Field(default=None, ge=0, description="Opponents with this rating or less.")
    color: Literal["white", "black"] | None = Field(default=None, description="Only with these pieces.")
    time_control: TimeControlLabel | None = Field(default=None, description="Only at this clock, minutes+seconds.")
    mode: Literal["casual", "rated"] | None = Field(default=None, description="Only in such games.")
    tournament: bool | None = Field(default=None, description="Only in tournaments, or only outside them.")

    @property
    def rule(self) -> EngineRule:
        """As the decision takes it."""
        control = None if self.time_control is None else parse_time_control(self.time_control)
        return EngineRule(**{**self.model_dump(), "time_control": control})
