"""What systemd is told of the running program: ready, stopping, what it does, and that it is alive (sd_notify(3)).

Nothing here fails loudly: a program that plays must not end because its supervisor does not listen.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress

import structlog

log = structlog.get_logger("kirichess_systemd")

_STATUS_S = 10.0
"""How often the status line is told where no watchdog sets the pace."""


def notify(*lines: str) -> bool:
    """Tell systemd, one `NAME=value` a line; False where nobody wants to know, or it could not be told."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    # A socket in the abstract namespace is written with @ for its leading zero byte.
    place = "\0" + address[1:] if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(), place)
    except OSError as error:
        log.warning("systemd_not_told", cause=str(error))
        return False
    return True


def watchdog_s() -> float | None:
    """How often systemd wants a sign of life, half of what it waits for; None: it does not watch this process."""
    with suppress(ValueError):  # what is no number was not set by systemd
        waits_us = int(os.environ.get("WATCHDOG_USEC", "0"))
        if waits_us > 0 and int(os.environ.get("WATCHDOG_PID", os.getpid())) == os.getpid():
            return waits_us / 2_000_000
    return None


async def keep_told(status: Callable[[], str], alive: Callable[[], bool]) -> None:
    """For ever: the status line when it changes and, while `alive`, the watchdog's sign of life."""
    pace_s = watchdog_s()
    told, lived = "", True
    while True:
        said, lives = status(), alive()
        lines = [f"STATUS={said}"] if said != told else []
        if pace_s is not None and lives:
            lines.append("WATCHDOG=1")
        elif pace_s is not None and lived:
            log.error("no_sign_of_life", cause="a stream is stuck; systemd will start this program anew")
        if lines:
            notify(*lines)
        told, lived = said, lives
        await asyncio.sleep(min(_STATUS_S, pace_s or _STATUS_S))
