"""The spectator stream: positions in, whole snapshots out, whatever is repeated, missing or taken back."""

import json
from typing import TYPE_CHECKING, Any

import chess
import pytest

from bridge.errors import Refused
from bridge.interfaces import Disconnected, GameInfo, GameMessage, GameOpened, GameState, Player
from bridge.platforms.lichess.answers import Senseless
from bridge.platforms.lichess.spectator import SpectatorReader, parse_watched
from bridge.rules.diff import diff
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup, TimeControl

if TYPE_CHECKING:
    from tests.platforms.conftest import Connect, Script, Take

INFO = GameInfo("g1", Player("kiri", "Kiri"), Player("quill", "Quill"), time_control=TimeControl(60_000, 2_000))
STREAM = "GET /api/stream/game/g1"
EXPORT = "GET /game/export/g1"
HEAD = {"id": "g1", "variant": {"key": "standard"}, "players": {"white": {"user": {"id": "kiri"}}, "black": {}}}


def positions(*moves: str, fen: str = chess.STARTING_FEN, chess960: bool = False) -> list[dict[str, Any]]:
    """A line for each position; both clocks fall by a second a ply of theirs."""
    board, clocks = chess.Board(fen, chess960=chess960), {chess.WHITE: 60, chess.BLACK: 60}
    found: list[dict[str, Any]] = [{"fen": board.fen(), "wc": 60, "bc": 60}]
    for uci in moves:
        clocks[board.turn] -= 1
        board.push_uci(uci)
        found.append({"fen": board.fen(), "lm": uci, "wc": clocks[chess.WHITE], "bc": clocks[chess.BLACK]})
    return found


def over(status: str, **more: object) -> dict[str, Any]:
    return {**HEAD, "status": {"id": 30, "name": status}, **more}


def read(reader: SpectatorReader, *lines: dict[str, Any]) -> list[GameMessage]:
    return [message for line in lines for message in reader.read(json.dumps(line).encode())]


def plies(messages: list[GameMessage]) -> list[int]:
    return [len(message.snapshot.moves) for message in messages if isinstance(message, GameState)]


@pytest.fixture
def reader() -> SpectatorReader:
    found = SpectatorReader(INFO, lambda: 77)
    found.opened()
    return found


def test_every_position_is_a_whole_snapshot(reader: SpectatorReader) -> None:
    opened, *states = read(reader, HEAD, *positions("e2e4", "e7e5", "g1f3"), over("resign", winner="black"))
    assert isinstance(opened, GameOpened)
    assert opened.info == INFO
    assert plies(states) == [1, 2, 3, 3]
    last = states[-1]
    assert isinstance(last, GameState)
    assert tuple(last.snapshot.moves) == ("e2e4", "e7e5", "g1f3")
    assert last.snapshot.clocks_ms == (59_000, 59_000, 58_000)
    assert (last.snapshot.white_ms, last.snapshot.black_ms) == (58_000, 59_000)
    assert (last.snapshot.status, last.snapshot.winner, last.snapshot.at_ms) == ("resign", chess.BLACK, 77)


def test_a_new_connection_tells_the_game_again_and_we_do_not(reader: SpectatorReader) -> None:
    read(reader, HEAD, *positions("e2e4", "e7e5"))
    reader.opened()
    again = read(reader, HEAD, *positions("e2e4", "e7e5", "g1f3"))
    assert isinstance(again[0], GameOpened)
    assert len(again[0].snapshot.moves) == 2
    assert plies(again[1:]) == [3]


def test_repeated_lines_say_nothing_new(reader: SpectatorReader) -> None:
    lines = positions("e2e4", "e7e5")
    assert plies(read(reader, HEAD, *lines, lines[-1], lines[-2], lines[-1])) == [1, 2]


def test_takebacks_are_seen_with_the_next_move(reader: SpectatorReader) -> None:
    before = positions("e2e4", "e7e5", "g1f3", "b8c6")
    one, two = positions("e2e4", "e7e5", "g1f3", "g8f6")[-1], positions("e2e4", "e7e5", "f1c4")[-1]
    states = read(reader, HEAD, *before, one, two)
    assert plies(states) == [1, 2, 3, 4, 4, 3]
    assert isinstance(states[-1], GameState)
    assert tuple(states[-1].snapshot.moves) == ("e2e4", "e7e5", "f1c4")
    assert states[-1].snapshot.clocks_ms is not None
    assert len(states[-1].snapshot.clocks_ms) == 3


def test_a_gap_is_no_move(reader: SpectatorReader) -> None:
    lines = positions("e2e4", "e7e5", "g1f3", "b8c6")
    with pytest.raises(Senseless):
        read(reader, HEAD, *lines[:3], lines[-1])


