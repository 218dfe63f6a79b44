"""Lines in the shapes that Lichess sends, as interface types."""

import json
from pathlib import Path
from typing import Any

import chess
import pytest

from bridge.interfaces import (
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    ChatLine,
    GameFinished,
    GameInfo,
    GameMessage,
    GameOpened,
    GameStarted,
    GameState,
    OpponentGone,
    Player,
)
from bridge.platforms.lichess import wire
from bridge.platforms.lichess.shapes import WireError
from bridge.rules.snapshot import Snapshot, TimeControl

CAPTURES = Path(__file__).parent.parent / "data" / "lichess"
SITE = "https://lichess.org"


def lines(name: str) -> list[bytes]:
    return (CAPTURES / name).read_bytes().splitlines()


def game_line(line: bytes | dict[str, Any]) -> GameMessage | None:
    return wire.parse_game_line(line if isinstance(line, bytes) else json.dumps(line).encode(), at_ms=77, site=SITE)


def test_a_game_stream() -> None:
    opened, state, draw, chat, gone, back, end = map(game_line, lines("game_stream.ndjson"))
    info = GameInfo(
        id="kw0Tz3aB",
        white=Player("kiri", "Kiri", "BOT", 2011),
        black=Player("quill", "Quill", "", 1644),
        rated=False,
        speed="blitz",
        time_control=TimeControl(300_000, 3_000),
        url="https://lichess.org/kw0Tz3aB",
    )
    assert opened == GameOpened(info, Snapshot(moves=(), white_ms=300_000, black_ms=300_000, at_ms=77))
    assert state == GameState(Snapshot(moves=("e2e4", "c7c5"), white_ms=300_000, black_ms=299_990, at_ms=77))
    assert isinstance(draw, GameState)
    assert draw.draw_offers == {chess.BLACK}
    assert draw.takeback_offers == {chess.WHITE}
    assert chat == ChatLine("Quill", "tère ♞", "player")
    assert gone == OpponentGone(True, 8_000)
    assert back == OpponentGone(False)
    assert isinstance(end, GameState)
    assert (end.snapshot.status, end.snapshot.winner) == ("resign", chess.BLACK)


def test_players_without_a_name_or_with_a_level_and_games_without_a_clock() -> None:
    opened = game_line(lines("game_full_odd.ndjson")[0])
    assert isinstance(opened, GameOpened)
    assert opened.info.white == Player()
    assert opened.info.black == Player(name="Stockfish level 3", title="BOT")
    assert opened.info.black.is_bot
    assert opened.info.time_control is None
    assert opened.info.start_fen == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert (opened.info.variant, opened.info.tournament) == ("fromPosition", "winter26")
    assert (opened.snapshot.white_ms, opened.snapshot.black_ms) == (None, None)


def test_an_event_stream() -> None:
    start, challenge, odd, gone, declined, finish = map(wire.parse_account_event, lines("event_stream.ndjson"))
    assert start == GameStarted("kw0Tz3aB", chess.WHITE)
    assert challenge == ChallengeReceived(
        Challenge(
            id="pQ4rS5tU",
            challenger=Player("quill", "Quill", "FM", 2388),
            opponent=Player("kiri", "Kiri", "BOT", 2011),
            variant="standard",
            rated=True,
            speed="rapid",
            time_control=TimeControl(600_000, 5_000),
            color="black",
        )
    )
    assert isinstance(odd, ChallengeReceived)
    assert odd.challenge.challenger == Player()
    assert odd.challenge.time_control is None
    assert odd.challenge.start_fen == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert gone == ChallengeGone("pQ4rS5tU", "canceled")
    assert declined == ChallengeGone("zZ9yY8xX", "timecontrol")
    assert finish == GameFinished("kw0Tz3aB")


def test_what_is_not_known_is_nothing() -> None:
    assert wire.parse_account_event(b'{"type":"goldenTicket","game":1}') is None
    assert game_line({"type": "weather"}) is None
    assert game_line({}) is None


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b"<html>502</html>", "not JSON"),
        (b'{"type":"gameState","moves":"e2e4', "not JSON"),
        (b'{"type":"chatLine","text":"\xff\xfe"}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'"gameState"', "not a JSON object"),
        (b'{"type":"gameState","moves":"","wtime":"soon"}', "gameState: wtime"),
        (b'{"type":"gameFull","id":"x"}', "gameFull: state"),
        (b'{"type":"opponentGone"}', "opponentGone: gone"),
    ],
)
def test_what_is_broken_says_so_in_one_short_line(line: bytes, cause: str) -> None:
    with pytest.raises(WireError, match=cause) as caught:
        game_line(line)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("line", [b'{"type":"gameStart"}', b'{"type":"gameStart","game":{}}', b'{"type":"challenge"}'])
def test_broken_events(line: bytes) -> None:
    with pytest.raises(WireError):
        wire.parse_account_event(line)


def test_lines_do_not_say_berserk() -> None:
    opened = game_line(lines("game_stream.ndjson")[0])
    assert isinstance(opened, GameOpened)
    assert opened.snapshot.berserk == frozenset()


def test_a_token_and_what_it_may_do() -> None:
    answer = b'{"lip_x":{"userId":"kiri","scopes":"bot:play,challenge:read","expires":1800000000000}}'
    assert wire.parse_token(answer) == wire.TokenFacts(
        "kiri", frozenset({"bot:play", "challenge:read"}), 1_800_000_000_000
    )
    assert wire.parse_token(b'{"lip_x":null}') is None


def test_what_a_user_plays() -> None:
    answer = b'[{"id":"quill","name":"Quill","playingId":"kw0Tz3aB"},{"id":"kiri","name":"Kiri"}]'
    assert wire.parse_playing(answer, "Quill") == "kw0Tz3aB"
    assert wire.parse_playing(answer, "Kiri") == ""
    assert wire.parse_playing(answer, "nobody") is None


def test_tv_lines_name_the_featured_game() -> None:
    featured, fen = lines("tv_feed.ndjson")
    assert wire.parse_tv_line(featured) == "kw0Tz3aB"
    assert wire.parse_tv_line(fen) is None
