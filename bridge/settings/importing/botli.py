"""BotLi's configuration as ours."""

from math import ceil
from pathlib import PurePath

from bridge.decisions.pool_choice import parse_time_control
from bridge.settings.importing.draft import Draft, Reference
from bridge.settings.importing.terms import (
    ACCOUNT,
    CHALLENGE,
    MATCHMAKING,
    NO_VARIANT,
    PLAY,
    addresses,
    clocks,
    line,
    listed,
    modes,
    number,
    options,
    paths,
    run_there,
    time_controls,
    variants,
    whole,
)
from bridge.settings.problems import Path

_BOOKS_FIRST = "books come before all sites, since they cost no time"


def botli(draft: Draft) -> None:
    """Fill the draft from a file of BotLi."""
    draft.put((*ACCOUNT, "platform"), "lichess")
    draft.move(("url",), (*ACCOUNT, "url"))
    draft.put((*ACCOUNT, "token"), Reference("LICHESS_TOKEN"), ("token",))
    if draft.peer.take("token") is not None:
        draft.tell(("token",), "is not copied: export it as LICHESS_TOKEN, or name a token_file (mode 0600)")
    draft.put((*PLAY, "engine"), "standard")
    number(draft, ("challenge", "concurrency"), (*PLAY, "concurrency"), 1, 200)
    _engines(draft)
    _in_their_order(draft)
    for index, rule in enumerate(draft.choices):
        draft.put((*PLAY, "engines", str(index)), rule)
    _messages(draft)
    _endings(draft)
    _challenge(draft)
    _matchmaking(draft)
    _books(draft)
    _tables(draft)
    _online(draft)


def _engines(draft: Draft) -> None:
    names = list(draft.peer.table("engines"))
    if names and "standard" not in names:
        draft.put((*PLAY, "engine"), names[0])
    for name in names:
        here, to = ("engines", name), ("engines", name)
        if _OTHER_VARIANTS.intersection(name.split("_")):
            draft.note(here, NO_VARIANT)
            continue
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
        if name not in ("standard", *(names[:1] if "standard" not in names else ())):
            _choice(draft, name)


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
    for name in draft.peer.table(*here, "types"):
        _type(draft, ("matchmaking", "types", name), (*MATCHMAKING, "types", name))


def _type(draft: Draft, here: tuple[str, ...], to: Path) -> None:
    rated = draft.peer.take(*here, "rated") is not False
    draft.put((*to, "challenge_mode"), "rated" if rated else "casual", (*here, "rated"))
    draft.put((*to, "pairs"), True)
    variant = draft.peer.take(*here, "variant") or "standard"
    if variant not in ("standard", "chess960"):
        draft.tell((*here, "variant"), f"{variant}: {NO_VARIANT}; standard chess is offered")
        variant = "standard"
    draft.put((*to, "challenge_variant"), variant, (*here, "variant"))
    label = str(draft.peer.take(*here, "tc") or "")
    try:
        clock = parse_time_control(label)
    except ValueError:
        draft.tell((*here, "tc"), f"{label!r} is no time control, such as 3+1")
        return
    base, step = clock.initial_ms // 1000, clock.increment_ms // 1000
    if clocks(draft, (*here, "tc"), [base], [step], "rated" if rated else "casual"):
        draft.put((*to, "challenge_initial_time"), base, (*here, "tc"))
        draft.put((*to, "challenge_increment"), step)
    draft.move((*here, "weight"), (*to, "weight"))
    number(draft, (*here, "max_rating_diff"), (*to, "opponent_rating_difference"))
    number(draft, (*here, "min_rating_diff"), (*to, "min_rating_diff"))
    draft.put((*to, "target_rating_diff"), 0)
    number(draft, (*here, "target_rating_diff"), (*to, "target_rating_diff"), -4000)
    if draft.peer.look(*here, "target_rating_diff"):
        draft.tell((*here, "target_rating_diff"), "is a distance to either side there; here it is added to our rating")
    draft.note((*here, "multiplier"), "failures with one opponent double its own pause (back_off_minutes)")


