"""Recorded games played live, and the arena as a command."""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bridge.arena import read_recordings
from bridge.arena.exports import ExportOptions, export_json
from bridge.errors import RecordError
from bridge.records.export import read_export
from bridge.records.game import Game as RecordedGame
from bridge.records.reader import read_games
from bridge.rules.pools import named

if TYPE_CHECKING:
    from tests.arena.conftest import Connect, Open

FILE = Path(__file__).parent.parent / "data" / "arena_replay.pgn"
CLOCKS = [(60, 60), (60, 60), (60, 60), (58, 60), (58, 55), (52, 55), (52, 3), (50, 3)]


async def test_a_replay_waits_for_a_viewer_and_shows_the_recorded_clocks(open_arena: Open, connect: Connect) -> None:
    arena = await open_arena()
    recordings = read_recordings(FILE)
    playing = asyncio.create_task(arena.replay(recordings, speed=200, wait_for_viewer=True))
    await asyncio.sleep(0.1)
    assert arena.games["aReplay1"].plies == 0
    wanda = connect(arena, arena.account("Wanda").token)
    otto = connect(arena, arena.account("otto-42").token)
    started = await (await wanda.stream("/api/stream/event")).next()
    assert started and started["game"]["id"] == "aReplay1" and started["game"]["color"] == "white"
    spectator, board = await asyncio.gather(
        connect(arena).stream("/api/stream/game/aReplay1"), otto.stream("/api/board/game/stream/aReplay1")
    )
    assert (await wanda.post("/api/board/game/aReplay1/resign"))[0] == 400
    _, (status,) = await wanda.get("/api/users/status?ids=wanda&withGameIds=1")
    assert status["online"] and status["playingId"] == "aReplay1"
    assert (await wanda.get("/api/tv/channels"))[1]["bullet"]["gameId"] == "aReplay1"
    seen = await spectator.rest()
    assert [(line["wc"], line["bc"]) for line in seen[1:-1]] == CLOCKS
    assert (seen[-1]["status"]["name"], seen[-1]["winner"]) == ("outoftime", "white")
    states = await board.rest()
    *_, running, empty = [line["btime"] for line in states[1:]]
    # The side to move's clock runs already when the line is built, here 200 times as fast.
    assert 0 < running <= 2750 and empty == 0
    moved, ticking, *ended = [line["wtime"] for line in states[1:]][4:]
    assert moved == 52_400 and 50_000 <= ticking <= 52_400 and ended == [50_000] * 2
    _, body = await connect(arena).get("/game/export/aReplay1", Accept="application/json")
    assert body["clocks"] == [6000, 6000, 5800, 5500, 5240, 275, 5000, 0]
    await connect(arena).stream("/api/stream/game/aReplay2")
    assert await playing == ["aReplay1", "aReplay2"]
    assert '[Termination "Normal"]' in arena.pgn("aReplay2") and "2... Qh4# { [%clk 0:09:58] } 0-1" in arena.pgn(
        "aReplay2"
    )
    assert len(arena.games["aReplay2"].clocks_cs) == 4 and arena.games["aReplay2"].end_clock_cs is None


async def test_a_replay_waits_as_long_as_the_clocks_say(open_arena: Open) -> None:
    arena = await open_arena()
    loop = asyncio.get_running_loop()
    began = loop.time()
    await arena.replay(read_recordings(FILE)[:1], speed=100)
    # Thinking: 1 + 1 + 3 + 6 + 6.6 + 53.25 + 3.4 s, then 2.75 s until the flag falls.
    assert 0.76 < loop.time() - began < 30


