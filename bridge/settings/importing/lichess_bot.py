"""lichess-bot's configuration as ours. What its file leaves out counts as its program has it, where that differs."""

from pathlib import PurePath

from bridge.settings.importing.draft import Draft, Reference
from bridge.settings.importing.lichess_bot_offers import matchmaking
from bridge.settings.importing.terms import (
    ACCOUNT,
    CHALLENGE,
    ENGINE,
    PLAY,
    addresses,
    line,
    listed,
    modes,
    number,
    options,
    paths,
    run_there,
    time_controls,
    variants,
    waiting,
)
from bridge.settings.problems import Path

_NO = {
    ("rate_limiting_delay",): "would cost clock time after every move; a 429 is waited out when there is one",
    ("fake_think_time",): "the bot never pretends to think: time is what KiriChess is about",
    ("quit_after_all_games_finish",): "running games always get drain_s to finish; a second signal ends at once",
    ("engine", "homemade_options"): "a class of one's own gets `options` of `kind: python`",
    ("engine", "online_moves", "max_retries"): "a second try would be paid by our clock; the next source is asked",
    ("matchmaking", "challenge_decliner_file_name"): "declines are kept in the journal (challenge_filter)",
}


def lichess_bot(draft: Draft) -> None:
    """Fill the draft from a file of lichess-bot."""
    draft.put((*ACCOUNT, "platform"), "lichess")
    _account(draft)
    draft.put((*PLAY, "engine"), "main")
    _habits(draft)
    _challenge(draft)
    matchmaking(draft)
    _engine(draft)
    _pgn(draft)
    for path, reason in _NO.items():
        draft.note(path, reason)


def _account(draft: Draft) -> None:
    draft.move(("url",), (*ACCOUNT, "url"))
    draft.put((*ACCOUNT, "token"), Reference("LICHESS_TOKEN"), ("token",))
    if draft.peer.take("token") is not None:
        draft.tell(("token",), "is not copied: export it as LICHESS_TOKEN, or name a token_file (mode 0600)")


def _habits(draft: Draft) -> None:
    draft.put((*PLAY, "concurrency"), 1)
    number(draft, ("challenge", "concurrency"), (*PLAY, "concurrency"), 1, 200)
    draft.put((*PLAY, "move_overhead"), 1000)
    number(draft, ("move_overhead",), (*PLAY, "move_overhead"), 0, 60_000)
    draft.put((*PLAY, "abort_time"), 20)
    number(draft, ("abort_time",), (*PLAY, "abort_time"), 1, 3600)
    draft.peer.take("greeting")
    for key in draft.peer.table("greeting"):
        if key in ("hello", "goodbye", "hello_spectators", "goodbye_spectators"):
            line(draft, ("greeting", key), (*PLAY, "greeting", key))
        else:
            draft.tell(("greeting", key), "is no line that is said")
    for key in ("move_time", "checkin_period", "disconnect_time"):
        number(draft, ("correspondence", key), (*PLAY, "correspondence", key), 0 if key[0] == "d" else 1, 86_400)
    _ponder(draft, "correspondence", (*PLAY, "correspondence", "ponder"))
    number(draft, ("max_takebacks_accepted",), (*PLAY, "max_takebacks_accepted"), 0, 1000)


def _ponder(draft: Draft, section: str, to: Path) -> None:
    """Under either of its names there."""
    draft.move((section, "ponder"), to)
    if draft.peer.take(section, "uci_ponder") is not None and draft.peer.look(section, "ponder") is not True:
        draft.move((section, "uci_ponder"), to)


