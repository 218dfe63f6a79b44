"""One gate per account: urgency, one request at a time, holds."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bridge.errors import DailyLimit, RateLimited, Unreachable
from bridge.platforms.lichess.gate import Gate, Lane


class Crowd:
    """Requests that pass a gate and stay until they are let go."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.inside: list[str] = []
        self._go: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def send(self, name: str, lane: Lane, kind: str = "", game: str = "") -> None:
        async def pass_through() -> None:
            async with self.gate.passage(lane, kind, game):
                self.inside.append(name)
                try:
                    await self._go[name].wait()
                finally:
                    self.inside.remove(name)

        self._go[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(pass_through())
        await asyncio.sleep(0)

    async def let_go(self, name: str) -> None:
        self._go[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)


@asynccontextmanager
async def crowd(gate: Gate) -> AsyncIterator[Crowd]:
    them = Crowd(gate)
    yield them
    for task in them.tasks.values():
        task.cancel()
    await asyncio.gather(*them.tasks.values(), return_exceptions=True)


async def test_moves_pass_one_a_game_and_eight_an_account() -> None:
    async with crowd(Gate()) as them:
        for n in range(10):
            await them.send(f"m{n}", Lane.MOVE, game=f"g{n}")
        assert them.inside == [f"m{n}" for n in range(8)]
        await them.let_go("m3")
        assert them.inside[-1] == "m8"
        await them.send("again", Lane.MOVE, game="g0")
        await them.let_go("m1")
        await them.let_go("m2")
        assert "again" not in them.inside
        await them.let_go("m0")
        assert "again" in them.inside


async def test_other_lanes_pass_one_at_a_time_and_never_wait_for_each_other() -> None:
    async with crowd(Gate()) as them:
        for lane in (Lane.CHAT, Lane.ACCEPT, Lane.CLAIM, Lane.MOVE):
            for n in range(2):
                await them.send(f"{lane.name}{n}", lane, game="g")
        assert them.inside == ["CHAT0", "ACCEPT0", "CLAIM0", "MOVE0"]
        await them.let_go("CLAIM0")
        assert them.inside[-1] == "CLAIM1"


async def test_chat_and_polling_wait_while_moves_wait() -> None:
    async with crowd(Gate(moves_at_once=1)) as them:
        await them.send("m0", Lane.MOVE, game="g0")
        await them.send("m1", Lane.MOVE, game="g1")
        await them.send("poll", Lane.POLL)
        await them.send("chat", Lane.CHAT)
        await them.send("resign", Lane.CLAIM)
        assert them.inside == ["m0", "resign"]
        await them.let_go("m0")
        assert them.inside == ["resign", "m1", "chat", "poll"]


async def test_a_move_of_a_game_that_moves_holds_nobody_up() -> None:
    async with crowd(Gate()) as them:
        await them.send("m0", Lane.MOVE, game="g0")
        await them.send("again", Lane.MOVE, game="g0")
        await them.send("other", Lane.MOVE, game="g1")
        await them.send("chat", Lane.CHAT)
        assert them.inside == ["m0", "other", "chat"]
        await them.let_go("m0")
        assert them.inside[-1] == "again"


async def test_hundreds_in_a_full_lane_are_not_looked_through_by_each_who_leaves() -> None:
    async def pass_one_after_the_other(crowded: int) -> float:
        async with crowd(Gate(moves_at_once=1)) as them:
            for n in range(crowded):
                await them.send(f"m{n}", Lane.MOVE, game=f"g{n}")
            begun_s = time.process_time()
            for n in range(100):
                await them.let_go(f"m{n}")
            return time.process_time() - begun_s

    few_s, many_s = await pass_one_after_the_other(110), await pass_one_after_the_other(3000)
    assert many_s < 5 * few_s


async def test_a_canceled_request_frees_its_place() -> None:
    async with crowd(Gate()) as them:
        await them.send("first", Lane.CHAT)
        await them.send("second", Lane.CHAT)
        await them.send("third", Lane.CHAT)
        them.tasks["second"].cancel()
        them.tasks["first"].cancel()
        await asyncio.sleep(0.01)
        assert them.inside == ["third"]


async def test_a_429_holds_its_kind_and_no_other() -> None:
    now = 100.0
    gate = Gate(60.0, clock=lambda: now)
    with pytest.raises(RateLimited):
        async with gate.passage(Lane.CHAT, "chat"):
            raise RateLimited("slow down", retry_after_s=None)
    now = 159.0
    with pytest.raises(RateLimited) as held:
        async with gate.passage(Lane.CHAT, "chat"):
            raise AssertionError("it was let through")
    assert held.value.retry_after_s == pytest.approx(1.0)
    async with gate.passage(Lane.ACCEPT, "accept"), gate.passage(Lane.MOVE, game_id="g"):
        pass
    now = 160.1
    async with gate.passage(Lane.CHAT, "chat"):
        pass


async def test_what_waits_when_its_kind_is_held_is_told() -> None:
    gate = Gate()
    async with crowd(gate) as them:
        await them.send("first", Lane.CHAT, "chat")
        await them.send("second", Lane.CHAT, "chat")
        gate.hold("chat", 5.0)
        await them.let_go("first")
        with pytest.raises(RateLimited):
            await them.tasks["second"]


async def test_other_errors_and_the_daily_limit_hold_nothing() -> None:
    gate = Gate()
    for error in (Unreachable("gone"), DailyLimit("100 games", retry_after_s=80_000, ours=True)):
        with pytest.raises(type(error)):
            async with gate.passage(Lane.ACCEPT, "accept"):
                raise error
        async with gate.passage(Lane.ACCEPT, "accept"):
            pass
