"""The referee: moves, endings and claims. Pure: time comes in as milliseconds, what happened goes out.

A refusal is `Rejected`; an empty answer means that Lichess would say 200 and do nothing (§1.4).
"""

import re

import chess

from bridge.arena.control import Correspondence
from bridge.arena.game import Game
from bridge.arena.happenings import Changed, Ended, Happening, Moved, Rejected, Said, Status

_UCI = re.compile(r"[a-h][1-8][a-h][1-8][qrbnk]?")
_LAST_PLY = 600
_TWO_HOURS_CS = 720_000
_COLOR = {chess.WHITE: "White", chess.BLACK: "Black"}


def move(game: Game, color: chess.Color, uci: str, now_ms: int, *, lag_cs: int = 0) -> list[Happening]:
    """A player's move; late ones flag their side and answer like any other (§1.4)."""
    if game.over or game.turn != color:
        _check_uci(uci)
        raise Rejected("Not your turn, or game already over")
    parsed = parse_move(game.board, uci)
    if game.clock.too_late(now_ms, lag_cs) if game.clock is not None else game.out_of_time(now_ms):
        return flag(game, now_ms)
    happened = _push(game, parsed)
    ending = _ending_by_move(game)
    if game.clock is not None:
        game.clock = game.clock.move(now_ms, ends_game=ending is not None, lag_cs=lag_cs)
        game.clocks_cs.append(game.clock.hand(color).remaining_cs)
        if game.plies >= 2 and ending is None:
            game.clock = game.clock.start(now_ms)
    game.moved_at_ms = now_ms
    game.sides[not color].offers_draw = False
    for side in game.sides.values():
        side.proposes_takeback = False
    return happened if ending is None else [*happened, *_end(game, ending, color if ending is Status.MATE else None)]


def settle(game: Game, now_ms: int) -> list[Happening]:
    """What follows a move by itself: a third repetition ends every game that a bot plays (§3.1)."""
    if game.over or not game.with_bot or not game.board.is_repetition(3):
        return []
    return end(game, Status.DRAW, None, now_ms)


def parse_move(board: chess.Board, uci: str) -> chess.Move:
    """Both castling spellings; a missing promotion letter means a queen."""
    _check_uci(uci)
    moved = board.piece_at(chess.parse_square(uci[:2]))
    last_rank = uci[3] in "18"
    spelled = f"{uci}q" if moved and moved.piece_type == chess.PAWN and last_rank and len(uci) == 4 else uci
    try:
        return board.parse_uci(spelled)
    except ValueError:
        if moved is None or moved.color != board.turn:
            raise Rejected(f"No piece on {uci[:2]}") from None
        raise Rejected(f"Piece on {uci[:2]} cannot move to {uci[2:4]}") from None


def _check_uci(uci: str) -> None:
    if not _UCI.fullmatch(uci):
        raise Rejected(f"Invalid UCI: {uci}")


def _push(game: Game, parsed: chess.Move) -> list[Happening]:
    uci = game.board.uci(parsed)
    game.sans.append(game.board.san_and_push(parsed))
    game.moves.append(uci)
    return [Moved(uci)]


def _ending_by_move(game: Game) -> Status | None:
    board = game.board
    if board.is_checkmate():
        return Status.MATE
    if board.is_stalemate():
        return Status.STALEMATE
    drawn = board.is_insufficient_material() or board.halfmove_clock >= 100 or board.is_fivefold_repetition()
    return Status.DRAW if drawn or game.plies > _LAST_PLY else None


def record(game: Game, uci: str, clock_cs: int | None, now_ms: int) -> list[Happening]:
    """A ply of a recorded game: its mover's clock is what the record says, endings are left to the record."""
    mover = game.turn
    happened = _push(game, parse_move(game.board, uci))
    if game.clock is not None:
        cs = game.clock.hand(mover).remaining_cs if clock_cs is None else clock_cs
        game.clock = game.clock.move(now_ms).read(mover, cs)
        game.clocks_cs.append(cs)
        if game.plies >= 2:
            game.clock = game.clock.start(now_ms)
    game.moved_at_ms = now_ms
    return happened


