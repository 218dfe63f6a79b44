"""After the end no stream tells what is said: the players' chat is looked at a few times, for what waited for it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import structlog

from bridge.decisions.chat_commands import command_of
from bridge.errors import PlatformError
from bridge.interfaces import ChatLine, Player
from bridge.voice import GOODBYE_S, Voice

log = structlog.get_logger("kirichess_chat")

_PAUSES_S = (4.0, 8.0, 16.0)
"""Before each look: whoever asks does so soon, and a look is a request."""
_LOOK_S = 8.0
"""Then it is left out: moves go first, and where they never leave room for it, looks would pile up game by game."""


class Afterwards:
    """One game's chat once the game itself is let go of.

    `answers`: by the commands that are answered now; each is told once in a room, and not again what was `told`.
    """

    def __init__(
        self,
        game_id: str,
        voice: Voice,
        opponent: Player,
        answers: Mapping[str, str],
        told: Mapping[tuple[str, str], None],
    ) -> None:
        self._game_id = game_id
        self._voice = voice
        self._opponent = opponent
        self._answers = answers
        self._told = set(told)

    async def listen(self, read: Callable[[str], Awaitable[Sequence[ChatLine]]]) -> None:
        """Look a few times. `read`: what was said in the game, the whole of it each time."""
        try:
            for pause_s in _PAUSES_S:
                await asyncio.sleep(pause_s)
                await self._look(read)
            await self._voice.finish(GOODBYE_S)
        finally:
            await self._voice.finish(0)

    async def _look(self, read: Callable[[str], Awaitable[Sequence[ChatLine]]]) -> None:
        try:
            async with asyncio.timeout(_LOOK_S):
                lines = await read(self._game_id)
        except (PlatformError, TimeoutError) as error:
            # Chat may fail alone; the next look tells the same and more.
            tell = log.debug if isinstance(error, TimeoutError) else log.warning
            tell("chat_not_read", game=self._game_id, cause=str(error) or f"no turn for it within {_LOOK_S:g} s")
            return
        for line in lines:
            self._hear(line)

    def _hear(self, line: ChatLine) -> None:
        command, _ = command_of(line.text) or ("", "")
        asks = command in self._answers and (command, line.room) not in self._told
        if asks and self._opponent.says(line):
            self._told.add((command, line.room))
            self._voice.say(self._answers[command], room=line.room)
