"""What many ask for at once is made once: all viewers of a game fetch its page when it ends."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable

KEPT_S = 0.5
MOST_KEPT = 100


class Shared:
    """Results by what was asked for, for those who ask meanwhile or KEPT_S later. A key must name all that they depend
    on and that must not be old."""

    def __init__(self) -> None:
        self._made: dict[Hashable, asyncio.Task[bytes]] = {}

    async def get(self, key: Hashable, make: Callable[[], Coroutine[None, None, bytes]]) -> bytes:
        """What somebody else has had made, or what `make` gives. Raises what it raises."""
        task = self._made.get(key)
        if task is None:
            task = self._made[key] = asyncio.create_task(make())
            task.add_done_callback(lambda done: self._keep(key, done))
        # Whoever asked first may go away; the others wait for it still.
        return await asyncio.shield(task)

    def _keep(self, key: Hashable, done: asyncio.Task[bytes]) -> None:
        if done.cancelled() or done.exception() is not None or len(self._made) > MOST_KEPT:
            del self._made[key]
        else:
            asyncio.get_running_loop().call_later(KEPT_S, self._made.pop, key)
