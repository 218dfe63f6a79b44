"""Comments of the others' shipped files that would be false here; what a user wrote in another way is kept."""

from bridge.settings.problems import Path

_FALSE: dict[str, tuple[tuple[str, str], ...]] = {
    "delay": (("in seconds", "Minutes without a game before the next challenge."),),
    "timeout": (
        ("server has to respond", "Milliseconds it is waited for, and never more than a tenth of the time left."),
    ),
    "min_time": (("+10 seconds", "Seconds that our clock must have."),),
    "max_depth": (("alf move", "Moves of ours within which it is asked."),),
    "min_games": (("the position must", "Games that a move must have."),),
    "time": (("in seconds", "Milliseconds for a move, at most."),),
    "tc": (("initial_minutes", "Seconds to begin with."),),
    "max_estimated_game_duration": (("xpected duration", "Minutes that both sides have for 40 moves, at most."),),
    "lichess_bot_tbs": (("by lichess-bot", "Asked before the engine; a UCI engine is told of Syzygy's too."),),
    "rated": (("rated games", "casual or rated; rated games are plain chess."),),
    "target_rating_diff": (("istance to opponent", "Those nearest to our own rating and so much."),),
    "instant_play": (
        ("without engine", "best: played at once; suggest: the engine chooses among what keeps the outcome."),
    ),
    "best_move": (("single best", "The main line (best), one of the best moves (good), or any known one (all)."),),
    "names": (("names of books", "Files, tried in order."),),
    "name": (("Binary name", "The program."),),
    "player": (("masters", "Whose games: masters, lichess or player."),),
    "max_takebacks": (("a human", "Moves that the opponent may take back in one game, at most."),),
    "selection": (("performance", "What makes a move the best: winrate, games_played or performance."),),
    "protocol": (("homemade", "uci or xboard."),),
    "debug": (("startup", "All that passes between this program and its engines, by game."),),
    "challenge_variant": (("challenge.variants", "standard, chess960, or random: either."),),
    "rating_difference": (("Overrides", "How far it may be from our own, beside the two bounds."),),
    "min_dtm_to_consider_as_wdl_1": (("isable", "Plies to mate from which on the fifty moves may come first."),),
}
"""By the last part of a key: what makes a comment false, and what is true."""
_BRACES = ("braces will be removed", "Any other words in braces are said as they are written.")


def corrected(source: Path, comment: str) -> str:
    """The comment, with its `#`, as it is true of what the key has become."""
    for phrase, ours in (*_FALSE.get(str(source[-1]), ()), _BRACES):
        if phrase in comment:
            return f"# {ours}"
    return comment
