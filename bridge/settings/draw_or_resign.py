"""When a game is given up or drawn by the engine's scores or by tables; keys and units are lichess-bot's."""

from pydantic import Field

from bridge.decisions.draw import DrawTerms
from bridge.decisions.resign import ResignTerms
from bridge.settings.base import Section


class DrawOrResign(Section):
    """Left out: neither; a draw that KiriChess has decided, and a KiriChess flag, count in any case."""

    resign_enabled: bool = Field(default=False, description="Whether hopeless games are resigned.")
    resign_score: int = Field(default=-1000, le=0, description="Centipawns at or below which a score is hopeless.")
    resign_moves: int = Field(default=3, ge=1, description="So many scores in a row must be hopeless.")
    resign_for_egtb_minus_two: bool = Field(
        default=True,
        description="Whether what endgame tables call lost is hopeless; not where KiriChess clocks decide.",
    )
    offer_draw_enabled: bool = Field(default=False, description="Whether level games are offered, and agreed, drawn.")
    offer_draw_score: int = Field(default=0, ge=0, description="Centipawns from 0 within which a score is level.")
    offer_draw_moves: int = Field(default=10, ge=1, description="So many scores in a row must be level.")
    offer_draw_pieces: int = Field(default=10, ge=2, le=32, description="Only with so many pieces or fewer.")

    offer_draw_for_egtb_zero: bool = Field(
        default=True,
        description="Whether what endgame tables call drawn is level; not where KiriChess clocks decide.",
    )

    @property
    def resign(self) -> ResignTerms:
        """As the decision takes them."""
        by_tables = self.resign_for_egtb_minus_two
        return ResignTerms(self.resign_enabled, self.resign_score, self.resign_moves, by_tables)

    @property
    def draw(self) -> DrawTerms:
        """As the decision takes them."""
        terms = (self.offer_draw_enabled, self.offer_draw_score, self.offer_draw_moves, self.offer_draw_pieces)
        return DrawTerms(*terms, self.offer_draw_for_egtb_zero)
