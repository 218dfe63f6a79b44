"""What the bot says in a game: greeting, clocks, the fall of a flag; in the language of `words`, a catalog."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from gettext import NullTranslations
from typing import Final

import chess

from bridge.rules.clock_text import clock_text, decimal
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset

MAX_CHARACTERS = 140
_LINK: Final = re.compile(r"\b(?:\w+://|www\.|[\w-]+\.(?:com|dev|gg|io|net|org)\b)\S*", re.IGNORECASE)
_FIELD: Final = re.compile(r"\{(\w+)\}")
LINES_A_GAME = 12
RESERVED_LINES = 2
"""Kept back for the fall of a flag and the verdict."""
SPECTATORS_LINES = 3
"""Answers to those who watch: they cannot use up what the opponent's choice of rules would be told with."""
INTERVAL_MS = 2000
ENGLISH: Final = NullTranslations()


def without_links(text: str) -> str:
    """The line without addresses of pages: none are said in chat (fair play), wherever they come from."""
    return " ".join(_LINK.sub("", text).split()) if _LINK.search(text) else text


_LEAST_SHOWN_MS = 100
_MARKS_MS = (30_000, 10_000)


def _clock(ms: int, words: NullTranslations) -> str:
    return decimal(clock_text(ms), words)


def _s(ms: int, words: NullTranslations) -> str:
    return decimal(f"{ms / 1000:g}", words)


def both_clocks(ledger: Ledger, elapsed_ms: int = 0, words: NullTranslations = ENGLISH) -> str:
    """`White 4:12 · Black 3:58`."""
    white_ms, black_ms = _clocks_ms(ledger, elapsed_ms)
    text = words.gettext("White {white} · Black {black}")
    return text.format(white=_clock(white_ms, words), black=_clock(black_ms, words))


def _clocks_ms(ledger: Ledger, elapsed_ms: int) -> tuple[int, int]:
    """White's and Black's clock now; a fall by local estimate is never said in chat (R12)."""
    clocks = [ledger.black_ms, ledger.white_ms]
    if ledger.outcome is None:
        read_ms = clocks[ledger.turn]
        clocks[ledger.turn] = max(min(read_ms, _LEAST_SHOWN_MS), read_ms - elapsed_ms)
    return clocks[chess.WHITE], clocks[chess.BLACK]


def clocks_line(ledger: Ledger, elapsed_ms: int = 0, words: NullTranslations = ENGLISH) -> str:
    """Both clocks, named as KiriChess's."""
    clocks = both_clocks(ledger, elapsed_ms, words)
    return words.gettext("KiriChess clocks: {clocks}").format(clocks=clocks)


def pool_name(rules: Ruleset, words: NullTranslations = ENGLISH) -> str:
    """The pool's name as people write it; `custom game` without one, `plain chess` where it is not scored."""
    if not rules.scored:
        return words.gettext("plain chess")
    return rules.pool.replace("-", " ").title() if rules.pool else words.gettext("custom game")


def greeting(rules: Ruleset, safe: str | None = None, words: NullTranslations = ENGLISH) -> list[str]:
    """Said once at the start: the pool, what it means, and which platform clock is `safe` where this game's is not."""
    return [pool_line(rules, words), rules_line(rules, words), *([] if safe is None else [safe_line(safe, words)])]


def safe_line(safe: str, words: NullTranslations = ENGLISH) -> str:
    """Why a longer platform clock is better; `safe` as Lichess shows it."""
    text = words.gettext("Next time play {safe}: transfers lengthen games, and a shorter platform clock ends first.")
    return text.format(safe=safe)


