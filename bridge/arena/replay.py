"""Recorded games played live: the same streams, clocks as recorded, only the waiting in between runs at any speed."""

import asyncio
from collections.abc import Iterable, Iterator

from bridge.arena import referee
from bridge.arena.accounts import Account, open_token
from bridge.arena.control import TimeControl
from bridge.arena.game import Game, Seat
from bridge.arena.hall import Hall
from bridge.arena.recordings import RecordedPly, Recording

_UNKNOWN_THINK_CS = 100
"""What a move without a clock, a free first move and a resignation take."""


async def replay(
    hall: Hall,
    recordings: Iterable[Recording],
    *,
    speed: float = 1.0,
    wait_for_viewer: bool = False,
    pause_s: float = 0.0,
) -> list[str]:
    """Play one after the other to the end and answer the game ids; `pause_s` of wall time lie between two games.

    With `wait_for_viewer` a game stands at its first position until a stream of it is open.
    """
    ids: list[str] = []
    for number, recording in enumerate(recordings):
        if number:
            await asyncio.sleep(pause_s)
        game = _seat(hall, recording, speed)
        ids.append(game.id)
        if wait_for_viewer:
            await hall.audience.viewed(game.id)
        await _play(hall, game, recording, speed)
    return ids


def _seat(hall: Hall, recording: Recording, speed: float) -> Game:
    for seat in (recording.white, recording.black):
        if hall.accounts.find(seat.name) is None:
            hall.accounts.add(_account(seat))
    game = Game(
        id=hall.new_id() if recording.game_id in hall.games else recording.game_id,
        white=recording.white,
        black=recording.black,
        control=recording.control,
        created_at_ms=hall.now_ms(),
        variant=recording.variant,
        initial_fen=recording.fen,
        rated=recording.rated,
        recorded=True,
    )
    hall.open_game(game, speed)
    return game


def seat_token(seat: Seat) -> str:
    """The token of an account made for a replayed player."""
    return open_token(seat.name, bot=seat.is_bot)


def _account(seat: Seat) -> Account:
    return Account(seat.name, seat_token(seat), title=seat.title, rating=seat.rating)


async def _play(hall: Hall, game: Game, recording: Recording, speed: float) -> None:
    last = len(recording.plies) - 1
    for ply, (played, think_cs) in enumerate(_thinking(recording)):
        await asyncio.sleep(think_cs / 100 / speed)
        now_ms = hall.game_now_ms(game)
        happened = referee.record(game, played.uci, played.clock_cs, now_ms)
        if ply == last and recording.ended_by_move:
            happened += referee.record_end(game, recording.status, recording.winner, by_move=True)
        hall.happen(game, happened)
    if game.over:
        return
    clock = game.clock
    last_think_cs = clock.hand(game.turn).remaining_cs if recording.ran_out and clock else _UNKNOWN_THINK_CS
    await asyncio.sleep(last_think_cs / 100 / speed)
    ended = referee.record_end(game, recording.status, recording.winner, by_move=False, ran_out=recording.ran_out)
    hall.happen(game, ended)


def _thinking(recording: Recording) -> Iterator[tuple[RecordedPly, int]]:
    """Each ply with the time that the clocks say it took; first moves are free and earn nothing (§2.2)."""
    control = recording.control
    increment_cs = 100 * control.increment_s if isinstance(control, TimeControl) else 0
    shown_cs: list[int | None] = [100 * control.limit_s if isinstance(control, TimeControl) else None] * 2
    for ply, played in enumerate(recording.plies):
        before_cs = shown_cs[ply % 2]
        shown_cs[ply % 2] = played.clock_cs
        if ply < 2 or before_cs is None or played.clock_cs is None:
            yield played, _UNKNOWN_THINK_CS
        else:
            yield played, max(0, before_cs + increment_cs - played.clock_cs)
