"""BotLi's configuration as ours, but for its books, tables and sites."""

from math import ceil
from pathlib import PurePath

from bridge.decisions.pool_choice import parse_time_control
from bridge.settings.importing.botli_lookups import lookups
from bridge.settings.importing.draft import Draft, Reference
from bridge.settings.importing.terms import (
    ACCOUNT,
    CHALLENGE,
    MATCHMAKING,
    NO_VARIANT,
    PLAY,
    addresses,
    bases,
    clocks,
    line,
    listed,
    modes,
    number,
    options,
    run_there,
    time_controls,
    variants,
    waiting,
    whole,
)
from bridge.settings.problems import Path


def botli(draft: Draft) -> None:
    """Fill the draft from a file of BotLi."""
    draft.put((*ACCOUNT, "platform"), "lichess")
    draft.move(("url",), (*ACCOUNT, "url"))
    draft.put((*ACCOUNT, "token"), Reference("LICHESS_TOKEN"), ("token",))
    if draft.peer.take("token") is not None:
        draft.tell(("token",), "is not copied: export it as LICHESS_TOKEN, or name a token_file (mode 0600)")
    _engines(draft)
    number(draft, ("challenge", "concurrency"), (*PLAY, "concurrency"), 1, 200)
    _in_their_order(draft)
    for index, rule in enumerate(draft.choices):
        draft.put((*PLAY, "engines", str(index)), rule)
    _messages(draft)
    _endings(draft)
    _challenge(draft)
    _matchmaking(draft)
    lookups(draft)


def _engines(draft: Draft) -> None:
    names = []
    for name in draft.peer.table("engines"):
        if _OTHER_VARIANTS.intersection(name.split("_")):
            draft.note(("engines", name), NO_VARIANT)
        else:
            names.append(name)
    usual = "standard" if "standard" in names else next(iter(names), "standard")
    draft.put((*PLAY, "engine"), usual)
    if not names:
        draft.tell(("engines",), "none of them plays chess; kiri plays instead")
        draft.put(("engines", usual, "kind"), "kiri")
    for name in names:
        _engine(draft, name)
        if name != usual:
            _choice(draft, name)


def _engine(draft: Draft, name: str) -> None:
    here = to = ("engines", name)
    folder = str(draft.peer.take(*here, "dir") or ".")
    program = str(draft.peer.take(*here, "name") or "engine_executable")
    draft.put((*to, "kind"), "uci")
    draft.put((*to, "path"), draft.program(PurePath(folder) / program), (*here, "name"))
    options(draft, (*here, "uci_options"), (*to, "options"))
    run_there(draft, to)
    number(draft, (*here, "limits", "nodes"), (*to, "nodes"), 1, 2**62)
    number(draft, (*here, "limits", "depth"), (*to, "go_commands", "depth"), 1, 2**31)
    seconds = draft.peer.take(*here, "limits", "time")
    if isinstance(seconds, int | float) and seconds > 0:
        draft.put((*to, "go_commands", "movetime"), max(1, round(1000 * seconds)), (*here, "limits", "time"))
    draft.move((*here, "ponder"), (*to, "ponder"))
    draft.move((*here, "silence_stderr"), (*to, "silence_stderr"))
    draft.note((*here, "move_overhead_multiplier"), "the overhead is measured (play.move_overhead is the least)")


def _choice(draft: Draft, name: str) -> None:
    """The games that an engine is for, from its name: `blitz_black_human`."""
    rule: dict[str, object] = {"engine": name}
    for part in name.removeprefix("standard_").split("_"):
        key = "time_control" if _is_clock(part) else _CONTEXTS.get(part)
        if key is None:
            draft.tell(
                ("engines", name), f"{part!r} chooses no engine here (play.engines); the engine is there, unused"
            )
            return
        rule[key] = True if key == "tournament" else part
    draft.choices.append(rule)


def _in_their_order(draft: Draft) -> None:
    """There chess960 outranks a clock, and that a speed, however much the names say beside; here only among equals."""

    def rank(rule: dict[str, object]) -> int:
        return next((at for at, key in enumerate(("variant", "time_control", "speed")) if key in rule), 3)

    rules = sorted(draft.choices, key=rank)
    draft.choices[:] = rules
    if any(rank(low) > rank(high) and len(low) > len(high) for low in rules for high in rules):
        draft.tell(
            ("engines",),
            "the rule that says most of a game counts here (play.engines); there chess960 comes before a clock, "
            "and a clock before a speed",
        )


