"""What the bot answers to commands. Clock facts only while a game runs: bills and evaluations wait for its end."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from gettext import NullTranslations
from typing import Final

from bridge.decisions.chat_habits import Habits, challenge_line, draw_line, takeback_line
from bridge.decisions.chat_lines import clocks_line, gap_line, pool_line, rules_line, safe_line
from bridge.rules.bills import conversion_bill, ending_name, stronger_side
from bridge.rules.clock_text import decimal
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset

COMMANDS: Final = (
    *("!help", "!clock", "!gap", "!pool", "!rules", "!name"),
    *("!engine", "!ping", "!queue", "!standard", "!lang"),
)
QUIET: Final = ("!wait", "!draw", "!takeback", "!challenge")
"""Those of other bots, answered though no list names them."""
ALIASES: Final = {"!commands": "!help", "!motor": "!engine", "!variants": "!challenge"}
AFTER: Final = ("!bill", "!eval")
"""Answered once the platform's game is over."""
_KINDS: Final = {"uci": "UCI", "xboard": "XBoard", "python": "Python"}
_MOST_OF_A_NAME: Final = 80


@dataclass(frozen=True, slots=True)
class Facts:
    """What answers are made of. `elapsed_ms`: how long the running turn has lasted; `ping_ms` None: not measured.

    `engine_kind` as the settings have it, `engine` the name of its program or class; `evaluation` from White's side.
    """

    ledger: Ledger
    elapsed_ms: int = 0
    me: str = ""
    engine_kind: str = ""
    engine: str = ""
    ping_ms: int | None = None
    queued: int = 0
    evaluation: str = ""
    habits: Habits = field(default_factory=Habits)


def command_of(text: str) -> tuple[str, str] | None:
    """The command and its argument in small letters, None where a line holds none."""
    match text.strip().lower().split(maxsplit=1):
        case [written, *rest] if (command := ALIASES.get(written, written)) in (*COMMANDS, *QUIET, *AFTER):
            return command, rest[0].strip() if rest else ""
    return None


def reply(text: str, facts: Facts, words: NullTranslations) -> str | None:
    """The answer to a command that changes nothing; None: it is none, or one of the few that do."""
    found = command_of(text)
    if found is None:
        return None
    command, argument = found
    if command in AFTER:
        return _after(command, facts, words)
    answer = _ANSWERS.get(command)
    return None if answer is None or (command == "!pool" and argument) else answer(facts, words)


def _after(command: str, facts: Facts, words: NullTranslations) -> str:
    if facts.ledger.platform is None:
        return words.gettext("I answer {command} after the game.").format(command=command)
    if command == "!eval":
        known = words.gettext("My last evaluation, from White’s side: {evaluation}")
        told = known.format(evaluation=decimal(facts.evaluation, words))
        return told if facts.evaluation else words.gettext("I have no evaluation.")
    return _bill(facts.ledger, words)


def _bill(ledger: Ledger, words: NullTranslations) -> str:
    winner = stronger_side(ledger.board, ledger.setup.rules.dials)
    bill = None if winner is None else conversion_bill(ledger.board, winner)
    if winner is None or bill is None:
        return words.gettext("No priced ending is on the board.")
    text = words.gettext(
        "{ending} costs about {bill} s in {moves} moves; the clock must hold {needed} s and holds {clock} s."
    )
    return text.format(
        ending=ending_name(ledger.board, winner),
        bill=bill.seconds,
        moves=bill.moves,
        needed=bill.seconds - bill.last_toll_s,
        clock=decimal(f"{ledger.clock_ms(winner) / 1000:g}", words),
    )


def _help(facts: Facts, words: NullTranslations) -> str:
    commands = (*COMMANDS, *(AFTER if facts.ledger.platform is not None else ()))
    return words.gettext("I referee KiriChess. Commands: {commands}").format(commands=" ".join(commands))


def engine_text(facts: Facts, words: NullTranslations) -> str:
    """What plays: the kind of engine, and the name of its program."""
    name = "".join(filter(str.isprintable, facts.engine))[:_MOST_OF_A_NAME]
    match facts.engine_kind:
        case "kiri" if name:
            return words.gettext("KiriChess layer over {program}").format(program=name)
        case "kiri":
            return words.gettext("KiriChess’s own search")
        case "random":
            return words.gettext("legal moves by lot")
        case "uci" | "xboard" | "python" as kind:
            return f"{name} ({_KINDS[kind]})"
    return name


def _ping(facts: Facts, words: NullTranslations) -> str:
    if facts.ping_ms is None:
        return words.gettext("I have not measured the server yet.")
    return words.gettext("The server answers my moves within {ms} ms.").format(ms=facts.ping_ms)


class Bar(Enum):
    """Why somebody cannot choose the rules."""

    NOT_THE_OPPONENT = auto()
    SPECTATORS_ROOM = auto()
    TOO_LATE = auto()
    OVER = auto()


def refusal(bar: Bar, words: NullTranslations) -> str:
    """To whoever may not, or no longer, choose the rules: the one condition that fails."""
    return {
        Bar.NOT_THE_OPPONENT: words.gettext("Only my opponent chooses the rules."),
        Bar.SPECTATORS_ROOM: words.gettext("The rules are chosen in the players’ chat, where both players read it."),
        Bar.TOO_LATE: words.gettext("It is too late: the rules are chosen before move two."),
        Bar.OVER: words.gettext("It is too late: the game is over."),
    }[bar]


def unknown_pool(known: Iterable[str], words: NullTranslations) -> str:
    """To a pool that is not there."""
    return words.gettext("Pools: {pools}").format(pools=" ".join(known))


def chosen(rules: Ruleset, safe: str | None, words: NullTranslations) -> list[str]:
    """What is said when rules were chosen; `safe`: the safe platform clock where this game's is shorter."""
    return [pool_line(rules, words), *([safe_line(safe, words)] if safe is not None and rules.scored else [])]


def spoken(words: NullTranslations) -> str:
    """What is said in a language that was asked for."""
    return words.gettext("I speak English here now.")


_ANSWERS: Final[dict[str, Callable[[Facts, NullTranslations], str]]] = {
    "!help": _help,
    "!clock": lambda facts, words: clocks_line(facts.ledger, facts.elapsed_ms, words),
    "!gap": lambda facts, words: gap_line(facts.ledger, facts.elapsed_ms, words),
    "!pool": lambda facts, words: pool_line(facts.ledger.setup.rules, words),
    "!rules": lambda facts, words: rules_line(facts.ledger.setup.rules, words),
    "!name": lambda facts, words: words.gettext("I am {me}, a KiriChess bot.").format(me=facts.me),
    "!engine": lambda facts, words: words.gettext("My engine: {engine}").format(engine=engine_text(facts, words)),
    "!ping": _ping,
    "!draw": lambda facts, words: draw_line(facts.habits, words),
    "!takeback": lambda facts, words: takeback_line(facts.habits, facts.ledger.takebacks, words),
    "!challenge": lambda facts, words: challenge_line(facts.habits, words),
    "!queue": lambda facts, words: words.gettext("Challenges that wait: {count}").format(count=facts.queued),
}
