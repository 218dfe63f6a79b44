"""What the events of a live game tell besides the fact itself, so that no reader has to replay the game."""

import chess

from bridge.interfaces import GameInfo
from bridge.records.verdict_json import effects_object
from bridge.rules.events import Agreed, Ended, Event, Moved, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.position import check_sign, to_fen, to_san
from bridge.rules.snapshot import Setup


def settled(setup: Setup) -> dict[str, object]:
    """What the start of a game tells of it that its setup has too."""
    control = setup.time_control
    return {
        "white": setup.white,
        "black": setup.black,
        "url": setup.site,
        "time_control": None
        if control is None
        else {"initial_ms": control.initial_ms, "increment_ms": control.increment_ms},
        "clock_source": setup.source,
        "precision_ms": setup.precision_ms,
    }


def about(info: GameInfo) -> dict[str, object]:
    """What it tells besides."""
    return {
        "white_title": info.white.title,
        "black_title": info.black.title,
        "rated": info.rated,
        "variant": info.variant,
    }


def take_in(ledger: Ledger, event: Event) -> dict[str, object]:
    """Apply an event; what it tells by itself: a move's SAN and where it stood, how many plies are left, how it ended.

    Raises:
        RecordError: `Ledger.apply`.
    """
    facts = _facts_before(ledger, event)
    ledger.apply(event)
    if isinstance(event, Moved):
        facts["san"] = f"{facts['san']}{check_sign(ledger.board)}"
    return facts


def _facts_before(ledger: Ledger, event: Event) -> dict[str, object]:
    match event:
        case Moved():
            return {
                "ply": len(ledger.moves) + 1,
                "side": chess.COLOR_NAMES[ledger.turn],
                "uci": event.uci,
                "san": to_san(ledger.board, ledger.read(event.uci)),
                "think_ms": event.think_ms,
            }
        case TakenBack():
            return {"plies": event.plies}
        case Agreed():
            return {"base_ms": event.rules.dials.prices.base_ms}
        case Ended():
            return {"status": event.status, "winner": None if event.winner is None else chess.COLOR_NAMES[event.winner]}
    return {}


def facts_after(ledger: Ledger) -> dict[str, object]:
    """Position, clocks in ms (None: unknown), whether the last ply counted (R8), and its effects if it did."""
    facts: dict[str, object] = {
        "white_ms": ledger.white_ms,
        "black_ms": ledger.black_ms,
        "platform_white_ms": ledger.left_ms[chess.WHITE],
        "platform_black_ms": ledger.left_ms[chess.BLACK],
        "fen": to_fen(ledger.board),
        "pool": ledger.setup.rules.pool,
        "scored": ledger.setup.rules.scored,
        "counted": ledger.plies == len(ledger.moves),
    }
    if ledger.rows and ledger.rows[-1].ply == len(ledger.moves):
        facts |= effects_object(ledger.rows[-1])
    return facts