_OTHER_VARIANTS = frozenset(
    {"variants", "antichess", "atomic", "crazyhouse", "horde", "kingofthehill", "racingkings", "3check"}
)


def _is_clock(label: str) -> bool:
    try:
        parse_time_control(label)
    except ValueError:
        return False
    return True


_CONTEXTS = {
    **dict.fromkeys(("bullet", "blitz", "rapid", "classical"), "speed"),
    "chess960": "variant",
    **dict.fromkeys(("white", "black"), "color"),
    **dict.fromkeys(("human", "bot"), "opponent"),
    **dict.fromkeys(("rated", "casual"), "mode"),
    "tournament": "tournament",
}


def _messages(draft: Draft) -> None:
    for theirs, ours in (
        ("greeting", "hello"),
        ("goodbye", "goodbye"),
        ("greeting_spectators", "hello_spectators"),
        ("goodbye_spectators", "goodbye_spectators"),
    ):
        line(draft, ("messages", theirs), (*PLAY, "greeting", ours))


def _endings(draft: Draft) -> None:
    to = (*PLAY, "draw_or_resign")
    for name in ("resign", "offer_draw"):
        draft.move((name, "enabled"), (*to, f"{name}_enabled"))
        least, most = (-100_000, 0) if name == "resign" else (0, 100_000)
        number(draft, (name, "score"), (*to, f"{name}_score"), least, most)
        number(draft, (name, "consecutive_moves"), (*to, f"{name}_moves"), 1, 1000)
        draft.move((name, "against_humans"), (*to, f"{name}_against_humans"))
        number(draft, (name, "min_rating"), (*to, f"{name}_min_rating"))
    if draft.peer.table("offer_draw"):
        draft.put((*to, "offer_draw_pieces"), 32)
    number(draft, ("offer_draw", "min_game_length"), (*to, "offer_draw_min_game_length"), 0, 1000)


def _challenge(draft: Draft) -> None:
    number(draft, ("challenge", "max_takebacks"), (*PLAY, "max_takebacks_accepted"), 0, 1000)
    waiting(draft)
    closed = [kind for kind in ("human", "bot") if _closed(draft, kind)]
    for theirs, ours in (("human", "humans"), ("bot", "bots")):
        here, to = ("challenge", theirs), (*CHALLENGE, ours)
        if theirs in closed:
            draft.peer.take(*here)
            continue
        draft.move((*here, "bullet_with_increment_only"), (*to, "bullet_requires_increment"))
        for key, our_key, most in (
            ("min_initial", "min_base", 86_400), ("max_initial", "max_base", 86_400),
            ("min_increment", "min_increment", 180), ("max_increment", "max_increment", 180),
        ):  # fmt: skip
            number(draft, (*here, key), (*to, our_key), 0, most)
        _duration(draft, (*here, "max_estimated_game_duration"), (*to, "max_estimated_game_duration"))
        variants(draft, (*here, "variants"), (*to, "variants"))
        time_controls(draft, (*here, "time_controls"), (*to, "time_controls"))
        modes(draft, (*here, "modes"), (*to, "modes"))
    if closed == ["human", "bot"]:
        draft.tell(("challenge",), "nobody could be accepted; people and bots are both let in")
    elif closed:
        draft.put((*CHALLENGE, "only_bot" if closed == ["human"] else "accept_bot"), closed == ["human"])
    for theirs, ours in (("whitelist", "whitelist"), ("blacklist", "block_list")):
        names = [str(each) for each in listed(draft.peer.take(theirs))]
        if names:
            draft.put((*CHALLENGE, ours), names, (theirs,))
    addresses(draft, ("online_blacklists",), (*CHALLENGE, "online_block_list"))