@pytest.mark.parametrize("spelled", ["e1g1", "e1h1"])
def test_castling_in_either_spelling(reader: SpectatorReader, spelled: str) -> None:
    lines = positions("e2e4", "e7e5", "g1f3", "g8f6", "f1c4", "f8c5", "e1g1")
    lines[-1]["lm"] = spelled
    last = read(reader, HEAD, *lines)[-1]
    assert isinstance(last, GameState)
    assert last.snapshot.moves[-1] == "e1g1"


def test_castling_in_chess960_is_king_takes_rook() -> None:
    fen = "4k3/8/8/8/8/8/8/1RK4R w BH - 0 1"
    reader = SpectatorReader(GameInfo("g1", Player(), Player(), variant="chess960", start_fen=fen), lambda: 0)
    reader.opened()
    last = read(reader, HEAD, *positions("c1h1", fen=fen, chess960=True))[-1]
    assert isinstance(last, GameState)
    assert last.snapshot.moves[-1] == "c1h1"


def test_positions_of_two_fields_and_games_without_clocks(reader: SpectatorReader) -> None:
    lines = [{"fen": " ".join(line["fen"].split()[:2]), "lm": line.get("lm")} for line in positions("e2e4", "e7e5")]
    last = read(reader, HEAD, *lines)[-1]
    assert isinstance(last, GameState)
    assert len(last.snapshot.moves) == 2
    assert (last.snapshot.clocks_ms, last.snapshot.white_ms) == (None, None)


def test_a_mating_move_comes_with_its_status(reader: SpectatorReader) -> None:
    messages = read(reader, HEAD, *positions("f2f3", "e7e5", "g2g4", "d8h4"), over("mate", winner="black"))
    assert plies(messages) == [1, 2, 3, 4]
    assert isinstance(messages[-1], GameState)
    assert messages[-1].snapshot.status == "mate"


def test_no_increment_is_counted_for_a_mating_move(reader: SpectatorReader) -> None:
    ledger = Ledger(
        Setup("g1", named("anchor"), "spectator", 500, time_control=INFO.time_control, free_first_moves=True)
    )
    lines = positions("f2f3", "e7e5", "g2g4", "d8h4")
    for line, (white_s, black_s) in zip(lines, [(60, 60), (60, 60), (60, 60), (58, 60), (58, 50)], strict=True):
        line.update(wc=white_s, bc=black_s)
    for message in read(reader, HEAD, *lines, over("mate", winner="black")):
        assert isinstance(message, GameOpened | GameState)
        for event in diff(ledger, message.snapshot):
            ledger.apply(event)
    assert [row.think_ms for row in ledger.rows] == [0, 0, 4_000, 10_000]


def test_a_game_that_was_over_before_needs_no_last_line(reader: SpectatorReader) -> None:
    assert plies(read(reader, over("resign", winner="white"), *positions("e2e4"))) == [1]
    end = list(reader.ended())
    assert isinstance(end[0], GameState)
    assert (end[0].snapshot.status, end[0].snapshot.winner) == ("resign", chess.WHITE)


def test_other_variants_are_told_from_beginning_to_end_only() -> None:
    reader = SpectatorReader(GameInfo("g1", Player(), Player(), variant="antichess"), lambda: 0)
    reader.opened()
    messages = read(reader, HEAD, *positions("e2e4"), over("variantEnd", winner="white"))
    assert [type(message) for message in messages] == [GameOpened, GameState]


def test_the_head_of_an_export() -> None:
    export = {
        "id": "g1",
        "variant": "chess960",
        "rated": True,
        "speed": "bullet",
        "players": {
            "white": {"user": {"id": "kiri", "name": "Kiri", "title": "GM"}, "rating": 2700},
            "black": {"aiLevel": 4},
        },
        "initialFen": "4k3/8/8/8/8/8/8/1RK4R w BH - 0 1",
        "clock": {"initial": 60, "increment": 1, "totalTime": 100},
        "tournament": "winter26",
    }
    assert parse_watched(export, "https://lichess.org") == GameInfo(
        "g1",
        Player("kiri", "Kiri", "GM", 2700),
        Player(name="Stockfish level 4", title="BOT"),
        variant="chess960",
        rated=True,
        speed="bullet",
        time_control=TimeControl(60_000, 1_000),
        start_fen="4k3/8/8/8/8/8/8/1RK4R w BH - 0 1",
        tournament="winter26",
        url="https://lichess.org/g1",
    )


