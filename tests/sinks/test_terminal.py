"""What a person sees of running games: one line an event, or a live picture."""

import io
from collections.abc import Iterator
from typing import Any

import chess
import pytest
from rich.console import Console

from bridge import event_types
from bridge.interfaces import Entry
from bridge.rules.clock_text import clock_text
from bridge.sinks.plain_lines import PlainLines
from bridge.sinks.ply_text import effects_text, gap_text, move_text
from bridge.sinks.terminal import LiveView

NOW_MS = 1_000_000
AFTER_E4_E5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
PLY: dict[str, object] = {
    "ply": 2,
    "side": "black",
    "uci": "e7e5",
    "san": "e5",
    "counted": True,
    "capture": None,
    "toll_ms": 1000,
    "fee_ms": 0,
    "chip_ms": 0,
    "increment_ms": 0,
    "guarded": False,
    "white_ms": 59_000,
    "black_ms": 62_500,
    "platform_white_ms": 240_000,
    "platform_black_ms": 239_000,
    "fen": AFTER_E4_E5,
    "pool": "winder",
}
STARTED: dict[str, object] = {
    "white": "Wanda",
    "black": "Otto",
    "pool": "winder",
    "delayed": False,
    "fen": chess.STARTING_FEN,
    "white_ms": 60_000,
    "black_ms": 60_000,
    "platform_white_ms": 240_000,
    "platform_black_ms": 240_000,
}
VERDICT: dict[str, object] = {"text": "1-0 · Black's flag fell (toll, forced) at ply 57 · 0:12.0 v -0:01.0 · Winder"}


def entry(kind: str, data: dict[str, object] | None = None, *, subject: str = "abcdefgh", account: str = "") -> Entry:
    return Entry(1, "j-1", NOW_MS, kind, subject, account, data or {})


# -- words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "toll 1 s"),
        (
            {"capture": {"piece": "n", "gain_ms": 10_000, "loss_ms": 10_000}, "toll_ms": 2000},
            "knight taken: +10 s for Black, −10 s for White; toll 2 s",
        ),
        ({"capture": {"piece": "q", "gain_ms": 25_000, "loss_ms": 0}}, "queen taken: +25 s for Black; toll 1 s"),
        ({"capture": {"piece": "p", "gain_ms": 0, "loss_ms": 5000}}, "pawn taken: −5 s for White; toll 1 s"),
        ({"capture": {"piece": "p", "gain_ms": 0, "loss_ms": 0}}, "pawn taken: no time moves; toll 1 s"),
        ({"side": "white", "chip_ms": 2000}, "toll 1 s; check chip 2 s from Black"),
        ({"fee_ms": 7500, "increment_ms": 500}, "toll 1 s; promotion fee 7.5 s; increment 0.5 s"),
        ({"san": "O-O", "toll_ms": 3000}, "toll 3 s for castling"),
        ({"guarded": True, "toll_ms": 0}, "repetition guard: nothing is charged"),
        ({"counted": False}, "after the KiriChess end, not counted"),
    ],
)
def test_effects_are_told_with_their_cause(changes: dict[str, object], words: str) -> None:
    assert effects_text({**PLY, **changes}) == words


def test_moves_are_numbered_as_the_board_says() -> None:
    assert move_text(PLY) == "1… e5"
    white = {"side": "white", "san": "Nf3", "fen": "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"}
    assert move_text(white) == "2. Nf3"
    assert move_text(STARTED) == ""


def test_the_gap_says_who_is_ahead() -> None:
    assert gap_text(61_000, 59_500) == "White 0:01.5 ahead"
    assert gap_text(0, 120_000) == "Black 2:00 ahead"
    assert gap_text(5, 5) == "none"


# -- lines -------------------------------------------------------------------------------------------------------


async def lines(*entries: Entry) -> list[str]:
    out = io.StringIO()
    plain = PlainLines(Console(file=out, width=20))
    for given in entries:
        await plain.write(given)
    return out.getvalue().splitlines()


