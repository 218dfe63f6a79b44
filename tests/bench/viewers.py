"""What many viewers of one game cost beside one: processor time of the serving process per event.

    python tests/bench/viewers.py [--viewers 200] [--events 400]

The program's part (journal, monitor) runs in a process of its own, so that the readers' work is not counted. The time
is all that the process spends on an event, the journal's own transaction included, as with a game that is played.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from bridge.interfaces import Draft
from bridge.journal import SqlJournal
from bridge.web import Monitor, StatusReport, create_monitor

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
    """Say the port, wait for a line, write the events one by one, and say what they cost."""
    with tempfile.TemporaryDirectory() as folder:
        async with SqlJournal(f"sqlite:///{Path(folder) / 'journal.db'}") as journal:
            await journal.append([Draft("kirichess.game.started", "game0001", {"white": "Anna", "black": "Bert"})])
            monitor = Monitor("127.0.0.1:0")
            await monitor.start(create_monitor(journal, lambda: StatusReport("0", 0, ready=True)))
            print(monitor.port, flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            began = time.process_time()
            for number in range(events):
                await journal.append([Draft("kirichess.game.ply", "game0001", {**_PLY, "ply": number + 1})])
                await asyncio.sleep(0.002)
            await asyncio.sleep(0.5)
            spent_s = time.process_time() - began
            print(json.dumps({"us_per_event": round(spent_s / events * 1e6)}), flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            await monitor.stop()


async def view(port: int, events: int) -> None:
    """One viewer: every event, each once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /events?after=1&game=game0001 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await reader.readuntil(b": KiriChess\r\n\r\n")
    opened.release()
    seen = 0
    while seen < events:
        line = await reader.readline()
        if line.startswith(b"id: "):
            seen += 1
            assert int(line[4:]) == seen + 1, "no gaps, no repeats"
    writer.close()


opened = asyncio.Semaphore(0)


async def measure(viewers: int, events: int) -> int:
    """Microseconds of processor time per event with so many viewers."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, "--serve", "--events", str(events)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    port = int(await process.stdout.readline())
    watching = [asyncio.create_task(view(port, events)) for _ in range(viewers)]
    for _ in watching:
        await opened.acquire()
    process.stdin.write(b"go\n")
    told = json.loads(await process.stdout.readline())
    await asyncio.gather(*watching)
    process.stdin.write(b"end\n")
    await process.communicate()
    return int(told["us_per_event"])


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
    none, one, many = [await measure(count, given.events) for count in (0, 1, given.viewers)]
    print(f"nobody {none} µs an event, one viewer {one} µs, {given.viewers} viewers {many} µs: {many / one:.1f} times")
    return 0 if many < 10 * one else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
