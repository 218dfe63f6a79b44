"""When a game is given up or drawn by the engine's scores or by tables; keys and units are lichess-bot's."""

from pydantic import Field

from bridge.decisions.draw import DrawTerms
from bridge.decisions.opponents import Opponents
from bridge.decisions.resign import ResignTerms
from bridge.settings.base import Section

_LENGTH = "Not by scores before so many moves of each side have been played."
_RATING = "Opponents with this rating or more, and those without any; left out: everybody."


class DrawOrResign(Section):
    """Left out: neither; a draw that KiriChess has decided, and a KiriChess flag, count in any case."""

    resign_enabled: bool = Field(default=False, description="Whether hopeless games are resigned.")
    resign_score: int = Field(default=-1000, le=0, description="Centipawns at or below which a score is hopeless.")
    resign_moves: int = Field(default=3, ge=1, description="So many scores in a row must be hopeless.")
    resign_min_game_length: int = Field(default=0, ge=0, description=_LENGTH)
    resign_against_humans: bool = Field(default=True, description="Whether that holds against people too.")
    resign_min_rating: int | None = Field(default=None, ge=0, le=4000, description=_RATING)
    resign_for_egtb_minus_two: bool = Field(
        default=True,
        description="Whether what endgame tables call lost is hopeless; not where KiriChess clocks decide.",
    )
    offer_draw_enabled: bool = Field(default=False, description="Whether level games are offered, and agreed, drawn.")
    offer_draw_score: int = Field(default=0, ge=0, description="Centipawns from 0 within which a score is level.")
    offer_draw_moves: int = Field(default=10, ge=1, description="So many scores in a row must be level.")
    offer_draw_pieces: int = Field(default=10, ge=2, le=32, description="Only with so many pieces or fewer.")
    offer_draw_min_game_length: int = Field(default=0, ge=0, description=_LENGTH)
    offer_draw_against_humans: bool = Field(default=True, description="Whether that holds against people too.")
    offer_draw_min_rating: int | None = Field(default=None, ge=0, le=4000, description=_RATING)
    offer_draw_for_egtb_zero: bool = Field(
        default=True,
        description="Whether what endgame tables call drawn is level; not where KiriChess clocks decide.",
    )

    @property
    def resign(self) -> ResignTerms:
        """As the decision takes them."""
        return ResignTerms(
            enabled=self.resign_enabled,
            score_cp=self.resign_score,
            moves=self.resign_moves,
            by_tables=self.resign_for_egtb_minus_two,
            min_moves=self.resign_min_game_length,
            opponents=Opponents(self.resign_against_humans, self.resign_min_rating),
        )

    @property
    def draw(self) -> DrawTerms:
        """As the decision takes them."""
        return DrawTerms(
            enabled=self.offer_draw_enabled,
            score_cp=self.offer_draw_score,
            moves=self.offer_draw_moves,
            pieces=self.offer_draw_pieces,
            by_tables=self.offer_draw_for_egtb_zero,
            min_moves=self.offer_draw_min_game_length,
            opponents=Opponents(self.offer_draw_against_humans, self.offer_draw_min_rating),
        )
