"""What the bot says: greeting, clock lines, answers to commands. Clock facts only while a game runs (fair play)."""

from collections.abc import Sequence

import chess

from bridge.rules.clock_text import clock_text
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset

MAX_CHARACTERS = 140
LINES_A_GAME = 12
RESERVED_LINES = 2
"""Kept back for the fall of a flag and the verdict."""
INTERVAL_MS = 2000

_LEAST_SHOWN_MS = 100
_MARKS_MS = (30_000, 10_000)
COMMANDS = ("!clock", "!gap", "!pool", "!rules", "!help")


def both_clocks(ledger: Ledger, elapsed_ms: int = 0) -> str:
    """`White 4:12 · Black 3:58`."""
    white_ms, black_ms = _clocks_ms(ledger, elapsed_ms)
    return f"White {clock_text(white_ms)} · Black {clock_text(black_ms)}"


def _clocks_ms(ledger: Ledger, elapsed_ms: int) -> tuple[int, int]:
    """White's and Black's clock now; a fall by local estimate is never said in chat (R12)."""
    clocks = [ledger.black_ms, ledger.white_ms]
    if ledger.outcome is None:
        read_ms = clocks[ledger.turn]
        clocks[ledger.turn] = max(min(read_ms, _LEAST_SHOWN_MS), read_ms - elapsed_ms)
    return clocks[chess.WHITE], clocks[chess.BLACK]


def pool_name(rules: Ruleset) -> str:
    """The pool's name as people write it; `custom` without one."""
    return rules.pool.replace("-", " ").title() if rules.pool else "custom"


def greeting(rules: Ruleset) -> list[str]:
    """Said once at the start: the pool and what it means, two lines."""
    prices = rules.dials.prices
    minutes, seconds = divmod(prices.base_ms // 1000, 60)
    base = f"{minutes}" if not seconds else f"{minutes}:{seconds:02}"
    economy = (rules.dials.economy or "custom").title()
    title = f"{pool_name(rules)} ({base}+{prices.increment_ms // 1000} {economy})"
    return [
        f"KiriChess, pool {title}: time is a resource. I keep both clocks; ask !clock or !help.",
        rules_line(rules),
    ]


def rules_line(rules: Ruleset) -> str:
    """The economy in one line."""
    prices = rules.dials.prices
    return (
        f"A move costs {_s(prices.toll_ms[chess.PAWN])}–{_s(prices.toll_ms[chess.QUEEN])} s; {_captures(rules)}; "
        f"a check moves {_s(prices.chip_ms)} s to the checker; repeats are free."
    )


def _captures(rules: Ruleset) -> str:
    prices = rules.dials.prices
    gain, loss = prices.gain_ms, prices.loss_ms
    if any(gain) and any(loss):
        return f"captures move {_s(gain[chess.PAWN])}–{_s(gain[chess.QUEEN])} s to the captor"
    if any(gain):
        return f"captures earn {_s(gain[chess.PAWN])}–{_s(gain[chess.QUEEN])} s"
    if any(loss):
        return f"a capture burns {_s(loss[chess.PAWN])}–{_s(loss[chess.QUEEN])} s of its victim"
    return "captures are free"


def _s(ms: int) -> str:
    return f"{ms / 1000:g}"


def marks_passed(ledger: Ledger, passed: set[tuple[chess.Color, int]]) -> list[tuple[chess.Color, int]]:
    """The marks (half, a quarter, 30 s, 10 s) a clock has newly fallen to or below; adds them to `passed`.

    Marks at or above half the base of a short pool are told once, as the lowest one passed.
    """
    news = []
    for side in chess.COLORS:
        reached = [mark for mark in _marks(ledger) if ledger.clock_ms(side) <= mark and (side, mark) not in passed]
        passed.update((side, mark) for mark in reached)
        if reached:
            news.append((side, reached[0]))
    return news


def marks_behind(ledger: Ledger) -> set[tuple[chess.Color, int]]:
    """The marks that have been passed at any counted ply: what a restart need not tell again."""
    white = min((row.white_ms for row in ledger.rows), default=ledger.white_ms)
    black = min((row.black_ms for row in ledger.rows), default=ledger.black_ms)
    lowest = {chess.WHITE: white, chess.BLACK: black}
    return {(side, mark) for side in chess.COLORS for mark in _marks(ledger) if lowest[side] <= mark}


def _marks(ledger: Ledger) -> list[int]:
    base_ms = ledger.setup.rules.dials.prices.base_ms
    return sorted({base_ms // 2, base_ms // 4, *(mark for mark in _MARKS_MS if mark < base_ms)})


def clock_line(ledger: Ledger, news: Sequence[tuple[chess.Color, int]]) -> str:
    """One line for all marks passed by one ply."""
    falls = " and ".join(f"{chess.COLOR_NAMES[side].title()} is below {clock_text(mark)}" for side, mark in news)
    return f"{falls}. KiriChess clocks: {both_clocks(ledger)}"


def gap_line(ledger: Ledger, elapsed_ms: int = 0) -> str:
    """Who is ahead on the clock, and by how much."""
    white_ms, black_ms = _clocks_ms(ledger, elapsed_ms)
    gap = white_ms - black_ms
    if gap == 0:
        return "Clock gap: none"
    return f"Clock gap: {'White' if gap > 0 else 'Black'} is {clock_text(abs(gap))} ahead"


def reply(command: str, ledger: Ledger, elapsed_ms: int = 0) -> str | None:
    """The answer to a command, None if it is none. Only clock facts: never lines, bills or evaluations.

    `elapsed_ms`: how long the running turn has lasted.
    """
    match command.strip().lower().split(maxsplit=1):
        case ["!clock", *_]:
            return f"KiriChess clocks: {both_clocks(ledger, elapsed_ms)}"
        case ["!gap", *_]:
            return gap_line(ledger, elapsed_ms)
        case ["!pool", *_]:
            return greeting(ledger.setup.rules)[0]
        case ["!rules", *_]:
            return rules_line(ledger.setup.rules)
        case ["!help", *_]:
            return f"I referee KiriChess here. Commands for my opponent: {' '.join(COMMANDS)}"
    return None


def flag_line(ledger: Ledger) -> str | None:
    """Said when a KiriChess flag has fallen for certain and the platform's game goes on."""
    outcome = ledger.outcome
    if outcome is None or outcome.flag is None:
        return None
    loser = chess.COLOR_NAMES[outcome.flag.side].title()
    forced = ", forced" if outcome.flag.forced else ""
    fallen = f"{loser}'s KiriChess flag has fallen ({outcome.flag.cause}{forced}): {outcome.result}."
    return f"{fallen} The board plays on as chess."
