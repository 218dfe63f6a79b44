"""The spectator stream: positions three plies late with clocks in whole seconds, made into snapshots (API §1.8).

Every connection replays the game from its first position, so what is known already is walked through in silence.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import chess

from bridge.errors import RecordError
from bridge.interfaces import GameInfo, GameMessage, GameOpened, GameState, Player
from bridge.platforms.lichess import shapes
from bridge.platforms.lichess.answers import Senseless
from bridge.platforms.lichess.shapes import check, read_object
from bridge.platforms.lichess.wire import parse_color, start_fen, to_player
from bridge.rules.position import read_move, start_board
from bridge.rules.snapshot import RUNNING, Anomaly, Snapshot, TimeControl

COVERED = frozenset({"standard", "chess960", "fromPosition"})
"""Variants whose moves are followed; of the others only beginning and end are told."""


def parse_watched(found: object, site: str) -> GameInfo:
    """A spectator stream's game object, or the head of an export (§1.8)."""
    game = check(shapes.WatchedGame, found, "game")
    return GameInfo(
        id=game.id,
        white=_watched_player(game.players.white),
        black=_watched_player(game.players.black),
        variant=game.variant,
        rated=game.rated,
        speed=game.speed,
        time_control=TimeControl(1000 * game.clock.initial, 1000 * game.clock.increment) if game.clock else None,
        start_fen=start_fen(game.initial_fen),
        tournament=game.tournament or game.tournament_id or game.swiss,
        url=f"{site}/{game.id}",
    )


def _watched_player(player: shapes.WatchedPlayer) -> Player:
    if player.ai_level is not None or player.user is None:
        return to_player(shapes.User(name=player.name, aiLevel=player.ai_level))
    return replace(to_player(player.user), rating=player.rating)


