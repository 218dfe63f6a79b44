"""`[%keff …]`: in a PGN of ours, what a counted ply did to the KiriChess clocks, layer by layer as rules §1 books it.

    keff    = ( "guard" | [capture] toll [fee] [chip] ) [increment]
    capture = "capture=" piece ":" amounts      piece: p n b r q
    toll    = "toll:" amounts, and so "fee:", "chip:" and "increment:"
    amounts = mover "/" opponent                milliseconds with their sign, or 0

`[%keff capture=n:+10000/-10000 toll:-2000/0 chip:+2000/-2000]`; a single blank, or the end of a line, stands between
layers. Thinking time is none of it: `[%clk]` and `[%kclk]` tell that.
"""

import re
from collections.abc import Sequence

import chess

from bridge.rules.effects import Effects
from bridge.rules.snapshot import Anomaly
from bridge.rules.verdict import Verdict

_KEFF = re.compile(r"\[%keff\b([^\]]*)\]")


def effects_text(effects: Effects, increment_ms: int) -> str:
    """What stands between `[%keff ` and `]`."""
    layers = []
    if effects.captured is not None:
        piece = chess.piece_symbol(effects.captured)
        layers.append(f"capture={piece}:{_amounts(effects.gain_ms, -effects.loss_ms)}")
    layers.append("guard" if effects.guarded else f"toll:{_amounts(-effects.toll_ms)}")
    if effects.fee_ms:
        layers.append(f"fee:{_amounts(-effects.fee_ms)}")
    if effects.chip_ms:
        layers.append(f"chip:{_amounts(effects.chip_ms, -effects.chip_ms)}")
    if increment_ms:
        layers.append(f"increment:{_amounts(increment_ms)}")
    return " ".join(layers)


def _amounts(mover_ms: int, opponent_ms: int = 0) -> str:
    return "/".join(f"{amount:+}" if amount else "0" for amount in (mover_ms, opponent_ms))


def told_effects(comment: str) -> str | None:
    """The effects that a comment tells; None where it tells none."""
    found = _KEFF.search(comment) if "[%keff" in comment else None
    return " ".join(found[1].split()) if found else None


def misfit(told: Sequence[str | None], verdict: Verdict) -> Anomaly | None:
    """The first of the effects told by ply that are not those of the verdict's ledger."""
    given = {row.ply: effects_text(row.effects, row.increment_ms) for row in verdict.rows}
    for ply, text in enumerate(told, 1):
        if text is not None and text != given.get(ply):
            note = f"[%keff] says {text!r}, the moves give {given.get(ply, 'none: the ply does not count')!r}"
            return Anomaly("effects_mismatch", ply, note)
    return None
