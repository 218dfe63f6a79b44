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
    told, was_alive = "", True
    while "NOTIFY_SOCKET" in os.environ:
        lines = [] if told == status() else [f"STATUS={status()}"]
        if alive():
            lines += ["WATCHDOG=1"] if pace_s is not None else []
        elif was_alive and pace_s is not None:
            log.error("no_sign_of_life", cause="a stream of the daemon is stuck; systemd will start it anew")
        told, was_alive = status(), alive()
        if lines:
            notify(*lines)
        await asyncio.sleep(_STATUS_S if pace_s is None else min(pace_s, _STATUS_S))
