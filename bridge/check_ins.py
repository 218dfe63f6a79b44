"""Games by correspondence that were left until the opponent has moved: looked at now and then, and opened again.

One request tells of all of them; which are opened, and whether they wait for a slot, `decisions.check_in` says.
"""

import asyncio
import contextlib
from collections.abc import Callable

import structlog

from bridge.bot_account import BotAccount
from bridge.decisions.check_in import Standing, due
from bridge.errors import PlatformError
from bridge.slots import Slots

log = structlog.get_logger("kirichess_lobby")

_AGAIN_S = 2.0
"""Between two looks, at least: what is told in a burst is looked at together."""
_MOST_LISTED = 50
"""Games that the platform lists, at most: then a game that is not in the list may still run (Lichess API §1.2)."""


class CheckIns:
    """The parked games of one account. `free`: how many slots there are; `wake` opens a game again."""

    def __init__(self, bot: BotAccount, slots: Slots, free: Callable[[], int], wake: Callable[[str], None]) -> None:
        self.terms = bot.style.days
        self._bot = bot
        self._slots = slots
        self._free = free
        self._wake = wake
        self._asked = asyncio.Event()
        self._waiting = False

    def ask(self) -> None:
        """Look soon: something was told of a game that is parked."""
        self._asked.set()

    def freed(self) -> None:
        """A slot is free: there may be games that wait for one."""
        if self._waiting:
            self.ask()

    async def run(self) -> None:
        """Look for ever."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), self.terms.check_in_ms / 1000)
            self._asked.clear()
            if self._slots.parked:
                await self._look()
                await asyncio.sleep(_AGAIN_S)

    async def _look(self) -> None:
        try:
            listed = await self._bot.platform.ongoing()
        except PlatformError as error:
            log.warning("check_in_failed", account=self._bot.name, cause=str(error))
            return
        except Exception:
            # One look's fault must not end all that follow.
            log.exception("check_in_crashed", account=self._bot.name)
            return
        running = {game.game_id: Standing(game.my_turn, game.left_ms) for game in listed}
        whole, urgent_ms = len(listed) < _MOST_LISTED, self.terms.urgent_ms
        # What has been left or opened meanwhile counts, not what was so before the request.
        found = due(tuple(self._slots.parked), running, whole=whole, free=self._free(), urgent_ms=urgent_ms)
        self._waiting = found.waiting
        for game_id in found.games:
            self._wake(game_id)
