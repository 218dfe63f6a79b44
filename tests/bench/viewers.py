"""What many viewers of one game cost beside one: processor time of the serving process per event.

    python tests/bench/viewers.py [--viewers 200] [--events 400]

The program's part (journal, monitor) runs in a process of its own, so that the readers' work is not counted. Three
games are played by turns, one that nobody views, one that one does, and one that many do, so that what else the machine
does weighs on all alike. Told is the median of what the process spends on an event: all of it, the journal's own
transaction included, as with a game that is played; and what the viewers add to that.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, create_monitor

_GAMES = ("nobody00", "onlyone1", "manymany")
_BETWEEN_S = 0.01
_CLOCKS = {"white_ms": 351_200, "black_ms": 340_700, "platform_white_ms": 352_000, "platform_black_ms": 341_000}
_EFFECTS = {"think_ms": 1_230, "capture": None, "toll_ms": 2_000, "fee_ms": 0, "chip_ms": 0, "guarded": False}
_PLY = {
    "side": "white",
    "uci": "g1f3",
    "san": "Nf3",
    "pool": "anchor",
    "counted": True,
    "increment_ms": 0,
    **_CLOCKS,
    **_EFFECTS,
    "fen": "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1",
    "event": {"event": "moved", "uci": "g1f3", "think_ms": 1_230, "reading_ms": 352_000, "credited_ms": 0, "at_ms": 5},
}


async def serve(events: int) -> None:
    """Say the port, wait for a line, write the events one by one, and say what those of each game cost."""
    with tempfile.TemporaryDirectory() as folder:
        async with SqlJournal(f"sqlite:///{Path(folder) / 'journal.db'}") as journal:
            await journal.append([Draft("kirichess.game.started", game, {"white": "Anna"}) for game in _GAMES])
            monitor = Monitor("127.0.0.1:0")
            await monitor.start(create_monitor(journal, lambda: StatusReport("0", 0, ready=True)))
            print(monitor.port, flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            spent_s: dict[str, list[float]] = {game: [] for game in _GAMES}
            for number in range(events):
                for game in _GAMES:
                    began_s = time.process_time()
                    await journal.append([Draft("kirichess.game.ply", game, {**_PLY, "ply": number + 1})])
                    await asyncio.sleep(_BETWEEN_S)
                    spent_s[game].append(time.process_time() - began_s)
            print(json.dumps([round(statistics.median(each) * 1e6) for each in spent_s.values()]), flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            await monitor.stop()


async def view(port: int, game: str, events: int, opened: asyncio.Semaphore) -> None:
    """One viewer: every event of the game, each once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /events?after={len(_GAMES)}&game={game} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    await reader.readuntil(b": KiriChess\r\n\r\n")
    opened.release()
    expected = len(_GAMES) + 1 + _GAMES.index(game)
    last = expected + (events - 1) * len(_GAMES)
    while expected <= last:
        line = await reader.readline()
        if line.startswith(b"id: "):
            assert int(line[4:]) == expected, "no gaps, no repeats"
            expected += len(_GAMES)
    writer.close()


async def measure(viewers: int, events: int) -> list[int]:
    """Microseconds of processor time per event without viewers, with one, and with so many."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, "--serve", "--events", str(events)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    port = int(await process.stdout.readline())
    opened = asyncio.Semaphore(0)
    games = [_GAMES[1], *[_GAMES[2]] * viewers]
    watching = [asyncio.create_task(view(port, game, events, opened)) for game in games]
    for _ in watching:
        await opened.acquire()
    process.stdin.write(b"go\n")
    told: list[int] = json.loads(await process.stdout.readline())
    await asyncio.gather(*watching)
    process.stdin.write(b"end\n")
    await process.communicate()
    return told


async def main() -> int:
    """Print the figures; 1 where the bound is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--events", type=int, default=400)
    parser.add_argument("--serve", action="store_true")
    given = parser.parse_args()
    if given.serve:
        await serve(given.events)
        return 0
    nobody, one, many = await measure(given.viewers, given.events)
    whole, added = many / one, (many - nobody) / (one - nobody)
    print(f"nobody {nobody} µs an event, one viewer {one} µs, {given.viewers} viewers {many} µs")
    print(f"{whole:.1f} times one viewer; of what viewers add {added:.1f} times")
    return 0 if max(whole, added) < 10 else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
