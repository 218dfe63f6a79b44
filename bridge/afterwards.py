"""After the end no stream tells what is said: the players' chat is looked at a few times, for what waited for it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from bridge.errors import PlatformError
from bridge.interfaces import ChatLine

log = structlog.get_logger("kirichess_chat")

_PAUSES_S = (4.0, 8.0, 16.0)
"""Before each look: whoever asks does so soon, and a look is a request."""


async def listen_on(
    game_id: str, read: Callable[[str], Awaitable[Sequence[ChatLine]]], heard: Callable[[ChatLine], None]
) -> None:
    """Read what was said in a game that is over, the whole of it each time."""
    for pause_s in _PAUSES_S:
        await asyncio.sleep(pause_s)
        try:
            lines = await read(game_id)
        except PlatformError as error:
            # Chat may fail alone; the next look tells the same and more.
            log.warning("chat_not_read", game=game_id, cause=str(error))
            continue
        for line in lines:
            heard(line)
