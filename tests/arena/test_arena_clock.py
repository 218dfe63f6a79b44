"""The platform's clock: the vectors of the Lichess API notes §2.3 and the rules of §2.2."""

import pytest

from bridge.arena.clock import Clock, centis
from bridge.arena.control import TimeControl
from bridge.arena.game import Game, Seat
from bridge.arena.happenings import Status
from bridge.arena.offers import takeback_yes
from bridge.arena.referee import berserk, check_flag, give_time, move, resign, start_clocks

WHITE, BLACK = True, False
OPENING = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6")


def new_game(limit_s: int = 180, increment_s: int = 2, **more: object) -> Game:
    white, black = Seat("Wanda"), Seat("Bruno")
    return Game(
        id="abcdefgh",
        white=white,
        black=black,
        control=TimeControl(limit_s, increment_s),
        created_at_ms=0,
        **more,  # type: ignore[arg-type]
    )


def shown(game: Game, now_ms: int) -> tuple[int, int]:
    return game.shown_ms(WHITE, now_ms), game.shown_ms(BLACK, now_ms)


def play(game: Game, moves: tuple[str, ...], think_ms: tuple[int, ...], now_ms: int) -> int:
    for uci, thought_ms in zip(moves, think_ms, strict=True):
        now_ms += thought_ms
        move(game, game.turn, uci, now_ms)
    return now_ms


def to_line_7(game: Game) -> int:
    """The common part of the table: six plies and a gift to white after the fourth."""
    now_ms = play(game, OPENING[:4], (50_000, 70_000, 3500, 1000), 1_000_000)
    assert shown(game, now_ms) == (178_500, 181_000)
    now_ms += 600
    give_time(game, BLACK, 15, now_ms)
    assert shown(game, now_ms) == (192_900, 181_000)
    now_ms = play(game, OPENING[4:5], (4400,), now_ms)
    assert shown(game, now_ms) == (190_500, 181_000)
    now_ms = play(game, OPENING[5:], (10,), now_ms)
    assert shown(game, now_ms) == (190_500, 182_990)
    return now_ms


def test_first_moves_are_free_and_earn_nothing() -> None:
    game = new_game()
    now_ms = play(game, OPENING[:2], (600_000, 600_000), 0)
    assert shown(game, now_ms) == (180_000, 180_000)


def test_resignation_charges_the_side_to_move_whoever_resigned() -> None:
    for resigning in (WHITE, BLACK):
        game = new_game()
        now_ms = to_line_7(game)
        resign(game, resigning, now_ms + 20_000)
        assert shown(game, now_ms + 99_000) == (170_500, 182_990)
        assert game.winner is (not resigning)


def test_a_finishing_move_earns_no_increment() -> None:
    game = new_game(initial_fen="r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4")
    now_ms = play(game, ("a2a3", "a7a6"), (0, 0), 0)
    assert game.clock is not None
    game.clock = game.clock.read(WHITE, 19_050)
    move(game, WHITE, "h5f7", now_ms + 5000)
    assert game.status is Status.MATE
    assert game.shown_ms(WHITE, now_ms + 9000) == 185_500


def test_flag_shows_zero_for_the_loser() -> None:
    game = new_game()
    now_ms = to_line_7(game)
    assert check_flag(game, now_ms + 190_500) == []
    assert check_flag(game, now_ms + 193_000) != []
    assert (game.status, game.winner, shown(game, now_ms + 200_000)) == (Status.OUT_OF_TIME, BLACK, (0, 182_990))


def test_one_ply_taken_back_refunds_the_thinker_and_leaves_the_increment() -> None:
    game = new_game()
    now_ms = to_line_7(game) + 4000
    takeback_yes(game, BLACK, now_ms)
    takeback_yes(game, WHITE, now_ms)
    assert game.plies == 5
    assert shown(game, now_ms) == (190_500, 182_990)
    move(game, BLACK, "g8e7", now_ms + 1000)
    assert shown(game, now_ms + 1000) == (190_500, 182_990 - 1000 + 2000)


def test_two_plies_taken_back() -> None:
    game = new_game()
    now_ms = play(game, OPENING[:4], (0, 0, 3500, 1000), 0)
    takeback_yes(game, WHITE, now_ms + 2000)
    takeback_yes(game, BLACK, now_ms + 2000)
    assert game.plies == 2
    assert shown(game, now_ms + 2000) == (178_500, 180_000)
    assert game.turn is WHITE


def test_clocks_started_early_charge_and_credit_first_moves() -> None:
    game = new_game()
    start_clocks(game, 0)
    now_ms = play(game, OPENING[:2], (3000, 4000), 0)
    assert shown(game, now_ms) == (179_000, 178_000)


@pytest.mark.parametrize(("limit_s", "increment_s", "start_ms"), [(0, 1, 3000), (0, 5, 5000), (60, 0, 60_000)])
def test_start_of_games_without_limit(limit_s: int, increment_s: int, start_ms: int) -> None:
    assert shown(new_game(limit_s, increment_s), 0) == (start_ms, start_ms)


@pytest.mark.parametrize(("limit_s", "expected"), [(180, (86_000, 178_000)), (60, (56_000, 58_000))])
def test_berserk_halves_the_limit_and_ends_increments_of_one_side(limit_s: int, expected: tuple[int, int]) -> None:
    game = new_game(limit_s, 2, tournament_id="t1")
    berserk(game, WHITE)
    now_ms = play(game, OPENING[:4], (0, 0, 4000, 4000), 0)
    assert shown(game, now_ms) == expected


@pytest.mark.parametrize(
    ("limit_s", "start_cs", "most_cs"), [(30, 81, 189), (60, 117, 273), (180, 261, 609), (600, 300, 700)]
)
def test_lag_quota_starts_and_grows_as_the_notes_say(limit_s: int, start_cs: int, most_cs: int) -> None:
    clock = Clock.set_to(TimeControl(limit_s, 0), WHITE).start(0)
    assert clock.white.quota_cs == start_cs
    for _ in range(40):
        clock = clock.move(0)
    assert clock.white.quota_cs == most_cs


def test_lag_is_given_back_within_the_quota() -> None:
    clock = Clock.set_to(TimeControl(60, 0), WHITE).start(0)
    assert clock.move(2000, lag_cs=50).white.remaining_cs == 6000 - 150
    assert clock.move(2000, lag_cs=500).white.remaining_cs == 6000 - (200 - 117)


def test_grace_is_at_most_two_seconds_and_a_late_move_has_none() -> None:
    clock = Clock.set_to(TimeControl(600, 0), WHITE).read(WHITE, 100).start(0)
    assert not clock.flagged(3000)
    assert clock.flagged(3010)
    assert clock.too_late(1000)
    assert not clock.too_late(990)


def test_gifts_are_clamped_and_refused_from_two_hours_up() -> None:
    game = new_game(7200, 0)
    assert give_time(game, WHITE, 15, 0) == []
    game = new_game()
    give_time(game, WHITE, 600, 0)
    give_time(game, BLACK, 1, 0)
    assert shown(game, 0) == (185_000, 240_000)


def test_centiseconds_round_halves_up() -> None:
    assert [centis(ms) for ms in (0, 4, 5, 14, 15)] == [0, 0, 1, 1, 2]