def _duration(draft: Draft, source: Path, to: Path) -> None:
    """There a game takes 1.33 times one side's base time (and 105 s for a second's increment), here both sides'."""
    number(draft, source, to, 0, 6_000)
    minutes = draft.at(to[:-1]).get("max_estimated_game_duration")
    if isinstance(minutes, int) and minutes:
        ours = ceil(minutes * 2 / 1.33)
        draft.put(to, ours, source)
        draft.tell(source, f"is what both sides have for 40 moves here, so that {minutes} minutes are {ours}")


def _closed(draft: Draft, kind: str) -> bool:
    """An empty list of variants or modes lets nobody of that kind in."""
    table = draft.peer.table("challenge", kind)
    return any(not table.get(key, [""]) for key in ("variants", "modes", "time_controls"))


def _matchmaking(draft: Draft) -> None:
    here = ("matchmaking",)
    if not draft.peer.table(*here):
        return
    draft.put((*MATCHMAKING, "allow_matchmaking"), False)
    draft.tell(here, "is switched on at BotLi's console; here by matchmaking.allow_matchmaking: true")
    draft.put((*MATCHMAKING, "include_challenge_block_list"), True)
    delay = whole(draft.peer.take(*here, "delay"), 1, 600_000)
    if delay is not None:
        draft.put((*MATCHMAKING, "challenge_timeout"), ceil(delay / 60), (*here, "delay"))
        if delay % 60:
            draft.tell((*here, "delay"), f"is in whole minutes here: {delay} s are {ceil(delay / 60)}")
    number(draft, (*here, "timeout"), (*MATCHMAKING, "timeout"), 1, 60)
    draft.move((*here, "selection"), (*MATCHMAKING, "selection"))
    # Kinds in turn are there by weight, not as they stand in the file.
    for name in sorted(draft.peer.table(*here, "types"), key=lambda name: -_weight(draft, name)):
        _type(draft, ("matchmaking", "types", name), (*MATCHMAKING, "types", name))


def _weight(draft: Draft, name: str) -> float:
    """As BotLi counts it: what is given, or the less the longer a game takes, by its own estimate."""
    here = ("matchmaking", "types", name)
    given = draft.peer.look(*here, "weight")
    if isinstance(given, int | float):
        return given
    try:
        clock = parse_time_control(str(draft.peer.look(*here, "tc")))
    except ValueError:
        return 0
    return 1 / (1.33 * max(clock.initial_ms / 1000, 3) + 104.77 * clock.increment_ms / 1000)


def _type(draft: Draft, here: tuple[str, ...], to: Path) -> None:
    rated = draft.peer.take(*here, "rated") is not False
    draft.put((*to, "challenge_mode"), "rated" if rated else "casual", (*here, "rated"))
    draft.put((*to, "pairs"), True)
    variant = draft.peer.take(*here, "variant") or "standard"
    if variant not in ("standard", "chess960"):
        draft.tell((*here, "variant"), f"{variant}: {NO_VARIANT}; standard chess is offered")
        variant = "standard"
    draft.put((*to, "challenge_variant"), variant, (*here, "variant"))
    _clock(draft, here, to, "rated" if rated else "casual")
    draft.move((*here, "weight"), (*to, "weight"))
    number(draft, (*here, "max_rating_diff"), (*to, "opponent_rating_difference"))
    number(draft, (*here, "min_rating_diff"), (*to, "min_rating_diff"))
    draft.put((*to, "target_rating_diff"), 0)
    number(draft, (*here, "target_rating_diff"), (*to, "target_rating_diff"), -4000)
    if draft.peer.look(*here, "target_rating_diff"):
        draft.tell((*here, "target_rating_diff"), "is a distance to either side there; here it is added to our rating")
    draft.note((*here, "multiplier"), "failures with one opponent double its own pause (back_off_minutes)")


def _clock(draft: Draft, here: tuple[str, ...], to: Path, mode: str) -> None:
    label = str(draft.peer.take(*here, "tc") or "")
    try:
        clock = parse_time_control(label)
    except ValueError:
        draft.tell((*here, "tc"), f"{label!r} is no time control, such as 3+1")
        return
    base, step = clock.initial_ms // 1000, clock.increment_ms // 1000
    if bases(draft, (*here, "tc"), [base]) and clocks(draft, (*here, "tc"), [base], [step], mode):
        draft.put((*to, "challenge_initial_time"), base, (*here, "tc"))
        draft.put((*to, "challenge_increment"), step)
