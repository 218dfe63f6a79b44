"""The daemon is killed with signal 9, over and over, in the middle of its games: nothing may be lost or told twice.

`python -m tests.restart.kills [--kills 200] [--games 6] [--seed 1] [--write]` runs it against an arena of its own and
prints a table (`--write`: into RESULTS.md beside this file). Exit status 1: something does not hold.
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import yaml
from aiohttp import web

from bridge import event_types
from bridge.arena import Arena, ArenaSettings
from bridge.arena.faults import Answer
from bridge.arena.streams import Fate, StreamName
from bridge.interfaces import Entry
from bridge.journal import SqlJournal
from tests.restart.opponents import ABORT_S, BOT, POOLS, TOKEN, Opponents
from tests.restart.proof import Findings, Receiver, prove

ROOT = Path(__file__).parents[2]
MOMENTS = {
    "while it starts": 12,
    "at any time": 34,
    "after some seconds": 8,
    "a move sent, not taken": 10,
    "a move sent and taken": 12,
    "a chat line sent": 6,
    "a game stream asked for": 6,
    "the event stream asked for": 4,
    "an abort, resignation or answer sent": 4,
    "an event posted": 6,
}
"""When it is killed, by weight."""
_REQUESTS = {
    "a move sent, not taken": ("move",),
    "a move sent and taken": ("move",),
    "a chat line sent": ("chat",),
    "a game stream asked for": ("game_stream",),
    "the event stream asked for": ("event_stream",),
    "an abort, resignation or answer sent": ("abort", "resign", "takeback", "draw"),
}
_PATIENCE_S = 4.0
"""For a moment that does not come."""


class Trigger:
    """The arena's seam for faults: kills the daemon when it asks for something."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process | None = None
        self._kinds: tuple[str, ...] = ()
        self._left = 0
        self._taken = True

    def arm(self, kinds: tuple[str, ...], nth: int, *, taken: bool) -> None:
        """At the nth such request; `taken`: it has its effect nevertheless."""
        self._kinds, self._left, self._taken = kinds, nth, taken

    def fire(self) -> None:
        """Kill it now."""
        self._kinds = ()
        if self.process is not None and self.process.returncode is None:
            self.process.kill()

    def before(self, kind: str, account: str, path: str) -> Answer | None:
        if account != BOT.lower() or kind not in self._kinds:
            return None
        self._left -= 1
        if self._left > 0:
            return None
        self.fire()
        return None if self._taken else Answer(0)

    def posted(self) -> None:
        """An event has come to the webhook, and is not answered yet."""
        self.before("webhook", BOT.lower(), "")

    def on_line(self, stream: StreamName) -> Fate:
        return Fate.PASS


class Run:
    """One daemon on one journal, killed and started again."""

    def __init__(self, arena: Arena, opponents: Opponents, trigger: Trigger, receiver: Receiver, folder: Path) -> None:
        self.arena = arena
        self.opponents = opponents
        self.receiver = receiver
        self.kills_ms: list[int] = []
        self.moments: Counter[str] = Counter()
        self._trigger = trigger
        self._folder = folder

    def write_config(self, hook: str) -> None:
        """The daemon's configuration file."""
        play = {"engine": "main", "pool": {"by_time_control": POOLS}, "concurrency": 20, "abort_time": ABORT_S}
        account = {"platform": "lichess", "url": self.arena.url, "token": TOKEN, "play": play}
        config = {
            "accounts": [account],
            "engines": {"main": {"kind": "random"}},
            "journal": {"url": "sqlite:///journal.db"},
            "webhooks": [{"url": hook}],
        }
        (self._folder / "config.yml").write_text(yaml.safe_dump(config))

    @property
    def journal(self) -> Path:
        return self._folder / "journal.db"

    @property
    def log(self) -> str:
        """What all daemons wrote to stderr."""
        return (self._folder / "log").read_text(errors="replace")

    async def start(self) -> asyncio.subprocess.Process:
        with (self._folder / "log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bridge.cli.main", "run", "-c", str(self._folder / "config.yml")),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        self._trigger.process = process
        return process

    async def kill_once(self, dice: random.Random) -> None:
        """Start it, let it come to some moment, kill it, and leave the games alone for a little while."""
        (moment,) = dice.choices(list(MOMENTS), list(MOMENTS.values()))
        process = await self.start()
        dying = asyncio.create_task(process.wait())
        if moment == "while it starts":
            await asyncio.wait({dying}, timeout=dice.uniform(0.0, 1.5))
        else:
            await self._await(moment, dice, dying)
        self._trigger.fire()
        status = await dying
        if status != -signal.SIGKILL:
            raise AssertionError(f"the daemon ended by itself, status {status}:\n{self.log[-4000:]}")
        self.moments[moment] += 1
        self.kills_ms.append(self.arena.hall.now_ms())
        self.opponents.cut()
        await asyncio.sleep(dice.uniform(0.0, 0.4))

    async def _await(self, moment: str, dice: random.Random, dying: "asyncio.Task[int]") -> None:
        nth = dice.randint(1, 6)
        if moment in _REQUESTS:
            self._trigger.arm(_REQUESTS[moment], 1 if "asked" in moment else nth, taken="not taken" not in moment)
        elif moment == "an event posted":
            self._trigger.arm(("webhook",), nth, taken=True)
        deadline = time.monotonic() + 20
        while not self.listening and not dying.done() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        spans = {"at any time": (0.0, 1.6), "after some seconds": (2.5, 5.5)}  # the bot speaks every two seconds
        await asyncio.wait({dying}, timeout=dice.uniform(*spans.get(moment, (_PATIENCE_S, _PATIENCE_S))))

    @property
    def listening(self) -> bool:
        return any(stream.name.kind == "event" for stream in self.arena.hall.audience.open)

    async def end(self) -> int:
        """Run once more, to the end of all games; the exit status after a drain."""
        self.opponents.paused = True
        process = await self.start()
        deadline = time.monotonic() + 60
        while not all(watch.opened_ms for watch in self.opponents.running()) and time.monotonic() < deadline:
            await asyncio.sleep(0.1)  # what is over before anybody looked was never seen
        await asyncio.sleep(3.0)
        self.opponents.finish()
        games = len(self.opponents.watches)
        while self.receiver.count(event_types.VERDICT_FINAL) < games and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        process.terminate()
        try:
            return await asyncio.wait_for(process.wait(), 20)
        finally:
            self._trigger.fire()
            await process.wait()

    async def prove(self) -> Findings:
        """What holds, and what does not."""
        async with SqlJournal(f"sqlite:///{self.journal}") as journal:
            entries: list[Entry] = []
            while page := await journal.read(after=entries[-1].seq if entries else 0):
                entries += page
        findings = prove(entries, self.receiver, self.opponents.watches, self.arena, self.kills_ms)
        verified = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bridge.cli.main", "journal", "verify", "--journal", str(self.journal)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        said = (await verified.communicate())[0].decode().strip()
        findings.figures["`journal verify`"] = said.splitlines()[-1] if said else ""
        if verified.returncode:
            findings.wrong.append(f"journal verify: {said}")
        if "Traceback" in self.log:
            findings.wrong.append("a traceback in the log")
        if TOKEN in self.log:
            findings.wrong.append("the token in the log")
        return findings


