"""What is asked of the platform beside the moves of a game: resignation, draw, takeback, abort, claim.

Nothing here is ever waited for by a move. Whether a request took effect the game's stream tells; a refusal changes
nothing in the game.
"""

import asyncio
import contextlib
from collections.abc import Callable

import structlog

from bridge.errors import PlatformError
from bridge.interfaces import Action, Platform
from bridge.tasks import Tasks

log = structlog.get_logger("kirichess_session")


class Errands:
    """One game's requests, by name: of each name one at a time."""

    def __init__(self, game_id: str, platform: Platform, tasks: Tasks) -> None:
        self._game_id = game_id
        self._platform = platform
        self._tasks = tasks
        self._under_way: dict[str, asyncio.Event] = {}

    def once(self, name: str, action: Action) -> None:
        """Send it, unless one of that name is under way."""
        self.while_wanted(name, action, lambda: False, every_s=0)

    def while_wanted(self, name: str, action: Action, wanted: Callable[[], bool], *, every_s: float) -> None:
        """Send it, and again every `every_s` for as long as it is `wanted`."""
        if name not in self._under_way:
            self._under_way[name] = asyncio.Event()
            self._tasks.spawn(self._run(name, action, wanted, every_s))

    def review(self, name: str) -> None:
        """What is wanted may have changed: what waits for its next try looks again now."""
        if name in self._under_way:
            self._under_way[name].set()

    async def _run(self, name: str, action: Action, wanted: Callable[[], bool], every_s: float) -> None:
        reviewed = self._under_way[name]
        try:
            await self._send(action)
            while wanted():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reviewed.wait(), every_s)
                reviewed.clear()
                if wanted():
                    await self._send(action)
        finally:
            del self._under_way[name]

    async def _send(self, action: Action) -> None:
        try:
            await self._platform.perform(action)
        except PlatformError as error:
            log.warning("action_failed", game=self._game_id, action=type(action).__name__, cause=str(error))
