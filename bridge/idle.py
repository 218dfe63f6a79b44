"""An opponent who does not make a first move: waited for, a minute longer where it asks for that, then aborted."""

import asyncio

import chess

from bridge.errands import Errands
from bridge.interfaces import Abort
from bridge.rules.ledger import Ledger

_GRACE_MS = 60_000


class Idle:
    """One game's patience with its opponent; `side` is ours."""

    def __init__(self, game_id: str, ledger: Ledger, side: chess.Color, errands: Errands, patience_ms: int) -> None:
        self._game_id = game_id
        self._ledger = ledger
        self._side = side
        self._errands = errands
        self._patience_ms = patience_ms
        self._asked = False
        self._grace_ms = 0

    async def watch(self, waited_ms: int) -> None:
        """Give the game back when the opponent does not begin; asked again for as long as that is so. `waited_ms`:
        before a restart.

        A game whose abort is refused keeps its slot: it runs on the platform too.
        """
        wait_ms = min(max(0, self._patience_ms - waited_ms), self._patience_ms)
        while True:
            await asyncio.sleep(wait_ms / 1000)
            if self._begun():
                return
            if self._grace_ms:
                wait_ms, self._grace_ms = self._grace_ms, 0
                continue
            if self._ledger.turn != self._side:
                self._errands.once("abort", Abort(self._game_id))
            wait_ms = self._patience_ms

    def wait(self) -> bool:
        """A minute more, once, as the opponent asked; False: no more, or there is nothing to wait for."""
        if self._asked or self._begun():
            return False
        self._asked, self._grace_ms = True, _GRACE_MS
        return True

    def _begun(self) -> bool:
        return self._ledger.platform is not None or len(self._ledger.moves) >= 2