def _challenge(draft: Draft) -> None:
    here: Path = ("challenge",)
    for key, absent in (("accept_bot", False), ("max_increment", 180), ("max_simultaneous_games_per_user", 5)):
        draft.put((*CHALLENGE, key), absent)
    waiting(draft)
    for key in ("accept_bot", "only_bot", "sort_by", "preference", "bullet_requires_increment"):
        draft.move((*here, key), (*CHALLENGE, key))
    for key, most in (
        ("min_base", 86_400), ("max_base", 86_400), ("min_increment", 180), ("max_increment", 180),
        ("min_rating", 4000), ("max_rating", 4000), ("rating_difference", 4000),
        ("games_reserved_for_humans", 200), ("max_simultaneous_games_per_user", 200),
    ):  # fmt: skip
        number(draft, (*here, key), (*CHALLENGE, key), 0, most)
    number(draft, (*here, "min_days"), (*CHALLENGE, "min_days"), 1, 14)
    number(draft, (*here, "max_days"), (*CHALLENGE, "max_days"), 1, 14)
    modes(draft, (*here, "modes"), (*CHALLENGE, "modes"))
    variants(draft, (*here, "variants"), (*CHALLENGE, "variants"))
    time_controls(draft, (*here, "time_controls"), (*CHALLENGE, "time_controls"))
    for key in ("block_list", "allow_list"):
        names = [str(each) for each in listed(draft.peer.take("challenge", key))]
        if names:
            draft.put((*CHALLENGE, key), names, (*here, key))
    for key in ("online_block_list", "online_allow_list"):
        addresses(draft, (*here, key), (*CHALLENGE, key))
    recent = ("recent_bot_challenge_age", "max_recent_bot_challenges")
    if all(draft.peer.has("challenge", key) for key in recent):
        number(draft, (*here, recent[0]), (*CHALLENGE, recent[0]), 1, 31 * 86_400)
        number(draft, (*here, recent[1]), (*CHALLENGE, recent[1]), 0, 10_000)
    else:
        for key in recent:
            draft.note((*here, key), f"does nothing alone: {' and '.join(recent)} are one setting")
    if draft.peer.look("challenge", "only_bot") is True:
        draft.put((*CHALLENGE, "accept_bot"), True)


def _engine(draft: Draft) -> None:
    peer, here = draft.peer, ("engine",)
    folder, name = str(peer.take("engine", "dir") or "."), str(peer.take("engine", "name") or "engine_name")
    program, protocol = draft.program(PurePath(folder) / name), peer.take("engine", "protocol")
    if protocol == "homemade":
        draft.tell((*here, "protocol"), "homemade.py has another interface than `kind: python`; kiri plays instead")
        draft.put(ENGINE, {"kind": "kiri"})
        for key in ("uci_options", "xboard_options", "interpreter", "interpreter_options", "engine_options"):
            draft.note((*here, key), "is no option of the engine that plays instead")
    else:
        _program(draft, program, "xboard" if protocol == "xboard" else "uci")
    if protocol == "uci":
        _ponder(draft, "engine", (*ENGINE, "ponder"))
    else:
        draft.note((*here, "ponder"), "only UCI engines are asked to think in the opponent's time")
    draft.move((*here, "silence_stderr"), (*ENGINE, "silence_stderr"))
    draft.peer.take("engine", "working_dir")
    if draft.peer.take("engine", "debug") is True:
        draft.put(("engine_logs", "folder"), "engine-logs", (*here, "debug"))
    _draw_or_resign(draft)
    _lookups(draft)


def _program(draft: Draft, program: str, kind: str) -> None:
    peer, here = draft.peer, ("engine",)
    draft.put((*ENGINE, "kind"), kind, (*here, "protocol"))
    interpreter = peer.take("engine", "interpreter")
    before = [str(each) for each in listed(peer.take("engine", "interpreter_options"))]
    draft.put((*ENGINE, "path"), str(interpreter) if interpreter else program, (*here, "name"))
    own = peer.table("engine", "engine_options")
    peer.take("engine", "engine_options")
    args = [*before, program] if interpreter else []
    args += [f"--{key}={value}" for key, value in own.items() if value is not None]
    if args:
        draft.put((*ENGINE, "args"), args)
    other = "uci_options" if kind == "xboard" else "xboard_options"
    draft.note((*here, other), f"counts with the other protocol only, and this engine speaks {kind}")
    mine = f"{kind}_options"
    _go(draft, (*here, mine), kind)
    tables: dict[str, str] = {}
    for key, value in peer.table("engine", mine, "egtpath").items():
        if value is not None:
            tables[f"egtpath {key}"] = draft.there(str(value))
    for nested in ("go_commands", "egtpath"):
        peer.table("engine", mine).pop(nested, None)
    options(draft, (*here, mine), (*ENGINE, "options"))
    for key, path in tables.items():
        draft.put((*ENGINE, "options", key), path)
    run_there(draft, ENGINE, peer.look("engine", "working_dir"))


