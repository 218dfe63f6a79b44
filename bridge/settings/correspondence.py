"""Games with days for each move, or without a limit; keys and units are lichess-bot's."""

from pydantic import Field

from bridge.decisions.check_in import DaysTerms
from bridge.settings.base import Section


class Correspondence(Section):
    """Such games are plain chess. Between moves they are left, and take no slot until it is our move again."""

    move_time: int = Field(default=60, ge=1, le=86_400, description="Seconds for a move.")
    checkin_period: int = Field(
        default=600, ge=1, le=86_400, description="Seconds between looks at the games that were left."
    )
    disconnect_time: int = Field(
        default=300, ge=0, le=86_400, description="Seconds after our move until a game is left."
    )
    ponder: bool = Field(
        default=False, description="Whether engines with `ponder: true` think in the opponent's time until then."
    )

    @property
    def terms(self) -> DaysTerms:
        """As the decision takes them."""
        return DaysTerms(1000 * self.move_time, 1000 * self.checkin_period, 1000 * self.disconnect_time, self.ponder)
