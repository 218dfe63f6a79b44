"""What happened in a game, in the rules' own words (rules §8, English), from the data of its events."""

from collections.abc import Mapping

import chess

from bridge.rules.clock_text import clock_text

Data = Mapping[str, object]

_PIECES = {chess.piece_symbol(kind): chess.piece_name(kind) for kind in chess.PIECE_TYPES}


def move_text(data: Data) -> str:
    """`12. Nf3`, `12… Nf6`; empty before the first move."""
    fen, san = data.get("fen"), data.get("san")
    if not isinstance(fen, str) or not isinstance(san, str):
        return ""
    white = data.get("side") == "white"
    number = int(fen.split(" ")[5]) - (not white)
    return f"{number}{'.' if white else '…'} {san}"


def effects_text(data: Data) -> str:
    """What a ply did to both clocks and why: `knight taken: +10 s for White, −10 s for Black; toll 2 s`."""
    if "san" not in data:
        return ""
    if not data.get("counted"):
        return "after the KiriChess end, not counted"
    mover, other = ("White", "Black") if data.get("side") == "white" else ("Black", "White")
    words = [*_layers(data, mover, other)]
    if data.get("increment_ms"):
        words.append(f"increment {_s(data['increment_ms'])} s")
    return "; ".join(words)


def _layers(data: Data, mover: str, other: str) -> list[str]:
    if data.get("guarded"):
        return ["repetition guard: nothing is charged"]
    words = []
    capture = data.get("capture")
    if isinstance(capture, Mapping):
        words.append(f"{_PIECES.get(str(capture['piece']), 'piece')} taken: {_capture(capture, mover, other)}")
    if data.get("toll_ms"):
        words.append(f"toll {_s(data['toll_ms'])} s{' for castling' if str(data['san']).startswith('O-O') else ''}")
    if data.get("fee_ms"):
        words.append(f"promotion fee {_s(data['fee_ms'])} s")
    if data.get("chip_ms"):
        words.append(f"check chip {_s(data['chip_ms'])} s from {other}")
    return words


def _capture(capture: Data, mover: str, other: str) -> str:
    gains = [f"+{_s(capture['gain_ms'])} s for {mover}"] if capture["gain_ms"] else []
    losses = [f"−{_s(capture['loss_ms'])} s for {other}"] if capture["loss_ms"] else []
    return ", ".join(gains + losses) or "no time moves"


def _s(ms: object) -> str:
    return f"{ms / 1000:g}" if isinstance(ms, int) else "?"


def gap_text(white_ms: int, black_ms: int) -> str:
    """Who has more time, by how much."""
    gap = white_ms - black_ms
    return f"{'White' if gap > 0 else 'Black'} {clock_text(abs(gap))} ahead" if gap else "none"


def flag_text(data: Data) -> str:
    """A provisional flag (R12)."""
    return f"{str(data.get('side', '')).title()}'s flag fell (provisional): the platform's next reading decides"


def withdrawn_text(data: Data) -> str:
    """A provisional flag that was wrong."""
    left = data.get("left_ms")
    has = f" ({clock_text(left)} left)" if isinstance(left, int) else ""
    return f"{str(data.get('side', '')).title()}'s provisional flag is withdrawn{has}"


def changed_text(data: Data) -> str:
    """A verdict that differs from the one told before, and why."""
    previous = data.get("previous")
    was = f"{previous.get('result')} by {previous.get('reason')}" if isinstance(previous, Mapping) else "another"
    return f"{data.get('text')} (before: {was}; {data.get('cause')})"
