"""BotLi's books, tables and sites, as ours."""

from math import ceil

from bridge.settings.importing.draft import Draft
from bridge.settings.importing.terms import NO_VARIANT, PLAY, listed, number, paths, whole
from bridge.settings.problems import Path

_BOOKS_FIRST = "books come before all sites, since they cost no time"


def lookups(draft: Draft) -> None:
    """Fill in where moves are looked up before the engine is asked."""
    _books(draft)
    _tables(draft)
    _online(draft)


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
    to, more = (*PLAY, "online_moves"), list[str]()
    for theirs, ours in _SITES.items():
        at, there = ("online_moves", theirs), (*to, ours)
        draft.move((*at, "enabled"), (*there, "enabled"))
        seconds = whole(draft.peer.take(*at, "min_time"), 0, 10**6)
        if seconds is not None:
            draft.put((*there, "min_time"), seconds + _MORE_S, (*at, "min_time"))
            more.append(theirs)
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
    if more:
        said = f"is {_MORE_S} s more there in games without increment, as all pools are: in all games here"
        draft.tell(("online_moves", ", ".join(more), "min_time"), said)
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


_MORE_S = 10
_SITES = {
    "opening_explorer": "lichess_opening_explorer",
    "lichess_cloud": "lichess_cloud_analysis",
    "chessdb": "chessdb_book",
    "online_egtb": "online_egtb",
}
