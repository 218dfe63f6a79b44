"""What goes to the terminal: complaints, and rich consoles that are plain where nobody looks or wants colours."""

import os
from typing import IO, TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

PROGRAM = "kirichess-bridge"
_PLAIN_WIDTH = 10_000
"""Wide enough that nothing in a file or a pipe is wrapped or cut."""


def complain(message: str) -> None:
    """On stderr, each line of the message with the program's name before it; no control characters."""
    for line in message.splitlines() or [""]:
        shown = "".join(c if c.isprintable() else "?" for c in line)
        click.echo(f"{PROGRAM}: {shown}", err=True)


def console(file: IO[str]) -> "Console":
    """A rich console on a stream: as wide as the terminal, or plain and unwrapped text elsewhere.

    Where `is_lively` says no, nothing but text comes out: no colours, no weight, no cursor that moves.
    """
    from rich.console import Console

    lively = is_lively(file)
    width = None if file.isatty() else _PLAIN_WIDTH
    return Console(
        file=file, width=width, force_terminal=lively, no_color=not lively, markup=False, highlight=False, emoji=False
    )


def is_lively(file: IO[str]) -> bool:
    """Whether a stream may be coloured and redrawn: on a terminal that can, without NO_COLOR (https://no-color.org)."""
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("dumb", "unknown")
