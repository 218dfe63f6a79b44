"""The referee's endings (Lichess API notes §3.1) and the platform's rounding of exports (§2.3)."""

import pytest

from bridge.arena import exports
from bridge.arena.control import Correspondence, TimeControl
from bridge.arena.exports import ExportOptions
from bridge.arena.game import NO_LIMIT_MS, Game, Seat
from bridge.arena.happenings import Rejected, Status
from bridge.arena.offers import draw_yes, takeback_no, takeback_yes
from bridge.arena.referee import check_flag, claim, end, flag, move, resign, settle

WHITE, BLACK = True, False


def game_from(fen: str | None = None, *, bot: bool = False, control: TimeControl | None = None, **more: object) -> Game:
    return Game(
        id="abcdefgh",
        white=Seat("Wanda", "BOT" if bot else None),
        black=Seat("Bruno"),
        control=control or TimeControl(300, 0),
        created_at_ms=1_700_000_000_000,
        initial_fen=fen,
        variant="fromPosition" if fen else "standard",
        **more,  # type: ignore[arg-type]
    )


def play(game: Game, *moves: str) -> Game:
    for uci in moves:
        move(game, game.turn, uci, game.created_at_ms)
    return game


@pytest.mark.parametrize(
    ("fen", "uci", "status", "winner"),
    [
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", Status.MATE, WHITE),
        ("7k/8/5Q2/8/8/8/8/K7 w - - 0 1", "f6f7", Status.STALEMATE, None),
        ("8/8/8/8/8/2k5/1p6/K7 w - - 0 1", "a1b1", Status.STARTED, None),
        ("8/8/8/8/8/3k4/1p6/K7 w - - 0 1", "a1b2", Status.DRAW, None),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 99 90", "e1d1", Status.DRAW, None),
    ],
)
def test_endings_by_move(fen: str, uci: str, status: Status, winner: bool | None) -> None:
    game = play(game_from(fen), uci)
    assert (game.status, game.winner) == (status, winner)


@pytest.mark.parametrize(
    ("fen", "winner"),
    [
        ("4k3/4q3/8/8/8/8/8/4K3 w - - 0 1", BLACK),
        ("4k3/8/8/8/8/8/8/4KQ2 w - - 0 1", None),
        ("4k1n1/8/8/8/8/8/8/4KQ2 w - - 0 1", None),
        ("4k1n1/8/8/8/8/8/8/4KR2 w - - 0 1", BLACK),
        ("4k1b1/8/8/8/8/8/4P3/4K3 w - - 0 1", BLACK),
    ],
)
def test_a_flag_wins_only_with_material_to_mate(fen: str, winner: bool | None) -> None:
    game = game_from(fen)
    flag(game, 0)
    assert (game.status, game.winner) == (Status.OUT_OF_TIME, winner)


def test_a_flag_under_the_opponents_draw_offer_is_a_draw() -> None:
    game = play(game_from(), "e2e4", "e7e5")
    draw_yes(game, BLACK, 0)
    flag(game, 0)
    assert (game.status, game.winner) == (Status.DRAW, None)


def test_offering_a_draw_to_an_opponent_who_cannot_win_ends_the_game() -> None:
    game = play(game_from("4k3/8/8/8/8/8/8/4KQ2 w - - 0 1"), "f1f2", "e8d8")
    draw_yes(game, WHITE, 0)
    assert game.status is Status.INSUFFICIENT_MATERIAL_CLAIM


@pytest.mark.parametrize("bot", [True, False])
def test_third_repetition_ends_by_itself_only_with_a_bot(bot: bool) -> None:
    game = play(game_from(bot=bot), *("g1f3", "g8f6", "f3g1", "f6g8") * 2)
    settle(game, 0)
    assert game.over is bot
    draw_yes(game, WHITE, 0)
    assert game.status is Status.DRAW


def test_fivefold_ends_and_so_does_the_move_past_ply_600() -> None:
    assert play(game_from(), *("g1f3", "g8f6", "f3g1", "f6g8") * 4).status is Status.DRAW
    game = play(game_from(), "e2e4")
    game.moves *= 600
    assert play(game, "e7e5").status is Status.DRAW


def test_draw_offers_are_twenty_plies_apart_and_not_early() -> None:
    game = game_from()
    assert draw_yes(game, WHITE, 0) == []
    play(game, "e2e4", "e7e5")
    assert draw_yes(game, WHITE, 0) != []
    play(game, "a2a3", "a7a6")
    assert draw_yes(game, WHITE, 0) == []
    play(game, *("b1c3", "b8c6", "d2d3", "d7d6", "c1e3", "c8e6", "d1d2", "d8d7", "h2h3", "h7h6"))
    play(game, *("f1e2", "f8e7", "g2g3", "g7g6", "e3f4", "e6f5", "f4e3", "f5e6"))
    assert game.plies == 22 and draw_yes(game, WHITE, 0) != []
    early = play(game_from(rules=frozenset({"noEarlyDraw"})), "e2e4", "e7e5")
    assert draw_yes(early, WHITE, 0) == []


def test_declined_takebacks_block_the_next_for_ten_seconds_and_then_forty() -> None:
    game = play(game_from(), "e2e4", "e7e5")
    for blocked_ms in (10_000, 40_000):
        assert takeback_yes(game, WHITE, 100_000) != []
        takeback_no(game, BLACK, 100_000)
        assert takeback_yes(game, WHITE, 100_000 + blocked_ms - 1) == []
        game.sides[WHITE].proposals_blocked_until_ms = 0


