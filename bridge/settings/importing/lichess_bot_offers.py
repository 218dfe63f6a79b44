"""What lichess-bot offers to other bots, as ours: the usual kind of game and its overrides."""

from bridge.settings.importing.draft import Draft
from bridge.settings.importing.terms import MATCHMAKING, addresses, bases, clocks, listed, number, whole
from bridge.settings.problems import Path

_USUAL = "usual"
"""The kind that the keys beside the overrides describe, where it needs a name."""
_CLOCK = frozenset({"challenge_initial_time", "challenge_increment"})


def matchmaking(draft: Draft) -> None:
    """Fill in whom and to what the account challenges."""
    here = ("matchmaking",)
    if not draft.peer.table(*here):
        return
    draft.move((*here, "delay_after_decline"), (*MATCHMAKING, "challenge_filter"))
    for key in ("allow_matchmaking", "allow_during_games", "challenge_filter", "include_challenge_block_list"):
        draft.move((*here, key), (*MATCHMAKING, key))
    number(draft, (*here, "challenge_timeout"), (*MATCHMAKING, "challenge_timeout"), 1, 10_080)
    draft.put((*MATCHMAKING, "challenge_variant"), _any_variant(draft))
    # It challenges nobody who has played no such game yet.
    draft.put((*MATCHMAKING, "min_games"), 1)
    _kinds(draft, here)
    names = [str(each) for each in listed(draft.peer.take("matchmaking", "block_list"))]
    if names:
        draft.put((*MATCHMAKING, "block_list"), names, (*here, "block_list"))
    addresses(draft, (*here, "online_block_list"), (*MATCHMAKING, "online_block_list"))


def _kinds(draft: Draft, here: tuple[str, ...]) -> None:
    """What is offered. There an override's blank key takes back the usual one; ours cannot, so then each says all."""
    usual = draft.peer.table(*here)
    named = {name: draft.peer.table(*here, "overrides", name) for name in draft.peer.table(*here, "overrides")}
    overrides = {name: table for name, table in named.items() if table}
    if any(usual.get(key) is not None for table in overrides.values() for key in table if table[key] is None):
        alone, to = True, (*MATCHMAKING, "types")
        mode = _kind(draft, here, (*to, _USUAL), "random")
    else:
        alone, to = False, (*MATCHMAKING, "overrides")
        mode = _kind(draft, here, MATCHMAKING, "random")
    for name, table in overrides.items():
        at = (*here, "overrides", name)
        if (
            table.get("challenge_days")
            and not table.get("challenge_initial_time")
            and _mode(draft, at, mode) == "casual"
        ):
            draft.note(at, "KiriChess needs a clock: correspondence is offered rated only")
        else:
            _kind(draft, at, (*to, name), mode, here, whole_of_it=alone)
    if overrides:
        # Each is as likely as the others there.
        draft.put((*to, _USUAL, "weight") if alone else (*MATCHMAKING, "weight"), 1)


def _mode(draft: Draft, source: tuple[str, ...], usual: str) -> str:
    return str(draft.peer.take(*source, "challenge_mode") or usual)


def _kind(
    draft: Draft,
    own: tuple[str, ...],
    to: Path,
    usual_mode: str,
    usual: tuple[str, ...] = (),
    *,
    whole_of_it: bool = False,
) -> str:
    """One kind of games to offer; gives its mode. What it leaves out stands under `usual`, and is said if it is to be
    `whole_of_it`."""
    table = draft.peer.table(*own)
    # A clock is said whole or not at all.
    said = _CLOCK if table.keys() & _CLOCK else frozenset()

    def of(key: str) -> tuple[str, ...]:
        return (*usual, key) if usual and key not in table and (whole_of_it or key in said) else (*own, key)

    mode = _mode(draft, own, usual_mode)
    draft.put((*to, "challenge_mode"), mode, (*own, "challenge_mode"))
    variant = draft.peer.take(*of("challenge_variant"))
    if variant == "random":
        variant = _any_variant(draft)
    if variant in ("standard", "chess960", "random"):
        draft.put((*to, "challenge_variant"), variant, of("challenge_variant"))
    elif variant is not None:
        draft.tell(of("challenge_variant"), f"{variant} is not played here; standard chess is offered instead")
        draft.put((*to, "challenge_variant"), "standard")
    times, steps = of("challenge_initial_time"), of("challenge_increment")
    begin = bases(draft, times, listed(draft.peer.take(*times)))
    given = (whole(each, 0, 60) for each in listed(draft.peer.take(*steps)))
    added = [each for each in given if each is not None]
    if begin and clocks(draft, times, begin, added or [0], mode):
        draft.put((*to, "challenge_initial_time"), begin, times)
        draft.put((*to, "challenge_increment"), added or [0], steps)
    days = listed(draft.peer.take(*of("challenge_days")))
    if days and mode == "rated":
        draft.put((*to, "challenge_days"), days, of("challenge_days"))
    elif days:
        draft.tell(of("challenge_days"), "KiriChess needs a clock: correspondence is offered rated only")
    for key in ("opponent_min_rating", "opponent_max_rating", "opponent_rating_difference"):
        number(draft, of(key), (*to, key))
    draft.move(of("rating_preference"), (*to, "rating_preference"))
    return mode


def _any_variant(draft: Draft) -> str:
    """One of those that challenges may be of, as far as they are offered here."""
    given = listed(draft.peer.look("challenge", "variants"))
    offered = [variant for variant in ("standard", "chess960") if variant in given]
    return "random" if len(offered) == 2 else next(iter(offered), "standard")
