"""Which running game belongs on which TV channel (Lichess API §1.8). Pure."""

from collections.abc import Iterable

from bridge.arena.control import SPEEDS
from bridge.arena.game import Game

CHANNELS = ("best", "bot", "computer", "chess960", *SPEEDS[:-1])


def channels_of(game: Game) -> frozenset[str]:
    """Bots have a channel of their own and are kept out of the others."""
    if game.with_bot:
        return frozenset({"bot"})
    if game.variant == "chess960":
        return frozenset({"chess960"})
    return frozenset({"best", game.speed})


def on_channel(games: Iterable[Game], channel: str) -> list[Game]:
    """The channel's running games, strongest first, newest first among equals."""
    shown = [game for game in games if not game.over and channel in channels_of(game)]
    return sorted(shown, key=lambda game: (game.white.rating + game.black.rating, game.created_at_ms), reverse=True)


def pick(games: Iterable[Game], channel: str) -> Game | None:
    return next(iter(on_channel(games, channel)), None)