def test_resign_is_an_abort_before_two_plies_unless_aborts_are_ruled_out() -> None:
    game = play(game_from(), "e2e4")
    resign(game, WHITE, 0)
    assert game.status is Status.ABORTED
    game = game_from(rules=frozenset({"noAbort"}))
    resign(game, WHITE, 0)
    assert (game.status, game.winner) == (Status.RESIGN, BLACK)


def test_a_claim_needs_the_opponents_turn_and_mating_material() -> None:
    game = game_from("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    assert claim(game, WHITE, 0, win=True) == []
    claim(game, BLACK, 0, win=True)
    assert (game.status, game.winner) == (Status.TIMEOUT, None)


def test_a_missing_promotion_letter_is_a_queen_and_finished_games_refuse_moves() -> None:
    game = play(game_from("8/P6k/8/8/8/8/8/K7 w - - 0 1"), "a7a8")
    assert game.moves == ["a7a8q"]
    resign(game, WHITE, 0)
    end(game, Status.RESIGN, WHITE, 0)
    with pytest.raises(Rejected, match="Not your turn, or game already over"):
        move(game, BLACK, "h7g7", 0)


def test_unlimited_and_correspondence_times() -> None:
    unlimited = Game(id="a", white=Seat("W"), black=Seat("B"), control=Correspondence(), created_at_ms=0)
    assert unlimited.shown_ms(WHITE, 99_999) == NO_LIMIT_MS
    assert check_flag(unlimited, 10**12) == []
    days = Game(id="a", white=Seat("W"), black=Seat("B"), control=Correspondence(2), created_at_ms=0)
    assert (days.shown_ms(WHITE, 1500), days.shown_ms(BLACK, 1500)) == (172_798_000, 172_800_000)


def ended_mid_turn(cs: list[int], end_cs: int) -> Game:
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6"]
    game = play(game_from(), *moves[: len(cs)])
    end(game, Status.RESIGN, WHITE, game.created_at_ms)
    game.clocks_cs, game.end_clock_cs = cs, end_cs
    return game


def test_stored_clocks_lose_three_bits_except_below_ten_seconds_and_at_each_sides_last() -> None:
    game = ended_mid_turn([30_000, 30_000, 29_996, 999, 28_000, 1000], 27_001)
    assert exports.stored_clocks_cs(game) == [30_003, 30_003, 29_995, 999, 28_003, 1000, 27_001]


def test_a_game_ended_by_a_move_has_as_many_clocks_as_plies() -> None:
    game = play(game_from("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"), "a1a8")
    assert exports.stored_clocks_cs(game) == [30_000]
    assert exports.export_json(game, ExportOptions())["moves"] == "Ra8#"


@pytest.mark.parametrize(("plies", "shown"), [(4, 4), (5, 5), (7, 5), (8, 5), (9, 6)])
def test_a_running_game_is_cut_for_strangers(plies: int, shown: int) -> None:
    moves = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "d2d3", "d7d6", "c2c3")
    game = play(game_from(), *moves[:plies])
    body = exports.export_json(game, ExportOptions(delayed=True))
    assert (len(str(body["moves"]).split()), len(body["clocks"])) == (shown, shown)  # type: ignore[arg-type]
    assert len(str(exports.export_json(game, ExportOptions())["moves"]).split()) == plies


def test_pgn_tags_and_clocks_rounded_half_up() -> None:
    game = ended_mid_turn([30_000, 30_000, 9950], 9949)
    game.clocks_cs[0] = 995
    text = exports.pgn(game)
    assert text.splitlines()[:3] == [
        '[Event "casual blitz game"]',
        '[Site "https://lichess.org/abcdefgh"]',
        '[Date "2023.11.14"]',
    ]
    assert '[Variant "Standard"]\n[TimeControl "300+0"]\n[Termination "Normal"]\n\n' in text
    moves = "1. e4 { [%clk 0:00:10] } 1... e5 { [%clk 0:05:00] } 2. Nf3 { [%clk 0:01:40] } 1-0"
    assert text.endswith(f"\n\n{moves}\n\n\n")
    position = exports.tags(game_from("4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"))
    assert (position["Variant"], position["SetUp"]) == ("From Position", "1")
    assert exports.pgn(play(game_from("4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"), "e8e7", "e1d2")).split("\n\n")[1] == (
        "7... Ke7 { [%clk 0:05:00] } 8. Kd2 { [%clk 0:05:00] } *"
    )


@pytest.mark.parametrize(
    ("status", "termination"),
    [(Status.OUT_OF_TIME, "Time forfeit"), (Status.TIMEOUT, "Time forfeit"), (Status.ABORTED, "Abandoned")],
)
def test_termination_tag(status: Status, termination: str) -> None:
    game = game_from()
    end(game, status, None, 0)
    assert exports.tags(game)["Termination"] == termination


def test_days_run_out_for_the_side_to_move() -> None:
    game = play(game_from(control=Correspondence(2)), "e2e4")  # type: ignore[arg-type]
    over_ms = game.created_at_ms + 2 * 86_400_000
    assert check_flag(game, over_ms - 1) == []
    check_flag(game, over_ms)
    assert (game.status, game.winner) == (Status.OUT_OF_TIME, WHITE)
    endless = play(game_from(control=Correspondence()), "e2e4")  # type: ignore[arg-type]
    assert check_flag(endless, over_ms * 2) == []
