"""Arena tournaments an account takes part in, where they allow bots: none unless the settings say which."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from bridge.settings.base import Many, Secret, Section, one_of_form

TournamentId: TypeAlias = Annotated[
    str, AfterValidator(one_of_form(r"[A-Za-z0-9]{8}", "a tournament's id is the 8 letters and digits of its address"))
]
TeamId: TypeAlias = Annotated[
    str,
    AfterValidator(one_of_form(r"[a-z0-9-]+", "a team's id is the last part of its address, such as lichess-swiss")),
]


class TournamentEntry(Section):
    """One tournament."""

    id: TournamentId = Field(description="The last part of its address.")
    team: TeamId | None = Field(default=None, description="Whom to play for, in a battle of teams.")
    password: Secret | None = Field(default=None, description="Where it needs one, best as ${NAME}.")


def _entry(value: object) -> object:
    """An id may stand for itself."""
    return {"id": value} if isinstance(value, str) else value


class TournamentSettings(Section):
    """Arena tournaments. Their games are plain chess; the KiriChess verdict is only recorded."""

    join: Many[Annotated[TournamentEntry, BeforeValidator(_entry)]] = Field(
        default=(), description="Tournaments by their ids, or as tables with id, team and password."
    )
    teams: Many[TeamId] = Field(default=(), description="Teams whose tournaments are joined.")
    listed: bool = Field(default=False, description="Whether those that the platform shows are joined too.")
    early_s: int = Field(default=60, ge=0, le=3600, description="Seconds before its start that one is joined.")

    @property
    def wanted(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.join or self.teams or self.listed)
