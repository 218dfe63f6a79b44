"""Where a server of ours listens, as a person writes it, and who can reach that."""

import ipaddress
import re


def split_listen(listen: str) -> tuple[str, int]:
    """`127.0.0.1:8080` or `[::1]:8080` → host and port; an empty host if it is neither."""
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^:\[\]\s]+)):(\d{1,5})", listen)
    return (match[1] or match[2], int(match[3])) if match else ("", 0)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; a name other than localhost is taken for a far one."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
