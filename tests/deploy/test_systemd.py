"""What systemd is told, over a real datagram socket: by the program as a service runs it, and by the parts."""

import asyncio
import os
import re
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge import systemd
from bridge.arena import Account, Arena

ROOT = Path(__file__).parents[2]


class Manager:
    """The receiving end, as systemd has it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)

    def heard(self) -> list[str]:
        """The lines that have come since the last look."""
        lines: list[str] = []
        try:
            while True:
                lines += self._socket.recv(65536).decode().splitlines()
        except BlockingIOError:
            return lines

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["file", "abstract"])
def manager(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is too long a path for a socket
        address = f"{folder}/notify" if request.param == "file" else f"@kirichess-test-{os.getpid()}"
        opened = Manager(address)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        yield opened
        opened.close()


def test_lines_reach_both_kinds_of_socket(manager: Manager) -> None:
    assert systemd.notify("READY=1", "STATUS=♞ two games")
    assert manager.heard() == ["READY=1", "STATUS=♞ two games"]


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert not systemd.notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    assert not systemd.notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", "vsock:2:1234")
    assert not systemd.notify("READY=1")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_half_of_what_the_watchdog_waits_for(
    variables: dict[str, str], expected: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert systemd.watchdog_s() == expected


async def test_no_sign_of_life_while_a_stream_is_stuck(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "100000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    lives, status = True, "one game"
    telling = asyncio.create_task(systemd.keep_told(lambda: status, lambda: lives))
    await asyncio.sleep(0.3)
    heard = manager.heard()
    assert heard.count("STATUS=one game") == 1
    assert 3 <= heard.count("WATCHDOG=1") <= 7
    lives, status = False, "stuck"
    await asyncio.sleep(0.3)
    assert set(manager.heard()[1:]) <= {"STATUS=stuck"}
    lives = True
    await asyncio.sleep(0.2)
    assert "WATCHDOG=1" in manager.heard()
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)


async def test_a_loop_that_is_stuck_gives_no_sign_of_life(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "100000")
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    telling = asyncio.create_task(systemd.keep_told(lambda: "", lambda: True))
    await asyncio.sleep(0.1)
    manager.heard()
    # Whatever does not await.
    deadline = asyncio.get_running_loop().time() + 0.3
    while asyncio.get_running_loop().time() < deadline:
        pass
    assert manager.heard() == []
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)


async def heard_within(manager: Manager, wanted: str, patience_s: float = 15.0) -> list[str]:
    lines: list[str] = []
    async with asyncio.timeout(patience_s):
        while not any(re.fullmatch(wanted, line) for line in lines):
            await asyncio.sleep(0.05)
            lines += manager.heard()
    return lines


async def test_the_program_as_a_service(manager: Manager, tmp_path: Path) -> None:
    """Ready once it plays, alive while it does, through an outage too, and stopping when told to."""
    file = tmp_path / "config.yml"
    accounts = [Account("Kiri", "tokKiri", title="BOT"), Account("Ann", "tokAnn")]
    variables = {**os.environ, "NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "400000", "PYTHONPATH": str(ROOT)}
    variables.pop("WATCHDOG_PID", None)
    async with Arena(accounts) as arena:
        file.write_text(
            f"accounts: [{{platform: lichess, url: '{arena.url}', token: tokKiri, play: {{engine: main}}}}]\n"
            f"engines: {{main: {{kind: random}}}}\njournal: {{url: 'sqlite:///{tmp_path}/journal.db'}}\n"
        )
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bridge.cli.main", "run", "-c", str(file)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=variables,
        )
        try:
            before = await heard_within(manager, "READY=1")
            assert "STOPPING=1" not in before
            await heard_within(manager, "WATCHDOG=1")
            arena.pair("Ann", "Kiri", 540)
            await heard_within(manager, "STATUS=running, games: 1.*")
            for stream in tuple(arena.hall.audience.open):
                stream.end()
            await heard_within(manager, "WATCHDOG=1")
            process.send_signal(signal.SIGTERM)
            await heard_within(manager, "STOPPING=1")
            await heard_within(manager, "STATUS=draining, games: 1.*")
            await heard_within(manager, "WATCHDOG=1")
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def test_the_unit_asks_for_what_the_program_tells() -> None:
    unit = (ROOT / "deploy/kirichess-bridge.service").read_text()
    assert "Type=notify\n" in unit
    assert re.search(r"(?m)^WatchdogSec=\d+$", unit)
    assert "AF_UNIX" in unit, "the socket to systemd"
