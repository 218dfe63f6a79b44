"""More of `tests/data/flag_tactics.jsonl`, for what play and random endings seldom show.

    python -m tests.bench.make_flag_suite_rare >> tests/data/flag_tactics.jsonl

Judged as in `make_flag_suite`: by the ledger alone. A third occurrence that saves or spoils, en passant that flags, a
promotion that is taken as a queen, a flag that only draws.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence

import chess

from bridge.rules.pools import POOLS
from tests.bench.make_flag_suite import Case, Judged, judge, line, shuffle_back

SEED = 42
EACH = 12
TRIES = 60_000
Answer = tuple[list[str], list[str]]
"""The right moves, and the wrong ones."""


def ending(lot: random.Random, men: Sequence[str], turn: chess.Color | None = None) -> chess.Board | None:
    """The men by lot, pawns short of promoting; None where that is no position."""
    board = chess.Board(None)
    for man, square in zip(men, lot.sample(range(8, 56), len(men)), strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(man))
    board.turn = lot.choice(chess.COLORS) if turn is None else turn
    return board if board.is_valid() else None


def third(lot: random.Random) -> Case | None:
    """Here and back twice: the next move can bring the first position back for the third time."""
    board = ending(lot, ["K", "k", *lot.choice(("Qr", "Rq", "RRq", "Qrr", "QNr", "Rrn"))])
    there = shuffle_back(board, lot) if board is not None else None
    if board is None or there is None:
        return None
    last = chess.Move.from_uci(there[1])
    back = chess.Move(last.to_square, last.from_square).uci()
    return _case(lot, board.fen(), (*there, back, *there), not board.turn)


def en_passant(lot: random.Random) -> Case | None:
    """Black's pawn has just gone two squares past White's."""
    board = ending(lot, ["K", "k", *lot.choice(("R", "Nr", "Bn", "Rb"))], chess.BLACK)
    file = lot.randrange(7)
    if board is None or any(board.piece_at(chess.square(file + side, rank)) for side in (0, 1) for rank in (4, 5, 6)):
        return None
    board.set_piece_at(chess.square(file, 4), chess.Piece.from_symbol("P"))
    board.set_piece_at(chess.square(file + 1, 6), chess.Piece.from_symbol("p"))
    step = chess.Move(chess.square(file + 1, 6), chess.square(file + 1, 4))
    return _case(lot, board.fen(), (step.uci(),), chess.WHITE) if board.is_valid() and board.is_legal(step) else None


def promotion(lot: random.Random) -> Case | None:
    """A pawn that can promote, and a clock that its loss as a queen would empty, but that of no man on the board."""
    pool = lot.choice(("ratchet", "fulcrum", "anchor", "mainspring", "eclipse"))
    board = ending(lot, ["K", "k", "N", *lot.choice(("r", "rb", "q", "n"))], chess.WHITE)
    square = lot.randrange(48, 56)
    if board is None or board.piece_at(square):
        return None
    board.set_piece_at(square, chess.Piece.from_symbol("P"))
    queen_ms, knight_ms = (POOLS[pool].prices.loss_ms[piece] for piece in (chess.QUEEN, chess.KNIGHT))
    clock_ms = lot.randrange(knight_ms + 5_000, queen_ms)
    return Case(pool, board.fen(), (), clock_ms, 60_000) if board.is_valid() else None


def drawn_flag(lot: random.Random) -> Case | None:
    """A lone minor piece may draw on time, and not win."""
    board = ending(lot, ["K", "k", lot.choice("NB"), *lot.choice(("qp", "rp", "rr", "qr", "rn"))], chess.WHITE)
    return _case(lot, board.fen(), (), chess.WHITE) if board is not None else None


def _case(lot: random.Random, fen: str, moves: tuple[str, ...], mover: chess.Color) -> Case:
    own, other = lot.choice((900, 1_500, 3_900, 8_000, 16_000)), lot.choice((1_800, 4_500, 9_500, 18_000))
    white, black = (own, other) if mover else (other, own)
    return Case(lot.choice(sorted(POOLS)), fen, moves, white, black)


def _bad(judged: Judged) -> list[str]:
    return judged.losses + judged.exposed


def _of_reason(judged: Judged, reason: str) -> list[str]:
    return [uci for uci in judged.draws if judged.outcomes[uci].reason == reason]


def _escape(judged: Judged, saving: list[str]) -> Answer | None:
    if not saving or judged.wins or len(_bad(judged)) + len(saving) < len(judged.moves) or not _bad(judged):
        return None
    return saving, _bad(judged)


def third_answer(judged: Judged) -> Answer | None:
    drawn = _of_reason(judged, "threefold")
    return (judged.wins, drawn) if judged.wins and drawn else _escape(judged, drawn)


def en_passant_answer(judged: Judged) -> Answer | None:
    flags = [uci for uci in judged.wins if judged.outcomes[uci].reason == "flag"]
    taken = [uci for uci in flags if uci[0] != uci[2] and uci[1] == "5" and uci[3] == "6"]
    return (flags, []) if taken and flags == judged.wins == taken else None


def promotion_answer(judged: Judged) -> Answer | None:
    bad = [uci for uci in _bad(judged) if len(uci) == 5]
    return ([], _bad(judged)) if bad and not judged.wins and len(_bad(judged)) < len(judged.moves) else None


def drawn_answer(judged: Judged) -> Answer | None:
    return _escape(judged, _of_reason(judged, "flag_insufficient_material"))


FAMILIES: dict[str, tuple[Callable[[random.Random], Case | None], Callable[[Judged], Answer | None]]] = {
    "third occurrence": (third, third_answer),
    "en passant": (en_passant, en_passant_answer),
    "promotion": (promotion, promotion_answer),
    "flag that only draws": (drawn_flag, drawn_answer),
}


def main() -> None:
    """Print the lines."""
    for family, (make, answer) in FAMILIES.items():
        lot, have = random.Random(f"{SEED}/{family}"), Counter[str]()
        for _ in range(TRIES):
            case = make(lot)
            if case is None or (ledger := case.ledger()).outcome is not None:
                continue
            told = answer(judge(ledger))
            if told is None:
                continue
            have[family] += 1
            print(line(family, case, *told, "made"), flush=True)
            if have[family] >= EACH:
                break


if __name__ == "__main__":
    main()