async def test_every_event_is_one_line_however_long() -> None:
    name = "a_very_long_name_indeed_棋士"
    assert await lines(
        entry(event_types.GAME_STARTED, {**STARTED, "white": name}),
        entry(event_types.GAME_PLY, PLY),
        entry(event_types.FLAG_PROVISIONAL, {"side": "white"}),
        entry(event_types.FLAG_WITHDRAWN, {"side": "white", "left_ms": 1500}),
        entry(event_types.GAME_FINISHED, {"status": "resign"}),
        entry(event_types.VERDICT_FINAL, VERDICT),
        entry(
            event_types.VERDICT_CHANGED,
            {"text": "1-0 …", "previous": {"result": "0-1", "reason": "flag"}, "cause": "judged again"},
        ),
        entry(event_types.ACCOUNT_OFFLINE, {"reason": "no answer"}, subject="", account="Kiri"),
        entry(event_types.CHALLENGE_RECEIVED, {}),
    ) == [
        f"abcdefgh started: {name} (White) v Otto (Black), pool Winder",
        "abcdefgh 1… e5  White 0:59.0 Black 1:02 gap -0:03.5  toll 1 s",
        "abcdefgh White's flag fell (provisional): the platform's next reading decides",
        "abcdefgh White's provisional flag is withdrawn (0:01.5 left)",
        "abcdefgh over on the platform: resign",
        f"abcdefgh final verdict: {VERDICT['text']}",
        "abcdefgh verdict changed: 1-0 … (before: 0-1 by flag; judged again)",
        "Kiri is offline (no answer)",
    ]


async def test_a_name_can_neither_command_the_terminal_nor_be_markup() -> None:
    (line,) = await lines(entry(event_types.GAME_STARTED, {**STARTED, "white": "\x1b[2J[bold]Eve[/]"}))
    assert "\x1b" not in line
    assert "[2J[bold]Eve[/] (White)" in line


# -- the picture -------------------------------------------------------------------------------------------------


class Screen:
    """A live view on a terminal that is no real one, and a clock that a test sets."""

    def __init__(self, width: int = 120, height: int = 40) -> None:
        self.out = io.StringIO()
        self.console = Console(file=self.out, force_terminal=True, width=width, height=height, color_system=None)
        self.now_ms = NOW_MS
        self.view = LiveView(self.console, lambda: self.now_ms)

    def picture(self) -> str:
        plain = Console(file=io.StringIO(), width=self.console.width, color_system=None)
        with plain.capture() as captured:
            plain.print(self.view.picture())
        return captured.get()


@pytest.fixture
def screen() -> Iterator[Screen]:
    yield Screen()


async def shown(screen: Screen, *entries: Entry) -> str:
    for given in entries:
        await screen.view.write(given)
    picture = screen.picture()
    await screen.view.close()
    return picture


async def test_the_picture_shows_board_clocks_gap_and_causes(screen: Screen) -> None:
    screen.now_ms += 1500
    picture = await shown(screen, entry(event_types.GAME_STARTED, STARTED), entry(event_types.GAME_PLY, PLY))
    rows = picture.splitlines()
    assert "abcdefgh · Winder" in rows[0]
    assert "8 ♜ ♞ ♝ ♛ ♚ ♝ ♞ ♜" in rows[1] and "KiriChess" in rows[1] and "platform" in rows[1]
    assert " ● Otto" in rows[2] and "1:02" in rows[2] and "3:59" in rows[2]
    assert "▸○ Wanda" in rows[3] and "0:57.5" in rows[3], "White's clock runs"
    assert "clock gap: Black 0:05.0 ahead" in rows[4]
    assert "1… e5  toll 1 s" in rows[5]
    assert "1 ♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖" in rows[8] and "a b c d e f g h" in rows[9]


