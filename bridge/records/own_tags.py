"""The tags that our own PGN has beside the standard's: the rules, and what a PGN cannot tell otherwise.

`KiriPool` and `KiriRules` hold the dials (interfaces, "Verdict"). `KiriClocks` is the source of the clocks and the
error of a reading in milliseconds (rules §6): `stream 10`, or `none`. `KiriFirstMoves`, `free` or `timed`, stands where
the Site does not tell how the platform's clock treats first moves; `KiriBerserk` names the sides that berserked (R3).
`KiriStatus` is the platform's ending in Lichess's word, which `Termination` has no word for, and `recordEnd` where
nothing is known of it; `KiriFinalThinkMs` what the side to move had thought by then, as a record's `final_think_ms`.
`KiriScored`, `no`: it was played as plain chess, and what KiriChess makes of it is only noted.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import chess

from bridge.records.game import is_lichess
from bridge.records.pgn_text import GameText, fault
from bridge.rules.pools import NAMED
from bridge.rules.snapshot import Setup

_FIRST_MOVES = {"free": True, "timed": False}
_BERSERK = {"white": {chess.WHITE}, "black": {chess.BLACK}, "white black": {chess.WHITE, chess.BLACK}}
_FORMS = {
    "KiriFirstMoves": (r"free|timed", "free or timed"),
    "KiriFinalThinkMs": (r"[0-9]{1,12}", "whole milliseconds"),
    "KiriClocks": (
        r"none|(think|clocks|clk|export|stream|spectator) [0-9]{1,6}",
        "none, or a source and its error in milliseconds",
    ),
    "KiriBerserk": ("|".join(_BERSERK), "white, black or both"),
    "KiriScored": (r"no", "no, or left out"),
    "KiriStatus": (r"[A-Za-z]{1,40}", "a status as Lichess names it"),
}


@dataclass(frozen=True, slots=True)
class OwnTags:
    """What they say; None where they say nothing. `clocks`: the source, and the error of a reading."""

    rules: Mapping[str, object] | None
    free_first_moves: bool | None
    final_think_ms: int | None
    clocks: tuple[str, int | None] | None
    berserk: frozenset[chess.Color]
    status: str | None
    scored: bool


def read_own_tags(text: GameText) -> OwnTags:
    """The tags of one game.

    Raises:
        RecordError: one of them cannot be read; says its line.
    """
    given = {name: value for name, value in text.tags.items() if name in _FORMS}
    for name, value in given.items():
        form, told = _FORMS[name]
        if not re.fullmatch(form, value):
            raise fault(text.tag_lines[name], f"{name} must be {told}, not {value!r}")
    final = given.get("KiriFinalThinkMs")
    return OwnTags(
        rules=_rules(text),
        free_first_moves=_FIRST_MOVES.get(given.get("KiriFirstMoves", "")),
        final_think_ms=None if final is None else int(final),
        clocks=_clocks(given.get("KiriClocks")),
        berserk=frozenset(_BERSERK.get(given.get("KiriBerserk", ""), ())),
        status=given.get("KiriStatus"),
        scored="KiriScored" not in given,
    )


def _clocks(given: str | None) -> tuple[str, int | None] | None:
    if given is None:
        return None
    source, _, error_ms = given.partition(" ")
    return source, int(error_ms) if error_ms else None


def clocks_tag(setup: Setup) -> str:
    """`KiriClocks` of a game."""
    return setup.source if setup.precision_ms is None else f"{setup.source} {setup.precision_ms}"


def berserk_tag(sides: Collection[chess.Color]) -> str:
    """`KiriBerserk` of a game, empty where nobody did."""
    return " ".join(chess.COLOR_NAMES[side] for side in (chess.WHITE, chess.BLACK) if side in sides)


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
