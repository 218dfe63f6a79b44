"""What goes to the terminal: complaints, and rich consoles that are plain where nobody looks."""

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
    """A rich console on a stream: as wide as the terminal, or plain and unwrapped text elsewhere; honours NO_COLOR."""
    from rich.console import Console

    width = None if file.isatty() else _PLAIN_WIDTH
    return Console(file=file, width=width, markup=False, highlight=False, emoji=False)
