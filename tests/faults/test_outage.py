"""The server is gone for a while: only the event stream looks for it, and the games come back in order of urgency."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import structlog
from aiohttp import web

from bridge import event_types
from bridge.daemon import Daemon
from bridge.errors import RateLimited, Refused, ServerError, Unreachable
from bridge.interfaces import Say
from bridge.platforms.lichess.outage import Follower, Outage, Probe
from bridge.platforms.lichess.platform import Lichess
from bridge.platforms.lichess.timings import Timings
from bridge.settings.models import Settings
from bridge.web import create_monitor

GAMES = 12
PACED = Timings(connect_s=1.0, reopen_s=0.05, backoff_s=(0.2, 0.8), release_s=0.05, move_retry_s=(0.05, 0.1))


class Wire:
    """A way to the arena that can be cut: while it is, every connection is counted and hung up on."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.cut = False
        self.refused = 0
        self.url = ""
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def start(self, host: str = "127.0.0.1") -> None:
        self._server = await asyncio.start_server(self._pass, host, 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.cut:
            self.refused += 1
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, far_writer}
        await asyncio.gather(self._copy(reader, far_writer), self._copy(far_reader, writer), return_exceptions=True)
        self._open -= {writer, far_writer}

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    def hang_up(self) -> None:
        """The outage begins."""
        self.cut = True
        for writer in tuple(self._open):
            writer.transport.abort()

    async def close(self) -> None:
        self.hang_up()
        assert self._server is not None
        self._server.close()
        await asyncio.sleep(0)


@pytest.fixture
async def wire(table: Any) -> Any:
    wire = Wire(int(table.arena.url.rsplit(":", 1)[1]))
    await wire.start()
    yield wire
    await table.kill()
    await wire.close()


async def run_through(table: Any, wire: Wire, **play: Any) -> None:
    """The daemon reaches the arena by the wire alone."""
    near, table.arena.hall.address = table.arena.hall.address, wire.url
    try:
        await table.run(timings=PACED, concurrency=20, **play)
    finally:
        table.arena.hall.address = near