def _go(draft: Draft, source: tuple[str, ...], kind: str) -> None:
    for key, value in draft.peer.table(*source, "go_commands").items():
        at = (*source, "go_commands", key)
        if key == "nodes" and kind == "uci":
            number(draft, at, (*ENGINE, "nodes"), 1, 2**62)
        elif key in ("depth", "movetime"):
            number(draft, at, (*ENGINE, "go_commands", key), 1, 2**31)
        elif value is not None:
            draft.tell(at, "is no bound that an engine is given here")


def _draw_or_resign(draft: Draft) -> None:
    here, to = ("engine", "draw_or_resign"), (*PLAY, "draw_or_resign")
    if not draft.peer.table(*here):
        return
    draft.put((*to, "offer_draw_moves"), 5)
    for key in (
        *("resign_enabled", "offer_draw_enabled"),
        *("resign_for_egtb_minus_two", "offer_draw_for_egtb_zero"),
    ):
        draft.move((*here, key), (*to, key))
    for key, least, most in (
        ("resign_score", -100_000, 0), ("resign_moves", 1, 1000), ("offer_draw_score", 0, 100_000),
        ("offer_draw_moves", 1, 1000), ("offer_draw_pieces", 2, 32),
    ):  # fmt: skip
        number(draft, (*here, key), (*to, key), least, most)


def _lookups(draft: Draft) -> None:
    book, to = ("engine", "polyglot"), (*PLAY, "polyglot")
    if draft.peer.table(*book):
        draft.put((*to, "max_depth"), 8)
    for name, files in draft.peer.table(*book, "book").items():
        at = (*book, "book", name)
        if name not in ("standard", "chess960"):
            draft.note(at, "KiriChess is played in standard chess, chess960 and from a position")
        elif files is not None:
            draft.peer.take(*at)
            draft.put((*to, "book", name), [draft.there(str(each)) for each in listed(files)], at)
    for key in ("enabled", "selection", "normalization"):
        draft.move((*book, key), (*to, key))
    number(draft, (*book, "min_weight"), (*to, "min_weight"), 0, 65_535)
    number(draft, (*book, "max_depth"), (*to, "max_depth"), 1, 1000)
    for name, most in (("syzygy", 7), ("gaviota", 5)):
        table, there = ("engine", "lichess_bot_tbs", name), (*PLAY, "lichess_bot_tbs", name)
        for key in ("enabled", "move_quality"):
            draft.move((*table, key), (*there, key))
        paths(draft, (*table, "paths"), (*there, "paths"))
        number(draft, (*table, "max_pieces"), (*there, "max_pieces"), 2, most)
    key = "min_dtm_to_consider_as_wdl_1"
    number(draft, (*table, key), (*there, key), 1)
    _online(draft)


def _online(draft: Draft) -> None:
    here, to = ("engine", "online_moves"), (*PLAY, "online_moves")
    for key in ("max_out_of_book_moves", "max_depth"):
        number(draft, (*here, key), (*to, key), 1)
    for site, own in _SITES.items():
        at, there = (*here, site), (*to, site)
        for key in ("enabled", *own):
            draft.move((*at, key), (*there, key))
        for key in ("min_time", "max_time"):
            number(draft, (*at, key), (*there, key), 0, 10**9)
        if site == "online_egtb":
            number(draft, (*at, "max_pieces"), (*there, "max_pieces"), 2, 8)
            if draft.peer.take(*at, "source") == "chessdb":
                draft.tell((*at, "source"), "chessdb names scores, not outcomes, so what keeps one cannot be told")


_SITES = {
    "chessdb_book": ("move_quality", "min_depth"),
    "lichess_cloud_analysis": ("move_quality", "max_score_difference", "min_depth", "min_knodes"),
    "lichess_opening_explorer": ("source", "player_name", "sort", "min_games"),
    "online_egtb": ("move_quality",),
}


def _pgn(draft: Draft) -> None:
    folder = draft.peer.take("pgn_directory")
    if folder is not None:
        draft.put(("pgn", "folder"), draft.there(str(folder)), ("pgn_directory",))
    if draft.peer.has("pgn_directory"):
        draft.move(("pgn_file_grouping",), ("pgn", "group"))
    else:
        draft.note(("pgn_file_grouping",), "groups nothing without pgn_directory")
