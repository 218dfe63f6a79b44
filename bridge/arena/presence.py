"""Who is at the board: a player whose last stream has closed is seen as gone and may lose the game for it (§1.5)."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass

import chess

from bridge.arena import lines
from bridge.arena.audience import Audience
from bridge.arena.game import Game
from bridge.arena.settings import ArenaSettings

_PATIENCE = {"rapid": 2, "classical": 3}
_VALUE = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}


@dataclass(slots=True)
class Attendance:
    """One player of one game."""

    streams: int = 0
    left_at_ms: int | None = None
    announced: bool = False
    watch: "asyncio.Task[None] | None" = None


class Presence:
    """Counts the players' streams; those who never had one are not gone. Times are wall time in milliseconds."""

    def __init__(self, settings: ArenaSettings, audience: Audience) -> None:
        self._settings = settings
        self._audience = audience
        self._attendance: defaultdict[tuple[str, chess.Color], Attendance] = defaultdict(Attendance)

    def came(self, game: Game, color: chess.Color) -> None:
        attendance = self._attendance[game.id, color]
        attendance.streams += 1
        attendance.left_at_ms = None
        if attendance.watch is not None:
            attendance.watch.cancel()
            attendance.watch = None
        if attendance.announced:
            attendance.announced = False
            self._audience.to_players(game, lines.opponent_gone(None), color=not color)

    def left(self, game: Game, color: chess.Color, now_ms: int) -> None:
        attendance = self._attendance[game.id, color]
        attendance.streams -= 1
        away = attendance.streams == 0
        if away and not game.over and not game.recorded and game.clock is not None:
            attendance.left_at_ms = now_ms
            attendance.watch = asyncio.create_task(self._announce(game, color, attendance))

    def claim_in_s(self, game: Game, color: chess.Color, now_ms: int) -> int | None:
        """Whole seconds until the opponent of `color` may claim; None when `color` is here, or only just away."""
        left_at_ms = self._attendance[game.id, color].left_at_ms
        if left_at_ms is None or now_ms - left_at_ms < 1000 * self._settings.gone_after_s:
            return None
        left_ms = 1000 * (self._settings.gone_after_s + self._timeout_s(game, color)) - (now_ms - left_at_ms)
        return max(0, -int(-left_ms // 1000))

    def gone_for_good(self, game: Game, color: chess.Color, now_ms: int) -> bool:
        return self.claim_in_s(game, color, now_ms) == 0

    def _timeout_s(self, game: Game, color: chess.Color) -> float:
        points = sum(
            value * (len(game.board.pieces(piece, color)) - len(game.board.pieces(piece, not color)))
            for piece, value in _VALUE.items()
        )
        return self._settings.gone_timeout_s * _PATIENCE.get(game.speed, 1) / (3 if points <= -4 else 1)

    async def _announce(self, game: Game, color: chess.Color, attendance: Attendance) -> None:
        loop, started_at_ms = asyncio.get_running_loop(), attendance.left_at_ms
        began_s = loop.time()
        await asyncio.sleep(self._settings.gone_after_s)
        while not game.over and started_at_ms is not None:
            now_ms = started_at_ms + round(1000 * (loop.time() - began_s))
            claim_in_s = self.claim_in_s(game, color, now_ms)
            if claim_in_s is not None and not self._flags_first(game, color, claim_in_s, now_ms):
                attendance.announced = True
                self._audience.to_players(game, lines.opponent_gone(claim_in_s), color=not color)
            if claim_in_s == 0:
                return
            await asyncio.sleep(min(self._settings.gone_repeat_s, claim_in_s or self._settings.gone_repeat_s))

    def _flags_first(self, game: Game, color: chess.Color, claim_in_s: int, now_ms: int) -> bool:
        clock = game.clock
        return clock is not None and game.turn == color and clock.remaining_cs(color, now_ms) < 100 * claim_in_s

    def close(self) -> None:
        for attendance in self._attendance.values():
            if attendance.watch is not None:
                attendance.watch.cancel()
