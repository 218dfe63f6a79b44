"""The tags that our own PGN has beside the standard's: the rules, and what a PGN cannot tell otherwise.

`KiriPool` and `KiriRules` hold the dials (interfaces, "Verdict"). `KiriFirstMoves`, `free` or `timed`, stands where
the Site does not tell how the platform's clock treats first moves (rules §6); `KiriFinalThinkMs` is what the side to
move had thought when the game ended, as a record's `final_think_ms`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from bridge.records.game import is_lichess
from bridge.records.pgn_text import GameText, fault
from bridge.rules.pools import NAMED
from bridge.rules.snapshot import Setup

_FIRST_MOVES = {"free": True, "timed": False}


@dataclass(frozen=True, slots=True)
class OwnTags:
    """What they say; None where they say nothing."""

    rules: Mapping[str, object] | None
    free_first_moves: bool | None
    final_think_ms: int | None


def read_own_tags(text: GameText) -> OwnTags:
    """The tags of one game.

    Raises:
        RecordError: one of them cannot be read; says its line.
    """
    first, final = text.tags.get("KiriFirstMoves"), text.tags.get("KiriFinalThinkMs")
    if first is not None and first not in _FIRST_MOVES:
        raise fault(text.tag_lines["KiriFirstMoves"], f"KiriFirstMoves must be free or timed, not {first!r}")
    if final is not None and not re.fullmatch(r"[0-9]{1,12}", final):
        raise fault(text.tag_lines["KiriFinalThinkMs"], f"KiriFinalThinkMs must be whole milliseconds, not {final!r}")
    return OwnTags(
        rules=_rules(text),
        free_first_moves=None if first is None else _FIRST_MOVES[first],
        final_think_ms=None if final is None else int(final),
    )


def first_moves_tag(setup: Setup) -> str:
    """`KiriFirstMoves` of a game, empty where its site says the same."""
    return "" if setup.free_first_moves == is_lichess(setup.site) else "free" if setup.free_first_moves else "timed"


def _rules(text: GameText) -> Mapping[str, object] | None:
    """A pool's name that only its owner's configuration knows gives way to KiriRules."""
    pool, given = text.tags.get("KiriPool"), text.tags.get("KiriRules")
    if given is None:
        return {"pool": pool} if pool else None
    try:
        rules = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise fault(text.tag_lines["KiriRules"], f"KiriRules is not JSON: {error}") from error
    if not isinstance(rules, dict):
        raise fault(text.tag_lines["KiriRules"], "KiriRules must be a JSON object of dials")
    return {"pool": pool, **rules} if pool and pool.lower() in NAMED else rules