@asynccontextmanager
async def receiving(receiver: Receiver, trigger: Trigger) -> AsyncIterator[str]:
    """The webhook's receiver; its address."""

    async def take(request: web.Request) -> web.Response:
        receiver.take(request.headers["webhook-id"], await request.text())
        trigger.posted()
        return web.Response(status=204)

    app = web.Application()
    app.router.add_post("/hook", take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}/hook"
    finally:
        await runner.cleanup()


async def run(kills: int, *, seed: int, games: int, folder: Path, told: bool = False) -> tuple[Run, Findings]:
    """Kill a daemon so many times over its games, then let them end; what holds and what does not."""
    dice = random.Random(seed)
    trigger, receiver = Trigger(), Receiver()
    settings = ArenaSettings(seed=seed, event_streams_per_10_min=10**6, account_reads_per_5_min=10**6)
    opponents = Opponents(seed, games)
    async with (
        Arena(Opponents.accounts(), settings, faults=trigger, request_log=opponents.noted) as arena,
        receiving(receiver, trigger) as hook,
    ):
        work = Run(arena, opponents, trigger, receiver, folder)
        work.write_config(hook)
        playing = asyncio.create_task(opponents.play(arena))
        try:
            for number in range(kills):
                await work.kill_once(dice)
                if playing.done():
                    playing.result()
                if told and number % 10 == 9:
                    print(f"{number + 1} kills, {len(opponents.watches)} games", file=sys.stderr, flush=True)
            status = await work.end()
        finally:
            trigger.fire()
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
        findings = await work.prove()
        if status:
            findings.wrong.append(f"exit status {status} after the drain")
    return work, findings


def table(work: Run, findings: Findings, seed: int, took_s: float) -> str:
    """In Markdown."""
    moments = ", ".join(f"{count} {moment}" for moment, count in work.moments.items())
    rows = {"kills": f"{len(work.kills_ms)}: {moments}", **findings.figures, "wrong": len(findings.wrong)}
    lines = [f"| {name} | {value} |" for name, value in rows.items()]
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return "\n".join([f"{date}, seed {seed}, {took_s:.0f} s", "", "| what | figure |", "|---|---|", *lines])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--games", type=int, default=6, help="games at the same time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    parser.add_argument("--keep", type=Path, help="an empty folder for journal and log, to look at afterwards")
    chosen = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = chosen.keep or Path(folder)
        work, findings = asyncio.run(run(chosen.kills, seed=chosen.seed, games=chosen.games, folder=place, told=True))
    told = table(work, findings, chosen.seed, time.monotonic() - began)
    print(told, *findings.wrong, sep="\n")
    if chosen.write:
        command = f"`python -m tests.restart.kills --kills {chosen.kills} --games {chosen.games} --seed {chosen.seed}`"
        text = f"# Kills\n\nWritten by {command} `--write`; what each row means stands in `proof.py`.\n\n{told}\n"
        Path(__file__).with_name("RESULTS.md").write_text(text)
    return 1 if findings.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