async def test_a_watched_game_over_lost_connections(script: "Script", connect: "Connect", take: "Take") -> None:
    lines = positions("e2e4", "e7e5", "g1f3", "b8c6")
    script.on(EXPORT, script.says(502, "<html>"), script.says(200, {**HEAD, "clock": {"initial": 60, "increment": 2}}))
    script.on(
        STREAM,
        script.says(429, {"error": "Please only run 8 request(s) at a time"}, Retry_After="0"),
        script.streams(HEAD, *lines[:3], lines[4], 5.0),
        script.streams(HEAD, *lines[:4], b"junk\n", 0.02, script.RESET),
        script.streams(HEAD, *lines, script.SILENCE),
        script.streams(HEAD, *lines, over("draw")),
    )
    messages = await take(connect(script.url, token="").spectate("g1"), patience_s=5)
    assert plies(messages) == [1, 2, 3, 4, 4]
    assert messages[-1].snapshot.status == "draw"
    opened = [message for message in messages if isinstance(message, GameOpened)]
    assert {message.info.time_control for message in opened} == {TimeControl(60_000, 2_000)}


async def test_a_game_that_does_not_exist(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on(EXPORT, script.says(404, {"error": "No such game"}))
    with pytest.raises(Refused, match="No such game"):
        await take(connect(script.url).spectate("g1"))


async def test_tv_turns_from_game_to_game(script: "Script", connect: "Connect", take: "Take") -> None:
    def featured(game_id: str) -> dict[str, Any]:
        return {"t": "featured", "d": {"id": game_id}}

    fen = {"t": "fen", "d": {"fen": chess.STARTING_FEN, "wc": 60, "bc": 60}}
    script.on(
        "GET /api/tv/ultraBullet/feed",
        script.streams(featured("g1"), fen, 0.02, script.RESET),
        script.streams(featured("g1"), fen, b"\n", featured("g2"), fen, 5.0),
    )
    said = await take(connect(script.url).tv_games("ultraBullet"), 5)
    assert [type(message).__name__ for message in said if not isinstance(message, str)] == [
        *("Connected", "Disconnected", "Connected")
    ]
    assert [message for message in said if isinstance(message, str)] == ["g1", "g2"]


async def test_what_somebody_plays(script: "Script", connect: "Connect", take: "Take") -> None:
    def status(**more: object) -> Any:
        return script.says(200, [{"id": "quill", "name": "Quill", **more}])

    first, second = status(playing=True, playingId="g1"), status(playing=True, playingId="g2")
    limit = script.says(429, "<html>")
    script.on("GET /api/users/status", status(), first, first, script.says(502), limit, status(), second)
    said = await take(connect(script.url, token="").user_games("Quill"), 5)
    assert [message for message in said if isinstance(message, str)] == ["g1", "g2"]
    lost = [message for message in said if isinstance(message, Disconnected)]
    assert len(lost) == 1 and "502" in lost[0].reason
    asked = [asked for asked in script.asked if asked.path.startswith("/api/users/status")]
    assert asked[0].path == "/api/users/status?ids=Quill&withGameIds=true"
    assert asked[5].at - asked[4].at >= 0.3


async def test_somebody_who_does_not_exist(script: "Script", connect: "Connect", take: "Take") -> None:
    script.on("GET /api/users/status", script.says(200, []))
    with pytest.raises(Refused, match="no user Nobody"):
        await take(connect(script.url).user_games("Nobody"), 1)


def reported(*clocks_s: tuple[int, int]) -> list[dict[str, Any]]:
    lines = positions("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6")
    return [{**line, "wc": white, "bc": black} for line, (white, black) in zip(lines, clocks_s, strict=True)]


def test_a_clock_that_falls_while_its_side_is_not_on_move_is_an_anomaly_and_nobodys_time(
    reader: SpectatorReader,
) -> None:
    """The two clocks change places in the line of ply 4."""
    good = [(60, 60), (60, 60), (60, 60), (57, 60), (57, 51), (50, 51), (50, 45)]
    setup = Setup("g1", named("anchor"), "spectator", 500, time_control=TimeControl(60_000, 0), free_first_moves=True)
    ledger = Ledger(setup)
    swapped = [(white, black) if at != 4 else (black, white) for at, (white, black) in enumerate(good)]
    for message in read(reader, HEAD, *reported(*swapped)):
        assert isinstance(message, GameOpened | GameState)
        for event in diff(ledger, message.snapshot):
            ledger.apply(event)
    assert [(anomaly.kind, anomaly.ply) for anomaly in ledger.anomalies] == [("clock_fell", 4)]
    assert [row.think_ms for row in ledger.rows] == [0, 0, 3_000, None, 7_000, 15_000]
    assert ledger.left_ms == [45_000, 50_000]
    assert not ledger.certain


def test_clocks_in_their_places_are_no_anomaly(reader: SpectatorReader) -> None:
    messages = read(reader, HEAD, *reported((60, 60), (60, 60), (60, 60), (57, 60), (57, 51), (50, 51), (50, 45)))
    last = messages[-1]
    assert isinstance(last, GameState)
    assert last.snapshot.notes == ()
    assert (last.snapshot.white_ms, last.snapshot.black_ms) == (50_000, 45_000)
