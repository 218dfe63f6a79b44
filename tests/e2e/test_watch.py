"""Games of other people, watched live on an arena that replays them: judged as their file is, and never disturbed."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bridge import event_types
from bridge.arena import Account, Arena, Recording, RequestLine, read_recordings, referee
from bridge.records.game import Game
from bridge.records.reader import read_games
from bridge.records.verdict_json import verdict_object
from bridge.rules.pools import Ruleset, named, parse_dials

FILE = Path(__file__).parents[1] / "data" / "watched_games.pgn"
RECORDINGS = {recording.game_id: recording for recording in read_recordings(FILE)}
GAMES = {game.game_id: game for game in read_games(FILE) if isinstance(game, Game)}
POOLS = {
    "wToll001": "winder",
    "wTime002": "anchor",
    "wDraw003": "anchor",
    "wMate004": "fulcrum",
    "wBers005": "eclipse",
    "wGift006": "winder",
    "wNine007": "mainspring",
    "wBurn008": "ratchet",
}
COMPARED = ("result", "reason", "flag", "ended_at_ply", "white_ms", "black_ms")


@asynccontextmanager
async def replaying(
    recordings: Sequence[Recording], speed: float = 500, accounts: Sequence[Account] = ()
) -> AsyncIterator[tuple[Arena, list[RequestLine]]]:
    """Every game at once, each from the moment somebody looks at it."""
    log: list[RequestLine] = []
    async with Arena(accounts, request_log=log) as arena:
        replays = [
            asyncio.create_task(arena.replay([recording], speed=speed, wait_for_viewer=True))
            for recording in recordings
        ]
        await asyncio.sleep(0)
        yield arena, log
        for task in replays:
            task.cancel()
        await asyncio.gather(*replays, return_exceptions=True)


def config(
    arena: Arena, *watch: Mapping[str, object], journal: str = "sqlite://", token: str = ""
) -> dict[str, object]:
    account = {"platform": "lichess", "url": arena.url, **({"token": token} if token else {})}
    return {"accounts": [account], "watch": list(watch), "journal": {"url": journal}}


def compared(verdict: Mapping[str, Any]) -> dict[str, Any]:
    return {name: verdict[name] for name in COMPARED}


def from_file(game_id: str, rules: Ruleset) -> dict[str, Any]:
    return compared(verdict_object(GAMES[game_id].judge(rules)))


async def done(work: "asyncio.Task[None]", timeout_s: float = 30) -> None:
    async with asyncio.timeout(timeout_s):
        await asyncio.shield(work)


# -- verdicts ----------------------------------------------------------------------------------------------------


async def test_games_replayed_live_are_judged_as_their_file_is(run_bridge: Any) -> None:
    async with replaying([RECORDINGS[game] for game in POOLS]) as (arena, log):
        watch = [{"game": game, "pool": pool} for game, pool in POOLS.items()]
        async with run_bridge(config(arena, *watch)) as bridge:
            await done(bridge.work)
    finals = {entry.subject: entry.data["verdict"] for entry in bridge.recorder.of(event_types.VERDICT_FINAL)}
    assert {game: compared(finals[game]) for game in POOLS} == {
        game: from_file(game, named(pool)) for game, pool in POOLS.items()
    }
    assert {verdict["clock_source"] for verdict in finals.values()} == {"export"}
    assert not bridge.recorder.of(event_types.FLAG_PROVISIONAL), "a late stream flags nobody by the local clock"
    assert {line.method for line in log} == {"GET"}


async def test_the_events_of_a_game_come_in_order(run_bridge: Any) -> None:
    async with (
        replaying([RECORDINGS["wToll001"]]) as (arena, _),
        run_bridge(config(arena, {"game": "wToll001", "pool": "winder"})) as bridge,
    ):
        await done(bridge.work)
    entries = bridge.recorder.entries
    plies = [entry.data for entry in bridge.recorder.of(event_types.GAME_PLY)]
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert entries[0].type == event_types.GAME_STARTED
    assert (entries[0].data["clock_source"], entries[0].data["delayed"]) == ("spectator", True)
    assert [data["ply"] for data in plies] == list(range(1, 86))
    assert [data["counted"] for data in plies] == [True] * 51 + [False] * 34
    assert [entry.type for entry in entries[-2:]] == [event_types.GAME_FINISHED, event_types.VERDICT_FINAL]
    (provisional,) = bridge.recorder.of(event_types.VERDICT_PROVISIONAL)
    assert provisional.data["verdict"]["ended_at_ply"] == 51
    assert provisional.seq < entries[-2].seq, "the KiriChess end is told when it happens, not when the platform ends"


async def test_a_finer_record_that_says_otherwise_changes_the_verdict(run_bridge: Any, tmp_path: Path) -> None:
    """The spectator stream rounds 57.4 s to 57: by it White's flag falls by the toll of ply 3, by the export not."""
    file = tmp_path / "rounded.pgn"
    file.write_text(
        '[Site "https://lichess.org/wRound09"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n[Variant "Standard"]\n'
        '[TimeControl "60+0"]\n[Termination "Normal"]\n\n1. e4 { [%clk 0:01:00] } e5 { [%clk 0:01:00] } '
        "2. Nf3 { [%clk 0:00:57.4] } Nc6 { [%clk 0:00:59.5] } 1-0\n"
    )
    rules = {"base_s": 6, "economy": "steal"}
    async with (
        replaying(read_recordings(file)) as (arena, _),
        run_bridge(config(arena, {"game": "wRound09", "rules": rules})) as bridge,
    ):
        await done(bridge.work)
    (told,) = bridge.recorder.of(event_types.VERDICT_PROVISIONAL)
    (changed,) = bridge.recorder.of(event_types.VERDICT_CHANGED)
    (final,) = bridge.recorder.of(event_types.VERDICT_FINAL)
    assert told.data["verdict"]["flag"] == {"side": "white", "cause": "toll", "forced": True}
    assert not told.data["verdict"]["certain"]
    assert changed.data["previous"] == {
        "result": "0-1",
        "reason": "flag",
        "flag": {"side": "white", "cause": "toll", "forced": True},
        "ended_at_ply": 3,
    }
    assert "export" in changed.data["cause"]
    assert changed.seq < final.seq
    (game,) = (game for game in read_games(file) if isinstance(game, Game))
    assert compared(final.data["verdict"]) == compared(verdict_object(game.judge(parse_dials(rules))))
    assert (final.data["verdict"]["result"], final.data["verdict"]["white_ms"]) == ("1-0", 400)


