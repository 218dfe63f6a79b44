"""Verdicts in words (rules §8, English)."""

import chess

from bridge.rules.clock_text import clock_text
from bridge.rules.endings import Flag, Outcome
from bridge.rules.verdict import Verdict

_WORDS = {
    "threefold": "threefold repetition",
    "fifty_moves": "fifty-move rule",
    "insufficient_material": "insufficient material",
    "agreement": "draw by agreement",
    "double_flag": "both flags fell",
    "platform_timeout": "flag fell on the platform",
}


def one_line(verdict: Verdict) -> str:
    """The verdict in at most 140 characters and without links, fit for a chat."""
    outcome = verdict.outcome
    clocks = f"{clock_text(verdict.white_ms)} v {clock_text(verdict.black_ms)}"
    pool = verdict.setup.rules.pool or "custom"
    parts = [outcome.result, f"{reason_words(outcome)} at ply {verdict.plies}", clocks, pool.title()[:40]]
    if not verdict.certain:
        parts.append("uncertain")
    if not verdict.final:
        parts.append("provisional")
    return " · ".join(parts)


def reason_words(outcome: Outcome) -> str:
    """How the game ended, in words."""
    if outcome.flag is not None:
        drawn = "; insufficient material to win" if outcome.winner is None else ""
        return f"{flag_words(outcome.flag)}{drawn}"
    return _WORDS.get(outcome.reason, outcome.reason)


def flag_words(flag: Flag) -> str:
    """Whose flag fell and by what."""
    forced = ", forced" if flag.forced else ""
    return f"{chess.COLOR_NAMES[flag.side].title()}'s flag fell ({flag.cause}{forced})"


def seconds(milliseconds: int) -> str:
    """An amount in seconds, exact, without needless digits."""
    return f"{milliseconds / 1000:.3f}".rstrip("0").rstrip(".")


def signed(milliseconds: int) -> str:
    """An amount in seconds with its sign."""
    return f"{'−' if milliseconds < 0 else '+'}{seconds(abs(milliseconds))}"