def test_what_cannot_be_replayed_is_named(tmp_path: Path) -> None:
    for text, cause in (
        ('[Variant "Atomic"]\n\n1. e4 *\n', "game 1, line 1: unsupported variant 'Atomic'"),
        ("1. e4 e5 2. Ke3 *\n", "game 1, line 1: illegal move 'Ke3'"),
        ('{"moves": ["e2e5"]}', "game 1, line 1: illegal uci"),
        ("", "no game in it: it is empty"),
        ("\0\1\2", "no game in it: not a text file"),
    ):
        path = tmp_path / "broken.pgn"
        path.write_text(text)
        with pytest.raises(RecordError, match=cause):
            read_recordings(path)
    path.write_text('[Variant "Atomic"]\n\n1. e4 *\n\n[Variant "Standard"]\n\n1. e4 e5 *\n')
    told: list[RecordError] = []
    assert [len(recording.plies) for recording in read_recordings(path, told.append)] == [2]
    assert [str(error) for error in told] == [f"{path}: game 1, line 1: unsupported variant 'Atomic'"]
    path.write_text('[Variant "Atomic"]\n\n1. e4 *\n' * 2)
    with pytest.raises(RecordError, match="holds no game that can be played"):
        read_recordings(path, told.append)
    with pytest.raises(RecordError, match="cannot be read"):
        read_recordings(tmp_path / "absent.pgn")


OPEN = "1. e4 {[%clk 0:04:59]} e5 {[%clk 0:04:58]} 2. Nf3 {[%clk 0:04:50]}"


@pytest.mark.parametrize(
    ("result", "termination", "status"),
    [
        ("1-0", "Normal", "resign"),
        ("1-0", "anna won by resignation", "resign"),
        ("1-0", "Time forfeit", "outoftime"),
        ("1-0", "anna won on time", "outoftime"),
        ("1-0", "Abandoned", "noStart"),
        ("1-0", "anna won - game abandoned", "timeout"),
        ("*", "Abandoned", "unknownFinish"),
        ("1-0", "Rules infraction", "cheat"),
        ("1/2-1/2", "Game drawn by agreement", "draw"),
        ("1/2-1/2", "Game drawn by timeout vs insufficient material", "draw"),
        ("1/2-1/2", "Time forfeit", "outoftime"),
    ],
)
@pytest.mark.parametrize("control", ["300", "300+0"])
async def test_a_recorded_game_ends_live_as_in_its_file(
    open_arena: Open, tmp_path: Path, control: str, result: str, termination: str, status: str
) -> None:
    path = tmp_path / "game.pgn"
    tags = {"Result": result, "Termination": termination, "TimeControl": control}
    path.write_text("".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + f"\n{OPEN} {result}\n")
    arena = await open_arena()
    (game_id,) = await arena.replay(read_recordings(path), speed=100_000)
    game = arena.games[game_id]
    assert (game.status.key, game.clock is not None) == (status, True)
    (filed,) = read_games(path)
    live = read_export(export_json(game, ExportOptions())).game(place="")
    assert isinstance(filed, RecordedGame)
    for pool in ("winder", "mainspring"):
        assert live.judge(named(pool)).outcome == filed_as_lichess(filed).judge(named(pool)).outcome


def filed_as_lichess(game: RecordedGame) -> RecordedGame:
    """The arena's clocks are Lichess's: the first moves are free (rules §6)."""
    return replace(game, free_first_moves=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_command_prints_address_and_tokens_and_ends_on_a_signal(number: signal.Signals) -> None:
    command = [sys.executable, "-c", "from bridge.cli.arena import arena; arena()", "--replay", str(FILE)]
    process = await asyncio.create_subprocess_exec(
        *command, "--speed", "100", stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert process.stdout is not None
    head = [(await asyncio.wait_for(process.stdout.readline(), 60)).decode() for _ in range(7)]
    assert head[0].startswith("arena at http://127.0.0.1:") and "token lip_KiriBot" in head[1]
    assert head[5].endswith("/aReplay1 Wanda (lip_human_Wanda) - Otto-42 (lip_human_Otto_42)\n")
    process.send_signal(number)
    assert await asyncio.wait_for(process.wait(), 60) == 0
