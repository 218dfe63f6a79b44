"""Events as they come: from a running daemon's monitor, or from a journal's file."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

from bridge.cloudevents import from_cloudevent
from bridge.errors import BridgeError, UsageError
from bridge.event_types import GAME_RULES, GAME_STARTED
from bridge.interfaces import Entry

LOOK_AGAIN_S = 0.5
SILENCE_S = 45.0
"""A monitor keeps its lines alive more often than that."""


async def from_monitor(
    address: str, token: str | None, query: Sequence[tuple[str, str]], after: int | None = None
) -> AsyncGenerator[Entry]:
    """What `/events` sends, over lost connections and restarts without gaps; for ever.

    Raises BridgeError: nothing answers at the first try, or the request is refused.
    """
    import aiohttp

    from bridge.platforms.lichess.answers import system_cause

    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    timeout = aiohttp.ClientTimeout(total=None, connect=5.0, sock_read=SILENCE_S)
    known = False
    async with aiohttp.ClientSession(timeout=timeout, headers=headers, read_bufsize=1 << 22) as session:
        while True:
            resume = {} if after is None else {"Last-Event-ID": str(after)}
            try:
                where = f"{address}/events"
                async with session.get(where, params=query, headers=resume, allow_redirects=False) as response:
                    await _check(address, response)
                    known = True
                    async for line in response.content:
                        if line.startswith(b"data:"):
                            entry = from_cloudevent(json.loads(line[5:]))
                            after = entry.seq
                            yield entry
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
                if not known:
                    cause = system_cause(error) or "no answer"
                    raise BridgeError(
                        f"no daemon runs at {address} ({cause}); start it: kirichess-bridge run -c FILE"
                    ) from error
            # It was there: it is restarted, or the network is away. What is missed meanwhile is sent then.
            await asyncio.sleep(LOOK_AGAIN_S)


async def from_journal(file: Path, learn: Callable[[Entry], object], after: int | None = None) -> AsyncGenerator[Entry]:
    """What is stored in a journal from now on, or after a number; for ever. `learn` is told which games began before.

    Raises JournalError, UsageError.
    """
    from bridge.cli.console import complain
    from bridge.journal.reader import JournalReader

    with JournalReader(file, complain) as reader:
        seq = reader.last_seq() if after is None else after
        for entry in reader.entries(types=[GAME_STARTED, GAME_RULES]):
            if entry.seq <= seq:
                learn(entry)
        while True:
            for entry in reader.entries(after=seq):
                seq = entry.seq
                yield entry
            await asyncio.sleep(LOOK_AGAIN_S)


async def _check(address: str, response: object) -> None:
    import aiohttp

    assert isinstance(response, aiohttp.ClientResponse)
    if response.status in (401, 403):
        raise BridgeError(f"{address} wants its token: give the daemon's file with -c")
    if response.status == 400:
        raise UsageError(f"{address}: {(await response.json()).get('error')}")
    if response.status != 200 or response.content_type != "text/event-stream":
        raise BridgeError(f"what runs at {address} sends no events (status {response.status}); give --url or -c")
