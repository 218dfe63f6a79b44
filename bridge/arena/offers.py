"""Draw offers and takebacks between the two players. Pure, like the referee; both endpoints never refuse (§1.4)."""

import chess

from bridge.arena import referee
from bridge.arena.game import Game
from bridge.arena.happenings import Changed, Happening, Said, Status, Undone

_PLIES_BETWEEN_OFFERS = 20
_EARLY_DRAW_PLY = 60


def draw_yes(game: Game, color: chess.Color, now_ms: int) -> list[Happening]:
    """Offer, accept, or claim a standing repetition; a hopeless opponent ends the game at once."""
    early = "noEarlyDraw" in game.rules and game.plies < _EARLY_DRAW_PLY
    if game.over or early:
        return []
    if game.board.is_repetition(3) or game.sides[not color].offers_draw:
        return referee.end(game, Status.DRAW, None, now_ms)
    mine = game.sides[color]
    last_ply = mine.offered_draw_at_ply
    if game.plies < 2 or (last_ply is not None and game.plies - last_ply < _PLIES_BETWEEN_OFFERS):
        return []
    if game.cannot_win(not color):
        return referee.end(game, Status.INSUFFICIENT_MATERIAL_CLAIM, None, now_ms)
    mine.offers_draw, mine.offered_draw_at_ply = True, game.plies
    return [Said(f"{_name(color)} offers draw"), Changed()]


def draw_no(game: Game, color: chess.Color) -> list[Happening]:
    """Decline the opponent's offer or withdraw one's own; Lichess tells nobody by a state line (§1.5)."""
    if not any(side.offers_draw for side in game.sides.values()):
        return []
    declined = game.sides[not color].offers_draw
    game.sides[not color if declined else color].offers_draw = False
    return [Said(f"{_name(color)} declines draw" if declined else "Draw offer canceled")]


def takeback_yes(game: Game, color: chess.Color, now_ms: int) -> list[Happening]:
    """Propose, or grant the opponent's proposal: back to where the proposer is on move."""
    if game.over or game.plies < 2 or game.tournament_id:
        return []
    if game.sides[not color].proposes_takeback:
        return _take_back(game, 1 if game.turn == color else 2, now_ms)
    mine = game.sides[color]
    if mine.proposes_takeback or now_ms < mine.proposals_blocked_until_ms:
        return []
    mine.proposes_takeback = True
    return [Said("Takeback sent"), Changed()]


def takeback_no(game: Game, color: chess.Color, now_ms: int) -> list[Happening]:
    """Decline the opponent's proposal, which blocks them for declines² × 10 s, or withdraw one's own."""
    theirs, mine = game.sides[not color], game.sides[color]
    if theirs.proposes_takeback:
        theirs.proposes_takeback = False
        theirs.takebacks_declined += 1
        theirs.proposals_blocked_until_ms = now_ms + theirs.takebacks_declined**2 * 10_000
        return [Said("Takeback declined"), Changed()]
    if mine.proposes_takeback:
        mine.proposes_takeback = False
        return [Said("Takeback cancelled"), Changed()]
    return []


def _take_back(game: Game, plies: int, now_ms: int) -> list[Happening]:
    for _ in range(plies):
        _undo_ply(game, now_ms)
    for side in game.sides.values():
        side.proposes_takeback = side.offers_draw = False
    game.moved_at_ms = now_ms
    return [Said("Takeback accepted"), Undone(plies)]


def _undo_ply(game: Game, now_ms: int) -> None:
    """The side that was thinking gets its last recorded clock back, the other keeps what it has (§2.2)."""
    if game.clock is not None:
        game.clock = game.clock.take_back(now_ms, game.last_clock_cs(game.turn))
        game.clocks_cs.pop()
    game.board.pop()
    game.moves.pop()
    game.sans.pop()


def _name(color: chess.Color) -> str:
    return "White" if color else "Black"
