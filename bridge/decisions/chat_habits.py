"""What the bot answers about its habits: draws, takebacks, what it plays, and how long it waits for a first move."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from gettext import NullTranslations

from bridge.decisions.draw import DrawTerms
from bridge.rules.clock_text import decimal


@dataclass(frozen=True, slots=True)
class Habits:
    """Of one game: the terms of draws as they hold against this opponent, and how many takebacks are granted.

    `controls`: the clocks of KiriChess, as Lichess shows them; `variants` as Lichess names them.
    """

    draw: DrawTerms = field(default_factory=DrawTerms)
    takebacks: int = 0
    variants: Sequence[str] = ()
    controls: Sequence[str] = ()


def draw_line(habits: Habits, words: NullTranslations) -> str:
    """When a draw is taken by scores."""
    draw = habits.draw
    if not draw.enabled:
        return words.gettext("I take no draws by scores, only by KiriChess.")
    text = words.gettext(
        "I take a draw where my last {moves} scores are within {score} of 0, "
        "from move {first} on, with at most {pieces} pieces."
    )
    score = decimal(f"{draw.score_cp / 100:g}", words)
    return text.format(moves=draw.moves, score=score, first=draw.min_moves + 1, pieces=draw.pieces)


def takeback_line(habits: Habits, used: int, words: NullTranslations) -> str:
    """How many moves may be taken back, and have been."""
    return words.gettext("Takebacks in this game: {used} of {most}").format(used=used, most=habits.takebacks)


def challenge_line(habits: Habits, words: NullTranslations) -> str:
    """What the bot can be challenged to."""
    text = words.gettext("KiriChess at {controls}; variants: {variants}")
    return text.format(controls=" ".join(habits.controls), variants=" ".join(habits.variants))


def wait_line(words: NullTranslations, *, granted: bool) -> str:
    """To whoever asks for more time before the first move."""
    if granted:
        return words.gettext("I wait another minute for the first move.")
    return words.gettext("I wait no longer for the first move.")
