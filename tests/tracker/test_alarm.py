"""An alarm rings once, when it was last set to, and holds nobody after it was closed."""

import asyncio
import gc
import weakref

from bridge.alarm import Alarm


async def test_it_rings_once_at_the_time_it_was_last_set_to() -> None:
    loop = asyncio.get_running_loop()
    rang: list[float] = []
    alarm, begun_s = Alarm(lambda: rang.append(loop.time() - begun_s)), loop.time()
    alarm.set(begun_s + 0.05)
    alarm.set(begun_s + 0.2)
    await asyncio.sleep(0.1)
    assert not rang
    await asyncio.sleep(0.3)
    assert len(rang) == 1 and rang[0] >= 0.2


async def test_it_can_be_set_to_an_earlier_time() -> None:
    loop, rang = asyncio.get_running_loop(), asyncio.Event()
    alarm = Alarm(rang.set)
    alarm.set(loop.time() + 3600)
    alarm.set(loop.time() + 0.01)
    async with asyncio.timeout(5):
        await rang.wait()


async def test_it_does_not_ring_while_it_is_off() -> None:
    loop, rang = asyncio.get_running_loop(), asyncio.Event()
    alarm = Alarm(rang.set)
    alarm.set(loop.time() + 0.01)
    alarm.off()
    await asyncio.sleep(0.1)
    assert not rang.is_set()
    alarm.set(loop.time() + 0.01)
    async with asyncio.timeout(5):
        await rang.wait()


async def test_it_lets_go_of_whoever_it_calls_when_it_is_closed() -> None:
    class Owner:
        def __init__(self) -> None:
            self.alarm = Alarm(self.wake)
            self.alarm.set(asyncio.get_running_loop().time() + 3600)

        def wake(self) -> None:
            raise AssertionError("it is closed")

    gc.disable()
    try:
        owner = Owner()
        gone = weakref.ref(owner)
        owner.alarm.close()
        del owner
        await asyncio.sleep(0)
        assert gone() is None
    finally:
        gc.enable()
