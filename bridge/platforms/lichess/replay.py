"""Lines that were kept, read again: the same messages as when they came."""

import json
from collections.abc import Iterable, Iterator

from bridge.interfaces import FinishedGame, GameInfo, GameMessage
from bridge.platforms.lichess.answers import Senseless
from bridge.platforms.lichess.archive import to_finished
from bridge.platforms.lichess.reopen import Reader
from bridge.platforms.lichess.shapes import WireError
from bridge.platforms.lichess.spectator import SpectatorReader
from bridge.platforms.lichess.streams import GameReader


def read_again(info: GameInfo, source: str, lines: Iterable[tuple[bytes, int]]) -> Iterator[GameMessage]:
    """Messages of a stream's kept lines, each with its time by the steady clock; an empty line opened a connection.

    `source` is `spectator`, else it was a stream of a player's own. `info`: variant and start position are used.
    """
    now = [0]

    def clock() -> int:
        return now[0]

    site = info.url.rpartition("/")[0]
    spectator = source == "spectator"
    reader: Reader[GameMessage] = SpectatorReader(info, clock) if spectator else GameReader(site, clock)
    senseless = False
    for line, now[0] in lines:
        if not line:
            senseless = False
            reader.opened()
        elif not senseless:
            try:
                yield from reader.read(line)
            except WireError:
                continue  # skipped then as now
            except Senseless:
                senseless = True  # the connection was given up here
    yield from reader.ended()


def finished_again(line: bytes, site: str) -> FinishedGame:
    """A finished game that was kept as source `export`. Raises RecordError, PlatformError."""
    return to_finished(json.loads(line), site)
