"""When a game is given up or drawn by the engine's scores; keys and units are lichess-bot's."""

from pydantic import Field

from bridge.decisions.draw import DrawTerms
from bridge.decisions.resign import ResignTerms
from bridge.settings.base import Section


class DrawOrResign(Section):
    """Left out: neither; a draw that KiriChess has decided, and a KiriChess flag, count in any case."""

    resign_enabled: bool = Field(default=False, description="Whether hopeless games are resigned.")
    resign_score: int = Field(default=-1000, le=0, description="Centipawns at or below which a score is hopeless.")
    resign_moves: int = Field(default=3, ge=1, description="So many scores in a row must be hopeless.")
    offer_draw_enabled: bool = Field(default=False, description="Whether level games are offered, and agreed, drawn.")
    offer_draw_score: int = Field(default=0, ge=0, description="Centipawns from 0 within which a score is level.")
    offer_draw_moves: int = Field(default=10, ge=1, description="So many scores in a row must be level.")
    offer_draw_pieces: int = Field(default=10, ge=2, le=32, description="Only with so many pieces or fewer.")

    @property
    def resign(self) -> ResignTerms:
        """As the decision takes them."""
        return ResignTerms(self.resign_enabled, self.resign_score, self.resign_moves)

    @property
    def draw(self) -> DrawTerms:
        """As the decision takes them."""
        return DrawTerms(self.offer_draw_enabled, self.offer_draw_score, self.offer_draw_moves, self.offer_draw_pieces)
