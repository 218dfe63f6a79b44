"""What both peers' values have to become before our file takes them: variants, clocks, lines, lists."""

from collections.abc import Iterable

from bridge.decisions.challenge_rules import SPEEDS
from bridge.decisions.chat_lines import MAX_CHARACTERS, without_links
from bridge.decisions.pool_choice import DEFAULT_BY_TIME_CONTROL, parse_time_control
from bridge.rules.snapshot import TimeControl
from bridge.settings.importing.draft import Draft
from bridge.settings.matchmaking import BASES_S
from bridge.settings.problems import Path

ACCOUNT: Path = ("accounts", "0")
PLAY: Path = (*ACCOUNT, "play")
CHALLENGE: Path = (*PLAY, "challenge")
MATCHMAKING: Path = (*PLAY, "matchmaking")
ENGINE: Path = ("engines", "main")
VARIANTS = ("standard", "chess960", "fromPosition")
NO_VARIANT = "KiriChess is played in standard chess, chess960 and from a position"
MANAGED_OPTIONS = ("UCI_Chess960", "UCI_Variant", "MultiPV", "Ponder", "UCI_AnalyseMode")
_POOL_CLOCKS = frozenset(map(parse_time_control, DEFAULT_BY_TIME_CONTROL))


def listed(value: object) -> list[object]:
    """A list; one value may stand for a list of one, and a blank for none."""
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def whole(value: object, least: int, most: int) -> int | None:
    """A whole number within bounds; None for what has no number (`.inf`: no bound)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value in (float("inf"), float("-inf")):
        return None
    return max(least, min(most, int(value)))


def number(draft: Draft, source: Path, to: Path, least: int = 0, most: int = 4000) -> None:
    """Take a number over, within the bounds that our key has; what is none, or beyond them, is told."""
    given = draft.peer.take(*map(str, source))
    value = whole(given, least, most)
    if value is not None:
        draft.put(to, value, source)
        if value != given:
            draft.tell(source, f"{given} cannot be set here; {value} stands")
    elif given is not None and not isinstance(given, float):
        draft.tell(source, f"{given!r} is no number; left out")


def variants(draft: Draft, source: Path, to: Path) -> None:
    """Take a list of variants over, as far as there are KiriChess games in them."""
    given = [str(each) for each in listed(draft.peer.take(*map(str, source)))]
    kept = [each for each in given if each in VARIANTS]
    for each in given:
        if each not in VARIANTS:
            draft.tell(source, f"{each}: {NO_VARIANT}")
    if given:
        draft.put(to, kept or ["standard"], source)


def modes(draft: Draft, source: Path, to: Path) -> None:
    """Take the modes over, and say so where KiriChess would never be played."""
    given = listed(draft.peer.look(*map(str, source)))
    draft.move(source, to)
    if given and "casual" not in given:
        draft.tell(source, "rated games are plain chess here; add casual, or no game will be KiriChess")


def time_controls(draft: Draft, source: Path, to: Path) -> None:
    """Take speeds and clocks over."""
    kept = []
    for each in map(str, listed(draft.peer.take(*map(str, source)))):
        if each in SPEEDS or _clock(each) is not None:
            kept.append(each)
        else:
            draft.tell(source, f"{each} is neither a speed nor minutes+seconds")
    if kept:
        draft.put(to, kept, source)


def waiting(draft: Draft) -> None:
    """Both have whoever comes while all slots are taken wait until one is free."""
    draft.put((*CHALLENGE, "max_queued"), 100)
    draft.put((*CHALLENGE, "queue_s"), 600)


def paths(draft: Draft, source: Path, to: Path) -> None:
    """Take a list of folders over."""
    given = [draft.there(str(each)) for each in listed(draft.peer.take(*map(str, source)))]
    if given:
        draft.put(to, given, source)


def line(draft: Draft, source: Path, to: Path) -> None:
    """Take a line of chat over, unless a server would not show it."""
    value = draft.peer.take(*map(str, source))
    if value is None:
        return
    if len(str(value)) > MAX_CHARACTERS:
        draft.tell(source, f"is longer than the {MAX_CHARACTERS} characters that a line of chat may have; left out")
    elif without_links(str(value)) != str(value):
        draft.tell(source, "holds a link, and none are said in chat; left out")
    else:
        draft.put(to, str(value), source)


def addresses(draft: Draft, source: Path, to: Path) -> None:
    """Take addresses of lists over; one without a scheme gets https."""
    kept = []
    for each in map(str, listed(draft.peer.take(*map(str, source)))):
        if each.startswith("http://"):
            draft.tell(source, f"{each}: lists are read by https only")
        else:
            kept.append(each if "://" in each else f"https://{each}")
    if kept:
        draft.put(to, kept, source)


def options(draft: Draft, source: Path, to: Path) -> None:
    """Take an engine's options over, without those that this program sets itself."""
    found = draft.peer.table(*map(str, source))
    draft.peer.take(*map(str, source))
    for name, value in found.items():
        at = (*source, name)
        if name in MANAGED_OPTIONS:
            draft.tell(at, "is set by this program for each game")
        elif isinstance(value, bool | int | float | str):
            draft.put((*to, name), value, at)
        elif value is not None:
            draft.tell(at, "an option is one value")


def run_there(draft: Draft, engine: Path, working_dir: object = None) -> None:
    """The folder that a program runs in: named, or the other bot's own, where an option's path counts from there."""
    table = draft.at((*engine, "options"))
    relative = any(isinstance(value, str) and "/" in value[1:] and value[0] not in "/~<" for value in table.values())
    if working_dir or relative:
        draft.put((*engine, "working_dir"), draft.there(str(working_dir or ".")))


def clocks(draft: Draft, source: Path, bases: Iterable[int], increments: Iterable[int], mode: str) -> bool:
    """Whether clocks can be offered at all: those of casual games must have a pool."""
    found = [TimeControl(1000 * base, 1000 * inc) for base in bases for inc in increments]
    if mode == "rated" or not found or _POOL_CLOCKS.intersection(found):
        return True
    draft.tell(source, "none of these clocks has a pool, so the pools' own are offered")
    return False


def bases(draft: Draft, source: Path, values: list[object]) -> list[int]:
    """The clocks to begin with that Lichess offers."""
    kept = []
    for value in values:
        if value in BASES_S:
            kept.append(int(str(value)))
        elif value is not None:
            draft.tell(source, f"Lichess offers no clock of {value} s")
    return kept


def _clock(value: str) -> TimeControl | None:
    try:
        return parse_time_control(value)
    except ValueError:
        return None