def _books(draft: Draft) -> None:
    here, to = ("opening_books",), (*PLAY, "polyglot")
    draft.move((*here, "enabled"), (*to, "enabled"))
    draft.note((*here, "priority"), _BOOKS_FIRST)
    draft.note((*here, "read_learn"), "what a book has learnt is only printed there; no move goes by it")
    files = draft.peer.table("books")
    draft.peer.take("books")
    contexts = draft.peer.table(*here, "books")
    for context in contexts:
        if context not in ("standard", "chess960"):
            draft.note((*here, "books", context), "books are by variant (standard, chess960) or by pool")
    for context in filter(contexts.get, ("standard", "chess960")):
        at = (*here, "books", context)
        names = [str(each) for each in listed(draft.peer.take(*at, "names"))]
        found = [draft.there(str(files[name])) for name in names if files.get(name)]
        draft.put((*to, "book", context), found, (*at, "names"))
        for name in names:
            if not files.get(name):
                draft.tell((*at, "names"), f"{name} has no file under books:")
        if context == "chess960" and contexts.get("standard"):
            for key in _BOOK_HABITS:
                if draft.peer.take(*at, key) != draft.peer.look(*here, "books", "standard", key):
                    draft.tell((*at, key), "is one for all books here: that of standard counts")
            continue
        draft.move((*at, "selection"), (*to, "selection"))
        depth = whole(draft.peer.take(*at, "max_depth"), 1, 1000)
        if depth is not None:
            draft.put((*to, "max_depth"), ceil(depth / 2), (*at, "max_depth"))
        number(draft, (*at, "max_moves"), (*to, "max_moves"), 1, 1000)
        draft.move((*at, "allow_repetitions"), (*to, "allow_repetitions"))


_BOOK_HABITS = ("selection", "max_depth", "max_moves", "allow_repetitions")


def _tables(draft: Draft) -> None:
    for variant in draft.peer.table("syzygy"):
        at = ("syzygy", variant)
        if variant == "standard":
            _one_table(draft, at, (*PLAY, "lichess_bot_tbs", "syzygy"), 7)
        else:
            draft.note(at, NO_VARIANT)
    _one_table(draft, ("gaviota",), (*PLAY, "lichess_bot_tbs", "gaviota"), 5)


def _one_table(draft: Draft, here: tuple[str, ...], to: Path, most: int) -> None:
    draft.move((*here, "enabled"), (*to, "enabled"))
    paths(draft, (*here, "paths"), (*to, "paths"))
    number(draft, (*here, "max_pieces"), (*to, "max_pieces"), 2, most)
    instant = draft.peer.take(*here, "instant_play")
    if instant is not None:
        draft.put((*to, "move_quality"), "best" if instant else "suggest", (*here, "instant_play"))


def _online(draft: Draft) -> None:
    to = (*PLAY, "online_moves")
    for theirs, ours in _SITES.items():
        at, there = ("online_moves", theirs), (*to, ours)
        draft.move((*at, "enabled"), (*there, "enabled"))
        number(draft, (*at, "min_time"), (*there, "min_time"), 0, 10**6)
        seconds = whole(draft.peer.take(*at, "timeout"), 1, 60)
        if seconds is not None:
            draft.put((*there, "timeout_ms"), 1000 * seconds, (*at, "timeout"))
        if theirs == "online_egtb":
            continue
        draft.move((*at, "priority"), (*there, "priority"))
        for key in ("only_without_book", "allow_repetitions"):
            draft.move((*at, key), (*there, key))
        draft.note((*at, "use_for_variants"), NO_VARIANT)
        number(draft, (*at, "max_moves"), (*there, "max_moves"), 1, 1000)
        depth = whole(draft.peer.take(*at, "max_depth"), 1, 1000)
        if depth is not None:
            draft.put((*there, "max_depth"), ceil(depth / 2), (*at, "max_depth"))
    for theirs in ("lichess_cloud", "chessdb"):
        draft.move(("online_moves", theirs, "trust_eval"), (*to, _SITES[theirs], "trust_eval"))
    number(draft, ("online_moves", "lichess_cloud", "min_eval_depth"), (*to, "lichess_cloud_analysis", "min_depth"))
    best = draft.peer.take("online_moves", "chessdb", "best_move")
    if best is not None:
        draft.put(
            (*to, "chessdb_book", "move_quality"), "best" if best else "good", ("online_moves", "chessdb", "best_move")
        )
    _explorer(draft, (*to, "lichess_opening_explorer"))


def _explorer(draft: Draft, to: Path) -> None:
    here = ("online_moves", "opening_explorer")
    number(draft, (*here, "min_games"), (*to, "min_games"), 1, 10**6)
    player = draft.peer.take(*here, "player")
    if draft.peer.table(*here):
        draft.put((*to, "source"), "masters" if player == "masters" else "player", (*here, "player"))
    if player not in (None, "masters"):
        draft.put((*to, "player_name"), str(player))
    selection = draft.peer.take(*here, "selection")
    if selection is not None:
        draft.put((*to, "sort"), "performance" if selection == "performance" else "winrate", (*here, "selection"))
    draft.move((*here, "only_with_wins"), (*to, "only_with_wins"))
    draft.note((*here, "anti"), "a referee does not prepare against one person's past games")


_SITES = {
    "opening_explorer": "lichess_opening_explorer",
    "lichess_cloud": "lichess_cloud_analysis",
    "chessdb": "chessdb_book",
    "online_egtb": "online_egtb",
}
