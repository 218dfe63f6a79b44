"""What is given on the command line beside words and files: finite numbers, and addresses of servers."""

import math
import re
from typing import TypeVar
from urllib.parse import urlsplit

import click

Numbers = TypeVar("Numbers", float | None, tuple[float, float] | None)


def finite(_: click.Context, __: click.Parameter, value: Numbers) -> Numbers:
    """An option's callback: no nan and no infinity, which pass through every range."""
    for number in value if isinstance(value, tuple) else (value,):
        if number is not None and not math.isfinite(number):
            raise click.BadParameter(f"{number} is no number to reckon with.")
    return value


def server_address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """An option's callback: the address of a server, without a slash at its end."""
    if value is None:
        return None
    try:
        server, path = split_address(value)
    except ValueError as error:
        raise click.BadParameter(f"{without_secrets(value)!r} {error}.") from error
    return f"{server}{path}"


def split_address(address: str) -> tuple[str, str]:
    """`https://host:port` and the path after it, without a slash at its end.

    Raises:
        ValueError: no address that can be asked, or one with a user and password in it; says what is wrong.
    """
    parts = urlsplit(address)
    try:
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("has a port that is no number from 0 to 65535") from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s", address):
        raise ValueError("must start with http:// or https:// and a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must hold no user and password")
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def without_secrets(address: str) -> str:
    """An address that may be shown: user and password are left out."""
    return re.sub(r"//.*@", "//…@", address, flags=re.DOTALL)