async def test_a_game_that_was_over_before_gets_its_verdict(run_bridge: Any) -> None:
    async with Arena() as arena:
        await arena.replay([RECORDINGS["wMate004"]], speed=5000)
        async with run_bridge(config(arena, {"game": "wMate004", "pool": "anchor"})) as bridge:
            await done(bridge.work)
    (final,) = bridge.recorder.of(event_types.VERDICT_FINAL)
    assert compared(final.data["verdict"]) == from_file("wMate004", named("anchor"))
    assert len(bridge.recorder.of(event_types.GAME_PLY)) == 13


async def test_a_killed_daemon_takes_its_game_up_again_and_tells_nothing_twice(run_bridge: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    async with replaying([RECORDINGS["wToll001"]], speed=25) as (arena, _):
        entry = {"game": "wToll001", "pool": "winder"}
        async with run_bridge(config(arena, entry, journal=url), kill=True) as first:
            async with asyncio.timeout(60):
                while len(first.recorder.of(event_types.GAME_PLY)) < 60:
                    await asyncio.sleep(0.01)
        assert not first.recorder.of(event_types.VERDICT_FINAL)
        async with run_bridge(config(arena, entry, journal=url)) as second:
            await done(second.work)
        async with run_bridge(config(arena, entry, journal=url)) as third:
            await done(third.work)
    seen = first.recorder.entries + second.recorder.entries
    counted = Counter(entry.type for entry in {entry.id: entry for entry in seen}.values())
    assert counted[event_types.GAME_STARTED] == 1
    assert counted[event_types.GAME_PLY] == 85
    assert counted[event_types.GAME_TAKEBACK] == 0
    assert counted[event_types.VERDICT_PROVISIONAL] == 1
    assert counted[event_types.VERDICT_FINAL] == 1
    assert third.recorder.entries == []
    final = second.recorder.of(event_types.VERDICT_FINAL)[0].data["verdict"]
    assert compared(final) == from_file("wToll001", named("winder"))


# -- which games -------------------------------------------------------------------------------------------------


async def test_more_games_than_streams_wait_for_their_turn(run_bridge: Any) -> None:
    recordings = [replace(RECORDINGS["wMate004"], game_id=f"wMany{number:03}") for number in range(12)]
    async with replaying(recordings) as (arena, log):
        watch = [{"game": recording.game_id, "pool": "anchor"} for recording in recordings]
        async with run_bridge(config(arena, *watch)) as bridge:
            await done(bridge.work)
    assert len(bridge.recorder.of(event_types.VERDICT_FINAL)) == 12
    assert 429 not in {line.status for line in log}


async def test_a_user_is_followed_from_game_to_game_as_far_as_wanted(run_bridge: Any) -> None:
    """Ada plays 3+2 casual, 2+1 casual, 3+2 rated; only the first and the last control fit, only one is casual."""
    wanted, other = RECORDINGS["wDraw003"], RECORDINGS["wMate004"]
    games = [wanted, other, replace(wanted, game_id="wRated03", rated=True)]
    async with Arena([Account("Ada", "a"), Account("Bor", "b")]) as arena:
        entry = {"user": "ada", "pool": "anchor", "time_control": "3+2", "rated": False}
        async with run_bridge(config(arena, entry), poll_s=0.02) as bridge:
            await arena.replay(games, speed=150, pause_s=0.1)
            await bridge.recorder.final()
            await asyncio.sleep(0.2)
    assert {found.subject for found in bridge.recorder.entries if found.subject} == {"wDraw003"}
    (final,) = bridge.recorder.of(event_types.VERDICT_FINAL)
    assert compared(final.data["verdict"]) == from_file("wDraw003", named("anchor"))


async def test_a_tv_channel_is_followed_from_game_to_game(run_bridge: Any) -> None:
    games = [RECORDINGS["wDraw003"], RECORDINGS["wNine007"], RECORDINGS["wBurn008"]]
    async with Arena() as arena, run_bridge(config(arena, {"tv": "blitz", "pool": "anchor"})) as bridge:
        await asyncio.sleep(0.2)
        await arena.replay(games, speed=300, pause_s=0.2)
        finals = [await bridge.recorder.final() for _ in range(2)]
    assert [final["id"] for final in finals] == ["wDraw003", "wBurn008"], "chess960 is on a channel of its own"
    assert compared(finals[1]) == from_file("wBurn008", named("anchor"))


async def test_two_people_have_their_game_refereed_and_hear_nothing_of_it(run_bridge: Any) -> None:
    """White waits until the KiriChess clock is empty: the fall is shown at once, and confirmed by the move."""
    log: list[RequestLine] = []
    people = [Account("Ann", "tokenAnn"), Account("Ben", "tokenBen")]
    rules = {"base_s": 3, "economy": "steal"}
    async with (
        Arena(people, request_log=log) as arena,
        aiohttp.ClientSession(arena.url) as session,
        run_bridge(config(arena, {"account": "me", "rules": rules}, token="tokenAnn")) as bridge,
    ):
        game_id = arena.pair("Ann", "Ben", 300)
        await opened(bridge)
        for player, uci in (("Ann", "e2e4"), ("Ben", "e7e5"), ("Ann", "d2d3"), ("Ben", "d7d6")):
            await move(session, player, game_id, uci)
        async with asyncio.timeout(30):
            while not bridge.recorder.of(event_types.FLAG_PROVISIONAL):
                await asyncio.sleep(0.01)
        shown = bridge.recorder.of(event_types.FLAG_PROVISIONAL)[0]
        assert (shown.data["side"], shown.data["ply"]) == ("white", 4)
        assert not bridge.recorder.of(event_types.VERDICT_PROVISIONAL), "the clock's owner has not moved yet"
        await move(session, "Ann", game_id, "b1c3")
        await post(session, "Ben", f"/api/board/game/{game_id}/resign")
        final = await bridge.recorder.final()
    assert (final["result"], final["reason"], final["clock_source"]) == ("0-1", "flag", "stream")
    assert final["flag"] == {"side": "white", "cause": "thinking", "forced": True}
    assert final["ended_at_ply"] == 4
    assert not bridge.recorder.of(event_types.FLAG_WITHDRAWN)
    posted = [line.path for line in log if line.method == "POST"]
    assert len(posted) == 6, "five moves and the resignation of the two, nothing of ours"


async def test_a_game_too_fast_for_the_board_stream_is_read_as_spectators_do(run_bridge: Any) -> None:
    people = [Account("Ann", "tokenAnn"), Account("Ben", "tokenBen")]
    async with (
        Arena(people) as arena,
        run_bridge(config(arena, {"account": "me", "pool": "winder"}, token="tokenAnn")) as bridge,
    ):
        game_id = arena.pair("Ann", "Ben", 60)
        await opened(bridge)
        assert bridge.recorder.of(event_types.GAME_STARTED)[0].data["clock_source"] == "spectator"
        arena.hall.happen(arena.games[game_id], referee.abort(arena.games[game_id], arena.hall.now_ms()))
        final = await bridge.recorder.final()
    assert (final["reason"], final["result"]) == ("aborted", "*")


async def test_the_games_of_a_bot_that_plays_here_are_told_once_and_its_stream_is_left_alone(run_bridge: Any) -> None:
    people = [Account("Kiri", "tokenKiri", title="BOT"), Account("Ann", "tokenAnn")]
    log: list[RequestLine] = []
    async with Arena(people, request_log=log) as arena:
        settings = config(arena, {"account": "me", "pool": "winder"}, {"user": "Kiri", "pool": "winder"})
        account = {"token": "tokenKiri", "play": {"engine": "r", "pool": "winder", "greeting": False}}
        settings["accounts"] = [{"platform": "lichess", "url": arena.url, **account}]
        settings["engines"] = {"r": {"kind": "random"}}
        async with run_bridge(settings, poll_s=0.02) as bridge:
            game_id = arena.pair("Ann", "Kiri", 60)
            await opened(bridge)
            await asyncio.sleep(0.3)
            arena.hall.happen(arena.games[game_id], referee.abort(arena.games[game_id], arena.hall.now_ms()))
            await bridge.recorder.final()
            await asyncio.sleep(0.1)
    assert len(bridge.recorder.of(event_types.GAME_STARTED)) == len(bridge.recorder.of(event_types.VERDICT_FINAL)) == 1
    assert bridge.recorder.of(event_types.GAME_STARTED)[0].account == "Kiri"
    assert [line.path for line in log].count(f"/api/bot/game/stream/{game_id}") == 1


async def opened(bridge: Any) -> None:
    async with asyncio.timeout(30):
        while not bridge.recorder.of(event_types.GAME_STARTED):
            await asyncio.sleep(0.01)


async def move(session: aiohttp.ClientSession, player: str, game_id: str, uci: str) -> None:
    await post(session, player, f"/api/board/game/{game_id}/move/{uci}")


async def post(session: aiohttp.ClientSession, player: str, path: str) -> None:
    async with session.post(path, headers={"Authorization": f"Bearer token{player}"}) as response:
        assert response.status == 200, await response.text()


# -- the command -------------------------------------------------------------------------------------------------


async def test_json_is_all_that_stdout_holds(run_command: Any) -> None:
    async with replaying([RECORDINGS["wMate004"]]) as (arena, _):
        status, out, err = await run_command("watch", f"{arena.url}/wMate004/black", "--pool", "anchor", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert status == 0, err
    assert [event["specversion"] for event in events] == ["1.0"] * len(events)
    assert events[-1]["type"] == event_types.VERDICT_FINAL
    assert compared(events[-1]["data"]["verdict"]) == from_file("wMate004", named("anchor"))


async def test_what_does_not_exist_is_one_line_and_fails(run_command: Any) -> None:
    async with Arena() as arena:
        lines = {
            "game:zzzzzzzz": "there is no game zzzzzzzz",
            "user:nobody": "knows no user nobody",
            "tv:nonsense": "has no TV channel nonsense",
        }
        commands = [run_command("watch", target, "--pool", "anchor", "--url", arena.url) for target in lines]
        for line, (status, out, err) in zip(lines.values(), await asyncio.gather(*commands), strict=True):
            assert (status, out, len(err.splitlines())) == (1, "", 1)
            assert line in err
        url = arena.url
    status, out, err = await run_command("watch", "game:zzzzzzzz", "--pool", "anchor", "--url", url)
    assert (status, out) == (1, "")
    assert err == (
        f"kirichess-bridge: {url} does not answer; is the address right? (GET /api/users/status: connection refused)\n"
    )


async def test_one_target_that_does_not_exist_leaves_the_others_alone(run_command: Any) -> None:
    async with replaying([RECORDINGS["wMate004"]]) as (arena, _):
        targets = ("game:zzzzzzzz", "game:wMate004")
        status, out, err = await run_command("watch", *targets, "--pool", "anchor", "--url", arena.url)
    assert status == 1
    assert "wMate004 final verdict: 1-0 · checkmate at ply 13" in out
    assert err.splitlines()[-1] == "kirichess-bridge: 1 of 2 could not be followed to the end"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("game:zzzzzzzz",), "--pool"),
        (("game:short", "--pool", "anchor"), "eight letters and digits"),
        (("chess", "--pool", "anchor"), "game:ID, user:NAME, tv:CHANNEL"),
        (("game:zzzzzzzz", "--pool", "ankor"), "did you mean 'anchor'"),
        (("http://a.b/zzzzzzzz", "http://c.d/zzzzzzzz", "--pool", "anchor"), "one server at a time"),
    ],
)
async def test_wrong_usage_is_one_line(arguments: tuple[str, ...], line: str, run_command: Any) -> None:
    status, out, err = await run_command("watch", *arguments)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert line in err