async def test_a_late_stream_is_called_so_and_its_clocks_stand(screen: Screen) -> None:
    screen.now_ms += 1500
    late = entry(event_types.GAME_STARTED, {**STARTED, "delayed": True})
    picture = await shown(screen, late, entry(event_types.GAME_PLY, PLY))
    assert "3 plies late" in picture
    assert "0:59.0" in picture


async def test_clocks_stand_before_both_have_moved_and_after_the_end(screen: Screen) -> None:
    await screen.view.write(entry(event_types.GAME_STARTED, STARTED))
    screen.now_ms += 5000
    assert "1:00" in screen.picture()
    await screen.view.write(entry(event_types.GAME_PLY, PLY))
    picture = await shown(screen, entry(event_types.GAME_FINISHED, {**PLY, "status": "resign"}))
    assert "0:59.0" in picture


async def test_a_provisional_flag_is_marked_until_it_is_withdrawn(screen: Screen) -> None:
    await screen.view.write(entry(event_types.GAME_STARTED, STARTED))
    await screen.view.write(entry(event_types.GAME_PLY, PLY))
    await screen.view.write(entry(event_types.FLAG_PROVISIONAL, {"side": "white"}))
    assert "White's flag fell (provisional)" in screen.picture()
    picture = await shown(screen, entry(event_types.FLAG_WITHDRAWN, {"side": "white", "left_ms": 900}))
    assert "withdrawn" in picture


async def test_final_verdicts_stay_above_and_games_give_way_to_new_ones(screen: Screen) -> None:
    over = [entry(event_types.GAME_STARTED, STARTED), entry(event_types.VERDICT_FINAL, VERDICT)]
    for given in over:
        await screen.view.write(given)
    assert "abcdefgh" in screen.picture()
    picture = await shown(screen, entry(event_types.GAME_STARTED, STARTED, subject="nextgame"))
    assert "nextgame" in picture and "abcdefgh" not in picture
    assert f"abcdefgh  Wanda – Otto  {VERDICT['text']}" in screen.out.getvalue()


@pytest.mark.parametrize(("width", "height", "panels"), [(120, 40, 6), (80, 24, 1), (40, 10, 1), (180, 40, 9)])
async def test_as_many_games_are_shown_as_fit_and_no_line_is_too_long(width: int, height: int, panels: int) -> None:
    screen = Screen(width, height)
    games = [f"game{number:04}" for number in range(20)]
    long: dict[str, object] = {**STARTED, "white": "棋士" * 20, "black": "x" * 60}
    picture = await shown(
        screen,
        *(entry(event_types.GAME_STARTED, long, subject=game) for game in games),
        *(entry(event_types.GAME_PLY, PLY, subject=game) for game in games),
    )
    console: Any = Console(width=width)
    assert picture.count("╭") == panels
    assert f"and {20 - panels} more" in picture
    assert max(console.measure(line).maximum for line in picture.splitlines()) <= width


async def test_the_cursor_comes_back(screen: Screen) -> None:
    await shown(screen, entry(event_types.GAME_STARTED, STARTED))
    assert screen.out.getvalue().rstrip("\n").endswith("\x1b[?25h")


@pytest.mark.parametrize("kind", [event_types.VERDICT_FINAL, event_types.VERDICT_CHANGED])
async def test_the_last_clocks_are_the_verdicts(screen: Screen, kind: str) -> None:
    """White thought for ten seconds more and resigned: that is charged in the verdict only."""
    verdict = {"white_ms": 49_000, "black_ms": 62_500, "result": "0-1", "reason": "resignation", "final": True}
    events = [(event_types.GAME_STARTED, STARTED), (event_types.GAME_PLY, PLY), (kind, {**VERDICT, "verdict": verdict})]
    screen.now_ms += 30_000
    picture = await shown(screen, *(entry(*event) for event in events))
    assert f" {clock_text(49_000)} " in picture and f" {clock_text(62_500)} " in picture
    assert f" {clock_text(59_000)} " not in picture
    assert f"clock gap: {gap_text(49_000, 62_500)}" in picture