def pool_line(rules: Ruleset, words: NullTranslations = ENGLISH) -> str:
    """The pool with its clock and economy, or that it is plain chess."""
    if not rules.scored:
        return words.gettext("This game is plain chess; I only note what KiriChess would say.")
    prices = rules.dials.prices
    minutes, seconds = divmod(prices.base_ms // 1000, 60)
    base = f"{minutes}" if not seconds else f"{minutes}:{seconds:02}"
    economy = (rules.dials.economy or "").title()
    title = f"{pool_name(rules, words)} ({base}+{prices.increment_ms // 1000} {economy}".strip() + ")"
    text = words.gettext("KiriChess, pool {title}: time is a resource. I keep both clocks; ask !clock or !help.")
    return text.format(title=title)


def rules_line(rules: Ruleset, words: NullTranslations = ENGLISH) -> str:
    """The economy in one line."""
    prices = rules.dials.prices
    text = words.gettext(
        "A move costs {low}–{high} s; {captures}; a check moves {chip} s to the checker; repeats are free."
    )
    return text.format(
        low=_s(prices.toll_ms[chess.PAWN], words),
        high=_s(prices.toll_ms[chess.QUEEN], words),
        captures=_captures(rules, words),
        chip=_s(prices.chip_ms, words),
    )


def _captures(rules: Ruleset, words: NullTranslations) -> str:
    prices = rules.dials.prices
    gain, loss = prices.gain_ms, prices.loss_ms
    if any(gain) and any(loss):
        text, table = words.gettext("captures move {low}–{high} s to the captor"), gain
    elif any(gain):
        text, table = words.gettext("captures earn {low}–{high} s"), gain
    elif any(loss):
        text, table = words.gettext("a capture burns {low}–{high} s of its victim"), loss
    else:
        return words.gettext("captures are free")
    return text.format(low=_s(table[chess.PAWN], words), high=_s(table[chess.QUEEN], words))


def marks_passed(ledger: Ledger, passed: set[tuple[chess.Color, int]]) -> list[tuple[chess.Color, int]]:
    """The marks (half, a quarter, 30 s, 10 s) a clock has newly fallen to or below; adds them to `passed`.

    Marks at or above half the base of a short pool are told once, as the lowest one passed.
    """
    news, marks = [], _marks(ledger.setup.rules.dials.prices.base_ms)
    for side in chess.COLORS:
        left_ms = ledger.clock_ms(side)
        reached = [mark for mark in marks if left_ms <= mark and (side, mark) not in passed]
        passed.update((side, mark) for mark in reached)
        if reached:
            news.append((side, reached[0]))
    return news


def marks_behind(ledger: Ledger) -> set[tuple[chess.Color, int]]:
    """The marks that have been passed at any counted ply: what a restart need not tell again."""
    white = min((row.white_ms for row in ledger.rows), default=ledger.white_ms)
    black = min((row.black_ms for row in ledger.rows), default=ledger.black_ms)
    lowest = {chess.WHITE: white, chess.BLACK: black}
    marks = _marks(ledger.setup.rules.dials.prices.base_ms)
    return {(side, mark) for side in chess.COLORS for mark in marks if lowest[side] <= mark}


@lru_cache(maxsize=64)
def _marks(base_ms: int) -> Sequence[int]:
    return sorted({base_ms // 2, base_ms // 4, *(mark for mark in _MARKS_MS if mark < base_ms)})


def clock_line(ledger: Ledger, news: Sequence[tuple[chess.Color, int]], words: NullTranslations = ENGLISH) -> str:
    """One line for all marks passed by one ply."""
    below = {
        chess.WHITE: words.gettext("White is below {mark}."),
        chess.BLACK: words.gettext("Black is below {mark}."),
    }
    falls = [below[side].format(mark=_clock(mark, words)) for side, mark in news]
    return " ".join([*falls, clocks_line(ledger, 0, words)])


def gap_line(ledger: Ledger, elapsed_ms: int = 0, words: NullTranslations = ENGLISH) -> str:
    """Who is ahead on the clock, and by how much."""
    white_ms, black_ms = _clocks_ms(ledger, elapsed_ms)
    gap = white_ms - black_ms
    if gap == 0:
        return words.gettext("Clock gap: none")
    ahead = {
        True: words.gettext("Clock gap: White is {gap} ahead"),
        False: words.gettext("Clock gap: Black is {gap} ahead"),
    }
    return ahead[gap > 0].format(gap=_clock(abs(gap), words))


def flag_line(ledger: Ledger, words: NullTranslations = ENGLISH) -> str | None:
    """Said when a KiriChess flag has fallen for certain and the platform's game goes on."""
    outcome = ledger.outcome
    if outcome is None or outcome.flag is None:
        return None
    flag = outcome.flag
    fell = {
        chess.WHITE: words.gettext("White’s flag fell ({cause})"),
        chess.BLACK: words.gettext("Black’s flag fell ({cause})"),
    }
    forced = {
        chess.WHITE: words.gettext("White’s flag fell ({cause}): a forced flagfall"),
        chess.BLACK: words.gettext("Black’s flag fell ({cause}): a forced flagfall"),
    }
    cause = {
        "thinking": words.gettext("thinking"),
        "toll": words.gettext("toll"),
        "capture": words.gettext("capture"),
        "chip": words.gettext("check chip"),
    }.get(flag.cause, flag.cause)
    fallen = (forced if flag.forced else fell)[flag.side].format(cause=cause)
    text = words.gettext("KiriChess: {fallen}, {result}. The board plays on as chess.")
    return text.format(fallen=fallen, result=outcome.result)


def filled(template: str, fields: Mapping[str, str]) -> str:
    """A line of the settings with its `{fields}` filled in; any other brace or field stays as it is written."""
    return _FIELD.sub(lambda found: fields.get(found[1], found[0]), template)[:MAX_CHARACTERS]
