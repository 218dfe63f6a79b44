"""What we say in one game, within the chat limits: one line per 2 s, 12 a game, never a line twice running.

Chat may fail alone: nothing here is ever waited for by a move.
"""

import asyncio
from collections import deque

import structlog

from bridge import event_types
from bridge.decisions.chat_lines import INTERVAL_MS, LINES_A_GAME, MAX_CHARACTERS, RESERVED_LINES, without_links
from bridge.errors import JournalError, PlatformError
from bridge.interfaces import Draft, Journal, Platform, Say

log = structlog.get_logger("kirichess_chat")

GOODBYE_S = 30.0
"""For all lines that a game may have, each in its turn; a slot is free long before."""


class Voice:
    """One game's chat. `muted` games (only watched, rated, in tournaments) never hear us."""

    def __init__(self, platform: Platform, journal: Journal, account: str, game_id: str, *, muted: bool) -> None:
        self._platform = platform
        self._journal = journal
        self._account = account
        self._game_id = game_id
        self._muted = muted
        self._said = 0
        self._last = ""
        self._waiting: deque[tuple[str, str | None, str]] = deque()
        self._next_at_s = 0.0
        self._speaker: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Take up the count where a restart left it."""
        stored = await self._journal.read(subject=self._game_id, types=[event_types.CHAT_SENT])
        mine = [entry for entry in stored if entry.account == self._account]
        self._said = len(mine)
        if mine:
            self._last = str(mine[-1].data.get("text", ""))
            self._next_at_s = asyncio.get_running_loop().time() + INTERVAL_MS / 1000

    def say(self, text: str, *, once: str | None = None, important: bool = False, room: str = "player") -> bool:
        """Queue a line; False when the game's limit leaves no room for it.

        `once`: a name under which the line is said at most once, restarts included. `important` lines may use the
        lines kept back for the fall of a flag and the verdict.
        """
        text = without_links(text)[:MAX_CHARACTERS]
        previous = self._waiting[-1][0] if self._waiting else self._last
        if self._muted or not self._room_for(important=important) or text in ("", previous):
            return False
        self._waiting.append((text, once, room))
        if self._speaker is None or self._speaker.done():
            self._speaker = asyncio.create_task(self._speak())
        return True

    @property
    def can_speak(self) -> bool:
        """Whether an answer would be said: not in muted games, nor beyond the game's limit."""
        return not self._muted and self._room_for(important=False)

    def _room_for(self, *, important: bool) -> bool:
        most = LINES_A_GAME if important else LINES_A_GAME - RESERVED_LINES
        return self._said + len(self._waiting) < most

    async def finish(self, timeout_s: float) -> None:
        """Say what is waiting, for so long at most, and stop."""
        if self._speaker is not None and not self._speaker.done():
            await asyncio.wait({self._speaker}, timeout=timeout_s)
            self._speaker.cancel()
            await asyncio.wait({self._speaker})
        self._speaker = None
        self._waiting.clear()

    async def _speak(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await asyncio.sleep(max(0.0, self._next_at_s - loop.time()))
            text, once, room = self._waiting[0]
            if await self._send(text, once, room):
                self._next_at_s = loop.time() + INTERVAL_MS / 1000
            self._waiting.popleft()

    async def _send(self, text: str, once: str | None, room: str) -> bool:
        """Stored before it is sent, so that a crash between the two leaves a line unsaid and never said twice."""
        key = f"chat:{self._account}:{self._game_id}:{once}" if once else None
        draft = Draft(event_types.CHAT_SENT, self._game_id, {"text": text, "room": room}, self._account, key)
        try:
            if not await self._journal.append([draft]):
                return False
        except JournalError as error:
            # What cannot be stored might be said again after a restart, so it is not said at all.
            log.warning("chat_not_stored", game=self._game_id, cause=str(error))
            return False
        self._said += 1
        self._last = text
        try:
            await self._platform.perform(Say(self._game_id, text, room))
        except PlatformError as error:
            # A refused line is lost on purpose: saying it again could double it, and no move may wait for it.
            log.warning("chat_failed", game=self._game_id, cause=str(error))
        return True