async def health(table: Any) -> tuple[int, dict[str, Any]]:
    """As the monitor answers."""
    runner = web.AppRunner(create_monitor(table.daemon._journal, table.daemon.status), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        async with aiohttp.ClientSession() as session, session.get(f"http://{host}:{port}/healthz") as answer:
            return answer.status, await answer.json()
    finally:
        await runner.cleanup()


async def test_an_outage_with_twelve_games(table: Any, wire: Wire) -> None:
    """K: outage. One prober with growing pauses; then the streams one by one, owed moves and short clocks first."""
    await run_through(table, wire)
    games = [table.pair() for _ in range(GAMES)]
    for game in games:
        await table.play(game, 4)
    await table.until(lambda: sum(len(table.plies(game)) for game in games) == 4 * GAMES)
    with structlog.testing.capture_logs() as logs:
        wire.hang_up()
        await asyncio.sleep(0.1)
        for game in games[::2]:
            table.move(game, table.LINE[4])  # nobody reads it yet
        await asyncio.sleep(2.0)
        status, told = await health(table)
        tries = wire.refused
        wire.cut = False
        await table.until(lambda: all(game.plies == 6 for game in games[::2]), what="the owed moves")
        await table.until(lambda: table.listening)
    # 0.2, 0.4, 0.8 s, each less a jitter of up to a half; every game's stream may have tried once.
    assert tries <= GAMES + 10, tries
    assert status == 503
    (account,) = [stream for stream in told["streams"] if stream["name"] == "Kiri"]
    assert not account["alive"] and account["detail"]
    assert (await health(table))[0] == 200
    events = [entry["event"] for entry in logs]
    assert events.count("server_unreachable") == 1
    assert events.count("server_reachable_again") == 1
    for game in games:
        await table.play(game, 8)
        await table.resign(game)
        await table.check_undisturbed(game) if game is games[0] else None
    assert len(table.recorder.of(event_types.GAME_STARTED)) == GAMES
    assert table.engine.starts == GAMES


async def test_a_wire_that_is_cut_before_the_start_of_a_game_does_not_hold_it_up_after(table: Any, wire: Wire) -> None:
    await run_through(table, wire)
    wire.hang_up()
    game = table.pair()
    await asyncio.sleep(0.5)
    wire.cut = False
    await table.play(game, 4)


async def test_owed_moves_and_short_clocks_are_first(table: Any, wire: Wire) -> None:
    await run_through(table, wire)
    order: list[str] = []
    games = {name: table.pair() for name in ("rich", "poor", "waiting")}
    for game in games.values():
        await table.play(game, 4)
    owed = [games["rich"], games["poor"]]
    for game in owed:
        table.engine.delay_s = 30.0
        table.move(game, table.LINE[4])
    table.set_clock(games["poor"], 9_000)
    await table.until(lambda: table.engine.thinking == 2)
    await asyncio.sleep(0.2)
    wire.hang_up()
    before = len(table.requests)
    await asyncio.sleep(0.6)
    wire.cut = False
    names = {game.id: name for name, game in games.items()}

    def opened() -> bool:
        lines = [line.path for line in table.requests[before:] if "/game/stream/" in line.path and line.status == 200]
        order[:] = [names[path.rsplit("/", 1)[1]] for path in lines]
        return len(order) == 3

    await table.until(opened)
    assert order == ["poor", "rich", "waiting"]


async def test_an_owed_move_that_is_accepted_ends_the_outage(table: Any) -> None:
    """Everything answers 503 for a moment; our move is tried soon after it, and no stream waits for its own turn."""
    slow = replace(table.QUICK, backoff_s=(120.0, 120.0), move_retry_s=(0.3, 0.3))
    await table.run(timings=slow)
    game = table.pair(bot_is_white=True)
    await table.play(game, 4)
    table.engine.delay_s = 0.5
    for kind in ("event_stream", "move"):
        table.faults.next(kind, status=503, times=1)
    await table.until(lambda: table.engine.thinking == 1)
    for kind in ("event", "game"):
        table.faults.drop(kind)
    await table.play(game, 8)
    await table.until(lambda: table.listening)
    await table.resign(game)
    await table.check_undisturbed(game)


async def test_an_event_stream_that_alone_is_ill_is_told_once(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 2)
    with structlog.testing.capture_logs() as logs:
        table.faults.next("event_stream", status=503, times=30)
        table.faults.drop("event")
        for plies in range(4, 22, 2):
            await table.play(game, plies)
            await asyncio.sleep(0.1)
        await table.until(lambda: table.listening)
    events = [entry["event"] for entry in logs if entry["log_level"] != "debug"]
    assert (events.count("server_unreachable"), events.count("server_reachable_again")) == (1, 1), events


# -- the parts ---------------------------------------------------------------------------------------------------


async def test_streams_are_released_at_most_ten_a_second() -> None:
    outage = Outage("http://x", 0.1)
    loop = asyncio.get_running_loop()
    times: list[tuple[float, int]] = []

    async def wait(follower: Follower, left_ms: int) -> None:
        await follower.turn()
        times.append((loop.time(), left_ms))

    lefts = (5000, 1000, 3000, 4000, 2000)

    def owed(left_ms: int) -> Callable[[], tuple[bool, int]]:
        return lambda: (False, left_ms)

    followers = [Follower(outage, owed(left)) for left in lefts]
    async with asyncio.timeout(0.05):
        for follower in followers:
            await follower.turn()  # first openings are not held up
    with outage.probing():
        outage.opened()
        outage.lost(Unreachable("reset"))
        outage.lost(Unreachable("refused"))
        waits = [asyncio.create_task(wait(*each)) for each in zip(followers, lefts, strict=True)]
        await asyncio.sleep(0.1)
        assert not times
        outage.opened()
        await asyncio.gather(*waits)
    assert [left for _, left in times] == [1000, 2000, 3000, 4000, 5000]
    assert times[-1][0] - times[0][0] >= 0.39


async def test_an_event_stream_that_is_refused_or_told_to_wait_is_no_outage() -> None:
    outage = Outage("http://x", 0.1)
    probe = Probe(outage, 1.0)
    with outage.probing():
        probe.opened(1.0)
        probe.lost(None, 0.1)
        probe.lost(RateLimited("429", retry_after_s=60), 60)
        follower = Follower(outage)
        async with asyncio.timeout(0.5):
            await follower.turn()
            await follower.turn()
        outage.check("chat")


async def test_while_the_event_stream_alone_gets_5xx_a_game_s_stream_may_look_too() -> None:
    outage = Outage("http://x", 0.1)
    probe, follower = Probe(outage, 1.0), Follower(outage)
    await follower.turn()
    with outage.probing():
        probe.opened(1.0)
        for _ in range(2):
            probe.lost(ServerError("502"), 1000.0)
        waiting = asyncio.create_task(follower.turn())
        await asyncio.sleep(0.05)
        assert not waiting.done()
        probe.lost(ServerError("502"), 0.1)
        await asyncio.wait_for(waiting, 0.5)
        follower.opened(1.0)
        async with asyncio.timeout(0.5):
            await Follower(outage).turn()
            await follower.turn()


async def test_nobody_sleeps_on_when_an_outage_is_over() -> None:
    """A stream that has tried in vain, or a move that is owed, waits longer and longer: not beyond the outage's end."""
    outage = Outage("http://x", 0.01)
    probe, follower = Probe(outage, 1.0), Follower(outage)
    with outage.probing():
        for error in (Unreachable("refused"), ServerError("503")):
            probe.opened(1.0)
            probe.lost(None, 0.0)
            probe.lost(error, 1000.0)
            sleeping = asyncio.create_task(follower.rest(1000.0))
            await asyncio.sleep(0.05)
            assert not sleeping.done()
            probe.opened(1.0)
            await asyncio.wait_for(sleeping, 0.5)


@pytest.mark.parametrize("answer", [None, Refused("404", status=404), RateLimited("429", retry_after_s=60)])
async def test_whatever_is_answered_ends_an_outage_and_the_event_stream_looks_at_once(answer: Exception | None) -> None:
    outage = Outage("http://x", 0.01)
    probe = Probe(outage, 1.0)
    with outage.probing():
        probe.opened(1.0)
        probe.lost(None, 0.0)
        probe.lost(ServerError("503"), 1000.0)
        sleeping = asyncio.create_task(probe.rest(1000.0))
        with pytest.raises(Unreachable), outage.asking():
            raise Unreachable("refused")
        await asyncio.sleep(0.05)
        assert not sleeping.done()
        with contextlib.suppress(Refused, RateLimited), outage.asking():
            if answer:
                raise answer
        await asyncio.wait_for(sleeping, 0.5)
        probe.lost(ServerError("503"), 1000.0)  # it alone is ill: nobody waits for it, and it does not hurry again
        async with asyncio.timeout(0.5):
            await Follower(outage).turn()
        sleeping = asyncio.create_task(probe.rest(1000.0))
        outage.seen()
        await asyncio.sleep(0.05)
        assert not sleeping.done()
        sleeping.cancel()


async def test_an_event_stream_that_is_lost_again_and_again_holds_nobody_up() -> None:
    """Another reader takes it away as soon as it is open: the waits between its openings grow, and say nothing."""
    outage = Outage("http://x", 0.01)
    probe, follower = Probe(outage, 1.0), Follower(outage)
    await follower.turn()
    with outage.probing():
        for _ in range(3):
            probe.opened(1.0)
            probe.lost(None, 30.0)
        async with asyncio.timeout(1.5):
            await follower.turn()


async def test_an_account_whose_events_nobody_reads_waits_for_nothing() -> None:
    outage = Outage("http://x", 0.01)
    follower = Follower(outage)
    async with asyncio.timeout(0.5):
        for _ in range(3):
            await follower.turn()


async def test_chat_is_not_tried_in_an_outage(table: Any, wire: Wire) -> None:
    await run_through(table, wire)
    game = table.pair()
    await table.play(game, 2)
    ((_, lobby),) = table.daemon._lobbies
    wire.hang_up()
    await table.until(lambda: not lobby.online)
    await asyncio.sleep(0.5)
    before = wire.refused
    with pytest.raises(Unreachable, match="cannot be reached now"):
        await lobby.bot.platform.perform(Say(game.id, "hello"))
    assert wire.refused == before


# -- the account, and the way to it ------------------------------------------------------------------------------


async def test_a_token_that_is_revoked_is_one_clear_state_and_comes_back_by_itself(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.lobby._REFUSED_PAUSE_S", 0.3)
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    accounts = table.arena.hall.accounts
    revoked = accounts._ids_by_token.pop("tokenKiri")
    for kind in ("event", "game"):
        table.faults.drop(kind)
    with structlog.testing.capture_logs() as logs:
        await table.until(lambda: table.daemon.status().streams[0].alive is False)
        await asyncio.sleep(2.5)
        status, told = await health(table)
    assert status == 503
    assert len([entry for entry in logs if entry["event"] == "game_failed"]) == 1
    (account,) = [stream for stream in told["streams"] if stream["name"] == "Kiri"]
    assert "No such token" in account["detail"]
    assert "tokenKiri" not in str(told)
    assert len([entry for entry in logs if entry["event"] == "account_refused"]) == 1
    accounts._ids_by_token["tokenKiri"] = revoked
    await table.until(lambda: table.listening)
    await table.play(game, 8)
    assert (await health(table))[0] == 200
    await table.resign(game)
    await table.check_undisturbed(game)


async def test_an_account_that_is_closed_leaves_the_others_alone(
    table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """403 from now on for one of two accounts."""
    monkeypatch.setattr("bridge.lobby._REFUSED_PAUSE_S", 0.2)
    settings = {
        "accounts": [
            {"platform": "lichess", "url": table.arena.url, "token": f"token{name}", "play": table.settings()}
            for name in ("Kiri", "Robot")
        ],
        "engines": {"fake": {"kind": "random"}},
        "journal": {"url": f"sqlite:///{tmp_path}/two.db"},
    }
    table.daemon = Daemon(Settings.model_validate(settings), sinks=[table.recorder], timings=table.QUICK)
    work = asyncio.create_task(table.daemon.run())
    try:
        await table.until(lambda: {"kiri", "robot"} <= table.arena.hall.audience.events.keys())
        game = table.pair()
        await table.play(game, 4)
        closed = {"status": 403, "body": {"error": "This account is closed"}, "account": "robot"}
        table.faults.next("event_stream", times=1000, **closed)
        table.faults.drop("event", account="robot")
        await table.until(lambda: not table.daemon.status().healthy)
        await asyncio.sleep(0.5)
        streams = {stream.name: stream for stream in table.daemon.status().streams}
        assert "account is closed" in streams["Robot"].detail
        assert streams["Kiri"].alive
        await table.play(game, 8)
        assert not work.done()
        offline = table.recorder.of(event_types.ACCOUNT_OFFLINE)
        assert [entry.account for entry in offline] == ["Robot"]
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def test_names_that_cannot_be_resolved_for_a_while(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    near = table.arena.hall.address
    table.arena.hall.address = near.replace("127.0.0.1", "localhost")
    monkeypatch.setattr("aiohttp.TCPConnector._resolve_host", _without_memory(aiohttp.TCPConnector._resolve_host))
    await table.run()
    table.arena.hall.address = near
    game = table.pair()
    await table.play(game, 4)
    resolve = socket.getaddrinfo

    def gone(*args: Any, **more: Any) -> Any:
        if args[0] == "localhost":
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return resolve(*args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", gone)
    for connection in table.arena._runner.server.connections:
        connection.transport.abort()  # those that wait in the pool too
    await table.until(lambda: not table.daemon.status().healthy)
    await asyncio.sleep(0.5)
    assert "resolution" in table.daemon.status().streams[0].detail
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    await table.play(game, 8)
    await table.until(lambda: table.daemon.status().healthy)


def _without_memory(resolve_host: Any) -> Any:
    async def resolve(self: Any, *args: Any, **more: Any) -> Any:
        self.clear_dns_cache()
        return await resolve_host(self, *args, **more)

    return resolve


async def test_a_server_with_an_ipv6_address_alone(table: Any) -> None:
    wire = Wire(int(table.arena.url.rsplit(":", 1)[1]))
    try:
        await wire.start("::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    await run_through(table, wire)
    game = table.pair()
    await table.play(game, 6)
    await table.resign(game)
    await table.check_undisturbed(game)
    await table.kill()
    await wire.close()


async def test_liveness_needs_a_try_or_a_line_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.platforms.lichess.outage._SLACK_S", 0.1)
    platform = Lichess("http://127.0.0.1:9", "token")
    assert platform.alive
    outage = platform._outage
    with outage.probing():
        Probe(outage, 0.0).opened(0.1)
        assert platform.alive
        await asyncio.sleep(0.3)
        assert not platform.alive
        Probe(outage, 0.2).lost(Unreachable("refused"), 0.0)
        assert platform.alive
    assert platform.alive
    await platform.close()
