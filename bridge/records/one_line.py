"""Verdicts in words (rules §8); in the language of `words`, a catalog, English without one."""

from gettext import NullTranslations
from typing import Final

import chess

from bridge.records.verdict_words import CAUSES, REASONS
from bridge.rules.clock_text import clock_text, decimal
from bridge.rules.endings import Flag, Outcome
from bridge.rules.verdict import Verdict

ENGLISH: Final = NullTranslations()


def one_line(verdict: Verdict, words: NullTranslations = ENGLISH) -> str:
    """The verdict in at most 140 characters and without links, fit for a chat."""
    outcome, pool = verdict.outcome, verdict.setup.rules.pool
    white, black = (decimal(clock_text(ms), words) for ms in (verdict.white_ms, verdict.black_ms))
    how = words.gettext("{reason} at ply {ply}").format(reason=reason_words(outcome, words), ply=verdict.plies)
    parts = [outcome.result, how, f"{white} v {black}", pool.title()[:40] if pool else words.gettext("Custom")]
    if not verdict.setup.rules.scored:
        parts.append(words.gettext("plain chess, not scored"))
    if not verdict.certain:
        parts.append(words.gettext("uncertain"))
    if not verdict.final:
        parts.append(words.gettext("provisional"))
    return " · ".join(parts)


def reason_words(outcome: Outcome, words: NullTranslations = ENGLISH) -> str:
    """How the game ended, in words."""
    if outcome.flag is None:
        return words.gettext(REASONS[outcome.reason])
    fallen = flag_words(outcome.flag, words)
    if outcome.winner is not None:
        return fallen
    return words.gettext("{fallen}; insufficient material to win").format(fallen=fallen)


def flag_words(flag: Flag, words: NullTranslations = ENGLISH) -> str:
    """Whose flag fell and by what."""
    cause = words.gettext(CAUSES[flag.cause])
    if flag.forced:
        cause = words.gettext("{cause}, forced").format(cause=cause)
    fell = {
        chess.WHITE: words.gettext("White's flag fell ({cause})"),
        chess.BLACK: words.gettext("Black's flag fell ({cause})"),
    }
    return fell[flag.side].format(cause=cause)


def seconds(milliseconds: int) -> str:
    """An amount in seconds, exact, without needless digits."""
    return f"{milliseconds / 1000:.3f}".rstrip("0").rstrip(".")


def signed(milliseconds: int) -> str:
    """An amount in seconds with its sign."""
    return f"{'−' if milliseconds < 0 else '+'}{seconds(abs(milliseconds))}"
