"""Installing, starting and ending the programs that are measured, each in a process group of its own."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.peers.peers import Peer

HERE = Path(__file__).parent


def install(peer: Peer, python: str | None, work: Path) -> str:
    """The interpreter to run the peer with: the given one, or that of a new environment."""
    if python is not None:
        return python
    subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    subprocess.run([work / "venv/bin/python", "-m", "pip", "install", "--quiet", *peer.requirements], check=True)
    return str(work / "venv/bin/python")


def commit_of(checkout: Path) -> str:
    """Hash and date of what is checked out."""
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%H %cs"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


async def start(interpreter: str, command: Sequence[str], copy: Path, work: Path) -> asyncio.subprocess.Process:
    """With nothing but loopback to connect to; what it prints goes to `work/output`."""
    environment = {"PYTHONPATH": str(HERE / "loopback_only"), "PEER_REFUSALS": str(work / "refusals")}
    with (work / "output").open("wb") as output:
        return await asyncio.create_subprocess_exec(
            interpreter,
            *command,
            cwd=copy,
            env={**os.environ, **environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def refused(work: Path) -> Counter[str]:
    """What it tried to reach beyond loopback: `host port` and how often."""
    refusals = work / "refusals"
    return Counter(refusals.read_text().splitlines()) if refusals.exists() else Counter()


async def stop(process: asyncio.subprocess.Process, patience_s: float = 5.0) -> None:
    """Its whole process group, which this script has made: first asked, then killed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):  # the next signal is stronger
            await asyncio.wait_for(process.wait(), patience_s)
    await process.wait()


def end_left(folder: Path) -> int:
    """Kill what a program has left behind, known by the folder it works in; answers how many there were."""
    left = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it is another user's, or ended meanwhile
            if (process / "cwd").readlink() == folder:
                os.kill(int(process.name), signal.SIGKILL)
                left += 1
    return left