class SpectatorReader:
    """Messages of one watched game. `known` is what an export says of it: the stream itself names no time control.

    `clocks_ms` of the snapshots hold the mover's clock after each ply, in whole seconds; where the clock of the side
    that was not on move fell, which cannot be, neither of the two is believed.
    """

    def __init__(
        self, known: GameInfo, clock: Callable[[], int], keep: Callable[[bytes, int], None] = lambda line, at_ms: None
    ) -> None:
        self._info = known
        self._clock = clock
        self._keep_line = keep
        self._at_ms = 0
        self._moves: list[str] = []
        self._clocks_ms: list[int | None] = []
        self._now_ms: dict[chess.Color, int | None] = {chess.WHITE: None, chess.BLACK: None}
        self._notes: tuple[Anomaly, ...] = ()
        self._status, self._winner = "started", ""
        self._board: chess.Board | None = None
        self._started = False

    def opened(self) -> None:
        """The game is told from its first position again."""
        self._keep_line(b"", self._clock())
        self._board = None
        self._started = False

    def lives(self) -> None:
        """Nothing of it depends on that."""

    def read(self, line: bytes) -> Iterable[GameMessage]:
        self._at_ms = self._clock()
        self._keep_line(line, self._at_ms)
        found = read_object(line)
        if "fen" in found and "id" not in found:
            return self._position(check(shapes.Position, found, "position"))
        if "id" in found:
            return self._game(check(shapes.WatchedGame, found, "game"))
        return ()

    def ended(self) -> Iterable[GameMessage]:
        """A game that was over when the stream began may have no last object."""
        return () if self._status in RUNNING else (GameState(self._snapshot(over=True)),)

    # -- lines -------------------------------------------------------------------------------------------------------

    def _game(self, game: shapes.WatchedGame) -> Iterable[GameMessage]:
        self._status, self._winner = game.status, game.winner
        if self._started:
            return self.ended()
        self._started = True
        return (GameOpened(self._info, self._snapshot()),)

    def _position(self, position: shapes.Position) -> Iterable[GameMessage]:
        if not self._started:
            raise Senseless("a position came before its game")
        if self._info.variant not in COVERED:
            return ()
        if self._board is None:
            return self._first(position)
        if not position.lm:
            return ()
        plies = self._after(self._board, position)
        return self._moved(plies, position)

    def _first(self, position: shapes.Position) -> Iterable[GameMessage]:
        board = start_board(self._info.start_fen)
        if not _same(board, position.fen):
            raise Senseless(f"the stream begins at {position.fen}, and the game does not")
        self._board = board
        if not self._moves:
            self._now_ms = _clocks_ms(position)
        return ()

    def _after(self, board: chess.Board, position: shapes.Position) -> int:
        """Make the move on the board, after taking back as many as it takes; the plies made then."""
        tried = board.copy()
        while True:
            try:
                move = read_move(tried, position.lm)
            except RecordError:
                move = None
            if move is not None:
                tried.push(move)
                if _same(tried, position.fen):
                    self._board = tried
                    return len(tried.move_stack)
                tried.pop()
            if not tried.move_stack:
                raise Senseless(f"{position.lm} does not lead to {position.fen}: positions are missing")
            tried.pop()

    def _moved(self, plies: int, position: shapes.Position) -> Iterable[GameMessage]:
        clocks_ms = _clocks_ms(position)
        board = self._board
        assert board is not None, "a move was just made on it"
        mover = not board.turn
        uci = _spelled(board, self._info.chess960)
        if plies <= len(self._moves) and self._moves[plies - 1] == uci:
            return ()  # known, and told again by a new connection
        if plies == len(self._moves) + 1 and self._fell(not mover, clocks_ms):
            note = (
                f"{chess.COLOR_NAMES[not mover]}'s clock fell while it was not on move; this line's clocks are left out"
            )
            self._notes = (*self._notes, Anomaly("clock_fell", plies, note))
            clocks_ms = {chess.WHITE: None, chess.BLACK: None}
        del self._moves[plies - 1 :], self._clocks_ms[plies - 1 :]
        self._moves.append(uci)
        self._clocks_ms.append(clocks_ms[mover])
        self._now_ms = clocks_ms
        # Whether an increment was paid for a last move only the status tells (§2.2), and that comes at once.
        return () if _ends_game(board) else (GameState(self._snapshot()),)

    def _fell(self, side: chess.Color, clocks_ms: dict[chess.Color, int | None]) -> bool:
        """Before both have moved, berserk may take some (R3); after a doubted line nothing is known to have fallen."""
        before, now = self._now_ms[side], clocks_ms[side]
        return len(self._moves) >= 2 and before is not None and now is not None and now < before

    def _snapshot(self, *, over: bool = False) -> Snapshot:
        timed = any(clock is not None for clock in self._clocks_ms)
        return Snapshot(
            moves=tuple(self._moves),
            status=self._status if over else "started",
            winner=parse_color(self._winner) if over else None,
            white_ms=self._now_ms[chess.WHITE],
            black_ms=self._now_ms[chess.BLACK],
            clocks_ms=tuple(self._clocks_ms) if timed else None,
            at_ms=self._at_ms,
            notes=self._notes,
        )


def _ends_game(board: chess.Board) -> bool:
    """Whether Lichess ends the game here by itself (§3.1)."""
    if not any(board.generate_legal_moves()):
        return True
    return board.is_insufficient_material() or board.halfmove_clock >= 100 or board.is_repetition(5)


def _spelled(board: chess.Board, chess960: bool) -> str:
    """The last move as the player streams spell it: castling by the king's target, but in chess960 by the rook."""
    move = board.pop()
    uci = board.uci(move, chess960=chess960)
    board.push(move)
    return uci


def _same(board: chess.Board, fen: str) -> bool:
    """Older streams give a FEN's first field or two only."""
    placement, *rest = fen.split(" ")
    return placement == board.board_fen() and (not rest or rest[0] == ("w" if board.turn else "b"))


def _clocks_ms(position: shapes.Position) -> dict[chess.Color, int | None]:
    shown_s = {chess.WHITE: position.wc, chess.BLACK: position.bc}
    return {side: None if value is None else 1000 * value for side, value in shown_s.items()}