def record_end(
    game: Game, status: Status, winner: chess.Color | None, *, by_move: bool, ran_out: bool = False
) -> list[Happening]:
    """The end of a recorded game: nothing is charged that the record does not tell; a clock that ran out shows 0."""
    if game.clock is not None:
        if ran_out:
            game.clock = game.clock.read(game.turn, 0)
        game.clock = game.clock.stop(game.clock.since_ms or 0)
        game.end_clock_cs = None if by_move else game.clock.hand(game.turn).remaining_cs
    return _end(game, status, winner)


def end(game: Game, status: Status, winner: chess.Color | None, now_ms: int) -> list[Happening]:
    """An end between moves: the clock is stopped and what the side to move has used of its turn is charged (§2.2)."""
    if game.clock is not None:
        game.clock = game.clock.stop(now_ms)
        game.end_clock_cs = game.clock.hand(game.turn).remaining_cs
    return _end(game, status, winner)


def _end(game: Game, status: Status, winner: chess.Color | None) -> list[Happening]:
    game.status, game.winner = status, winner
    return [Ended(status, winner)]


def check_flag(game: Game, now_ms: int) -> list[Happening]:
    """The look that others take at the clock, grace included."""
    return flag(game, now_ms) if not game.over and game.out_of_time(now_ms) else []


def flag(game: Game, now_ms: int) -> list[Happening]:
    """The side to move has lost on time, or drawn where the other cannot win or has offered a draw (§3.1)."""
    loser, other = game.turn, not game.turn
    if game.clock is not None:
        game.clock = game.clock.read(loser, 0)
    if game.sides[other].offers_draw:
        return end(game, Status.DRAW, None, now_ms)
    return end(game, Status.OUT_OF_TIME, None if game.cannot_win(other) else other, now_ms)


def abort(game: Game, now_ms: int) -> list[Happening]:
    if game.over or game.plies >= 2 or game.tournament_id or "noAbort" in game.rules:
        raise Rejected("This game can no longer be aborted")
    return end(game, Status.ABORTED, None, now_ms)


def resign(game: Game, color: chess.Color, now_ms: int) -> list[Happening]:
    """Before both sides have moved, an abort."""
    if game.over:
        raise Rejected("This game cannot be resigned")
    if game.plies < 2 and not game.tournament_id and "noAbort" not in game.rules:
        return abort(game, now_ms)
    return end(game, Status.RESIGN, not color, now_ms)


def claimable(game: Game, color: chess.Color) -> bool:
    """Whether a claim is judged at all; where it is not, Lichess says 200 and does nothing (§1.4)."""
    return not game.over and game.clock is not None and game.turn != color and "noClaimWin" not in game.rules


def claim(game: Game, color: chess.Color, now_ms: int, *, win: bool) -> list[Happening]:
    """The game of an opponent who has left: won, or drawn where asked for or where the claimer cannot mate."""
    if not claimable(game, color):
        return []
    return end(game, Status.TIMEOUT, color if win and not game.cannot_win(color) else None, now_ms)


def give_time(game: Game, giver: chess.Color, seconds: int, now_ms: int) -> list[Happening]:
    """Time for the giver's opponent: 5 to 60 s, nothing from two hours up; restarts a correspondence turn (§1.4)."""
    unlimited = isinstance(game.control, Correspondence) and game.control.days is None
    if game.over or unlimited or game.tournament_id:
        raise Rejected("This game doesn't allow giving time")
    taker, seconds = not giver, min(60, max(5, seconds))
    if game.clock is None:
        game.moved_at_ms = now_ms
        return [Changed()]
    if game.clock.remaining_cs(taker, now_ms) >= _TWO_HOURS_CS:
        return []
    game.clock = game.clock.give(taker, 100 * seconds)
    return [Said(f"{_COLOR[taker]} + {seconds} seconds"), Changed()]


def start_clocks(game: Game, now_ms: int) -> list[Happening]:
    """From here on moves cost time and earn increments, the first ones included."""
    if game.over or game.clock is None:
        return []
    game.clock = game.clock.start(now_ms)
    return [Changed()]


def berserk(game: Game, color: chess.Color) -> list[Happening]:
    """Arena games only, before both sides have moved, never for a bot (§1.4)."""
    allowed = game.tournament_id and not game.over and game.plies < 2 and not game.sides[color].berserk
    if not allowed or game.clock is None or game.seat(color).is_bot:
        raise Rejected("Cannot berserk")
    game.clock = game.clock.berserk(color)
    game.sides[color].berserk = True
    return [Changed()]
