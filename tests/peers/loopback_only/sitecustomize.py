"""Put on a peer's PYTHONPATH: every connection but those to loopback is refused and noted.

An audit hook sees each connect before it happens and cannot be taken out again. What was refused goes to the file
named by PEER_REFUSALS, one `host port` a line.
"""

import os
import socket
import sys
from pathlib import Path

_LOOPBACK = ("127.0.0.1", "::1", "localhost", None, "")


def _note(host: object, port: object) -> None:
    with Path(os.environ["PEER_REFUSALS"]).open("a", encoding="utf-8") as refusals:
        refusals.write(f"{host} {port}\n")


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event == "import" and arguments[0] == "pycares":
        raise ImportError("it looks names up by sockets of its own, which no hook sees; Python's way is watched")
    if event == "socket.getaddrinfo" and arguments[0] not in _LOOPBACK:
        _note(arguments[0], arguments[1])
        raise socket.gaierror(socket.EAI_FAIL, "only loopback is allowed here")
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        if isinstance(address, tuple) and address[0] not in _LOOPBACK:
            _note(address[0], address[1])
            raise PermissionError("only loopback is allowed here")


sys.addaudithook(_refuse)
