"""What a check found, and the command that mends it."""

from collections.abc import Awaitable
from dataclasses import dataclass

from bridge.errors import BridgeError


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of one check. `cure` is a command or an address, "" where `text` says all there is to do."""

    subject: str
    text: str
    fine: bool = True
    cure: str = ""


def wrong(subject: str, text: str, cure: str = "") -> Finding:
    """Something that stands between the user and the first game."""
    return Finding(subject, text, fine=False, cure=cure)


async def told(subject: str, check: Awaitable[Finding], cure: str = "") -> Finding:
    """The finding of a check; an error that it raises is what is wrong, and `cure` mends it."""
    try:
        return await check
    except BridgeError as error:
        return wrong(subject, str(error), cure)
