"""Other engines for some games, chosen by what the games are."""

from typing import Literal

from pydantic import Field

from bridge.decisions.engine_choice import EngineRule
from bridge.settings.base import Section, Text


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

    @property
    def rule(self) -> EngineRule:
        """As the decision takes it."""
        return EngineRule(**self.model_dump())
